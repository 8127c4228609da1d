"""A source file: its text, its tree, and what its comments ask to be left out."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

_IGNORE: Final = re.compile(r"#\s*trueline:\s*ignore(?:\[([^\]]*)\])?\s*(.*)")
_MAX_BYTES: Final = 8 << 20


@dataclass(slots=True, eq=False)
class SourceFile:
    """One file; where it could not be read or is no Python, ``trouble`` says why and the tree is empty."""

    path: Path
    shown: str
    text: str = ""
    tree: ast.Module = field(default_factory=lambda: ast.Module([], []))
    trouble: str | None = None
    # Line → codes that are not to be told there (none: no code at all), and the reason given.
    ignored: dict[int, tuple[tuple[str, ...], str]] = field(default_factory=dict)

    def leaves_out(self, line: int, code: str) -> bool:
        """Whether a comment in the statement of this line, or alone before it, asks not to be told of this code."""
        if not self.ignored:
            return False
        for number in range(line - 1, self._last(line) + 1):
            found = self.ignored.get(number)
            if found is None or (number == line - 1 and not self._is_comment(number)):
                continue
            codes = found[0]
            if not codes or code in codes or code.partition(".")[0] in codes:
                return True
        return False

    def _last(self, line: int) -> int:
        """Where the statement that begins on a line ends, those with statements of their own left out."""
        ends = [
            node.end_lineno or line
            for node in ast.walk(self.tree)
            if isinstance(node, ast.stmt) and node.lineno == line and not hasattr(node, "body")
        ]
        return max(ends, default=line)

    def _is_comment(self, number: int) -> bool:
        lines = self.text.splitlines()
        return 0 < number <= len(lines) and lines[number - 1].lstrip().startswith("#")


def read_source(path: Path, shown: str) -> SourceFile:
    """Read and parse a file; whatever is wrong with it is told, and nothing is raised."""
    source = SourceFile(path, shown)
    try:
        if path.stat().st_size > _MAX_BYTES:
            source.trouble = "too large"
            return source
        # PEP 263: a file may name its own encoding.
        with tokenize.open(path) as file:
            source.text = file.read()
        source.tree = ast.parse(source.text, filename=shown)
    except OSError as error:
        source.trouble = error.strerror or type(error).__name__
    except (SyntaxError, ValueError, UnicodeDecodeError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        source.trouble = f"{getattr(error, 'msg', None) or error}" + (f" (line {line})" if line else "")
    else:
        source.ignored = comments_of(source.text)
    return source


def comments_of(text: str) -> dict[int, tuple[tuple[str, ...], str]]:
    """What comments ask to be left out: line → codes (none: all of them) and the reason given."""
    if "trueline:" not in text:
        return {}
    found: dict[int, tuple[tuple[str, ...], str]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            match = _IGNORE.search(token.string) if token.type == tokenize.COMMENT else None
            if match is not None:
                codes = tuple(one.strip() for one in (match[1] or "").split(",") if one.strip())
                found[token.start[0]] = (codes, match[2].strip())
    except (tokenize.TokenError, IndentationError):
        pass
    return found
