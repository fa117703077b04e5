"""Source text by the positions that syntax trees give: lines as Python counts them, columns in bytes of UTF-8."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from functools import cached_property

from gatekeeper.records import dataclass

_END = re.compile(r"\r\n|\r|\n")


def readable(data: bytes | None) -> str | None:
    """The text of a module; None for one that is not UTF-8, or that says it is something else."""
    if data is None:
        return None
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        text = data.decode("utf-8")
    except (SyntaxError, UnicodeDecodeError, LookupError):
        return None
    if encoding not in ("utf-8", "utf-8-sig") and not text.isascii():
        return None
    # A mark at the start and form feeds move columns; neither stands in code that is worth the risk of a wrong splice.
    return None if text.startswith("\ufeff") or "\x0c" in text or "\x00" in text else text


def lines_of(text: str) -> list[str]:
    """Lines as the tokenizer counts them, without their ends."""
    return _END.split(text)


@dataclass(frozen=True)
class SourceText:
    """A text with positions."""

    text: str

    @cached_property
    def data(self) -> bytes:
        """The text in UTF-8, which all offsets count."""
        return self.text.encode("utf-8")

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(m.end() for m in re.finditer(rb"\r\n|\r|\n", self.data))]

    def offset(self, line: int, column: int) -> int:
        """Byte offset of a position."""
        return self._starts[line - 1] + column

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Byte offsets of a node. Raises `ValueError` for a node that has no position."""
        line, column = getattr(node, "lineno", None), getattr(node, "col_offset", None)
        end_line, end_column = getattr(node, "end_lineno", None), getattr(node, "end_col_offset", None)
        if line is None or column is None or end_line is None or end_column is None:
            raise ValueError("a node without a position")
        return self.offset(line, column), self.offset(end_line, end_column)

    def of(self, start: int, end: int) -> str:
        """The text between two offsets."""
        return self.data[start:end].decode("utf-8")

    def line_at(self, offset: int) -> int:
        """1-based line of an offset."""
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            if self._starts[middle] <= offset:
                low = middle
            else:
                high = middle
        return low + 1

    def line_span(self, line: int) -> tuple[int, int]:
        """Offsets of a whole line with its end."""
        start = self._starts[line - 1]
        end = self._starts[line] if line < len(self._starts) else len(self.data)
        return start, end
