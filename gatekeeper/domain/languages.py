"""What a file's name says about its language."""

from __future__ import annotations

SCRIPT_EXTENSIONS = (".js", ".cjs", ".mjs", ".jsx", ".ts", ".cts", ".mts", ".tsx")
"""JavaScript and TypeScript."""
