"""Files that steer coding agents: instructions, skills, prompts, and the agents' own settings."""

from __future__ import annotations

import re

_NAMES = re.compile(
    r"(?:agents?|claude|gemini|qwen|codex|copilot|cursor|warp|crush|jules|conventions|skill)(?:\.local|\.override)?\.md|"
    r"copilot-instructions\.md|.+\.instructions\.md|.+\.prompt\.md|.+\.chatmode\.md|.+\.agent\.md|\.cursorrules|\.windsurfrules|"
    r"\.clinerules(?:-.+)?|\.roorules(?:-.+)?|\.roomodes|\.goosehints|\.aider.*|\.?mcp\.json|mcp_config\.json|\.cursorignore|"
    r"\.rules|opencode\.jsonc?|\.mcp\.ya?ml|llms\.txt\.prompt|\.geminiignore|\.aiexclude|\.continuerules|claude_desktop_config\.json"
)
_FOLDERS = frozenset({
    ".claude", ".cursor", ".windsurf", ".clinerules", ".codex", ".gemini", ".roo", ".continue", ".amazonq", ".kiro", ".junie",
    ".trae", ".augment", ".opencode", ".goose", ".agents", ".agent", ".aider", ".claude-plugin", ".copilot", ".qwen", ".mcp",
})  # fmt: skip
_GITHUB = re.compile(r"(?:^|/)\.github/(?:instructions|prompts|chatmodes|agents|copilot)(?:/|$)")


def steers_agents(path: str) -> bool:
    """True where a coding agent takes orders or settings from this path, at any depth, in any case of letters."""
    low = path.casefold()
    parts = low.split("/")
    return (
        any(p in _FOLDERS for p in parts)
        or _NAMES.fullmatch(parts[-1]) is not None
        or _GITHUB.search(low) is not None
        or low.endswith((".vscode/mcp.json", ".zed/settings.json"))
    )
