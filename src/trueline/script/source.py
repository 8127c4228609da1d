"""A source file: its text, its tree, and what its comments ask to be left out."""

from __future__ import annotations

import ast
import codecs
import io
import os
import re
import tokenize
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trueline.model.budget import SYNTAX_MEMORY, Budget, OverBudget
from trueline.model.message import message
from trueline.model.regular_file import NotRegular, open_regular

_IGNORE: Final = re.compile(r"#\s*trueline:\s*ignore(?:\[([^\]]*)\])?\s*(.*)")
_MAX_BYTES: Final = 2 << 20
# What Python makes a node of; parsing and reading take so many bytes for each.
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_PER_TOKEN: Final = 800
# Encodings of text whose decoding takes more than linear time, or which are none.
_NO_SOURCE: Final = ("punycode", "idna", "undefined")


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
            comment = self.ignored.get(number)
            if comment is None or (number == line - 1 and not self._is_comment(number)):
                continue
            codes = comment[0]
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


def read_source(path: Path, shown: str, project: Budget | None = None) -> SourceFile:
    """Read and parse a file; whatever is wrong with it is told, and nothing is raised.

    ``project`` is what all files of a project may take together.
    """
    source = SourceFile(path, shown)
    try:
        data = content_of(path)
        text = _decoded(data)
        # No text has more tokens than characters: one that fits anyway is not counted.
        size = _PER_TOKEN * len(text)
        if project is not None or size > SYNTAX_MEMORY:
            size = _PER_TOKEN * sum(1 for _ in _TOKEN.finditer(text))
        Budget(path, len(data)).hold(max(0, size - SYNTAX_MEMORY))
        if project is not None:
            # Of most files little is read beyond the parsing.
            project.hold(size // 2)
        with warnings.catch_warnings():
            # What Python finds odd in a script it says when the script is run.
            warnings.simplefilter("ignore")
            source.tree = ast.parse(text, filename=shown)
        source.text = text
    except OverBudget:
        source.trouble = message("script.too_large").text()
    except OSError as error:
        source.trouble = error.strerror or str(error)
    except (RecursionError, MemoryError):
        source.trouble = message("script.too_deep").text()
    except (SyntaxError, ValueError, LookupError) as error:
        line = getattr(error, "lineno", None)
        source.trouble = f"{getattr(error, 'msg', None) or error}" + (f" (line {line})" if line else "")
    else:
        source.ignored = comments_of(source.text)
    return source


def content_of(path: Path, most: int = _MAX_BYTES) -> bytes:
    """The bytes of a regular file, of at most so many."""
    try:
        descriptor = open_regular(path)
    except NotRegular:
        raise OSError(message("script.no_file").text()) from None
    with os.fdopen(descriptor, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OverBudget(path, "")
    return data


def _decoded(data: bytes) -> str:
    """The text, in the encoding that PEP 263 lets a file name; LookupError for one that is not of text."""
    name, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    if codecs.lookup(name).name in _NO_SOURCE:
        raise LookupError(message("script.encoding", encoding=name).text())
    with io.TextIOWrapper(io.BytesIO(data), encoding=name) as file:
        return file.read()


def comments_of(text: str) -> dict[int, tuple[tuple[str, ...], str]]:
    """What comments ask to be left out: line → codes (none: all of them) and the reason given."""
    if "trueline:" not in text:
        return {}
    comments: dict[int, tuple[tuple[str, ...], str]] = {}
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            match = _IGNORE.search(token.string) if token.type == tokenize.COMMENT else None
            if match is not None:
                codes = tuple(code.strip() for code in (match[1] or "").split(",") if code.strip())
                comments[token.start[0]] = (codes, match[2].strip())
    except (tokenize.TokenError, SyntaxError):
        pass
    return comments
