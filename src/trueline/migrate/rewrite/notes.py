"""The comments of a draft: above each line that stays, why it does."""

from __future__ import annotations

import ast
import textwrap
from typing import Final

from trueline.migrate.rewrite.sheet import Sheet
from trueline.model.message import Message

MARK: Final = "# TrueLine: "
MORE: Final = "#     "
_WIDTH: Final = 118


def write_notes(sheet: Sheet) -> None:
    """Put a comment above every line that was left."""
    notes: dict[int, list[str]] = {}
    for one in (*sheet.left, *sheet.remarks):
        add(sheet, notes, one.line, one.reason)
    for line, texts in notes.items():
        start, indent = sheet.at.line_start(line), sheet.at.indent(line)
        sheet.edits.insert(start, "".join(comment(indent, text) for text in texts))


def comment(indent: str, text: str) -> str:
    """A comment of as many lines as it takes."""
    lines = textwrap.wrap(text, max(40, _WIDTH - len(indent) - len(MARK)), break_long_words=False)
    return "".join(f"{indent}{MARK if not place else MORE}{line}\n" for place, line in enumerate(lines))


def add(sheet: Sheet, notes: dict[int, list[str]], line: int, reason: Message) -> None:
    """Keep a comment for a line, or for the first one of its statement where nothing can stand between."""
    if line in sheet.at.unbreakable:
        line = _statement_line(sheet, line)
    text = reason.text()
    if text not in notes.setdefault(line, []):
        notes[line].append(text)


def _statement_line(sheet: Sheet, line: int) -> int:
    starts = [
        node.lineno
        for node in ast.walk(sheet.tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    usable = [one for one in starts if one not in sheet.at.unbreakable]
    return max(usable, default=1)
