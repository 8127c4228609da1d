"""Drafts for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trueline.migrate.rewrite.draft import Draft
from trueline.model.json_value import JsonObject
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table, Text
from trueline.model.result import Exit, Result


@dataclass(frozen=True, slots=True)
class Written:
    """Drafts and where each one was written; None where its file could not be read."""

    out: Path
    drafts: Sequence[tuple[Draft, Path | None]]

    @property
    def done(self) -> int:
        """Names that were written for MindSpore."""
        return sum(len(draft.done) for draft, _ in self.drafts)

    @property
    def left(self) -> int:
        """Places that stay as they are."""
        return sum(len(draft.left) for draft, _ in self.drafts)

    @property
    def unread(self) -> Sequence[Draft]:
        """Files that could not be read."""
        return [draft for draft, place in self.drafts if place is None]


def result(written: Written) -> Result:
    """The JSON shape."""
    exit = Exit.PROBLEM if written.unread else Exit.FINE
    return Result("scan", _conclusion(written), exit, (), {"rewrite": [_draft(*one) for one in written.drafts]})


def report(written: Written) -> Report:
    """What stays is listed; what was written is counted."""
    blocks: list[Block] = []
    for draft in written.unread:
        blocks.append(Text(message("rewrite.unread", file=draft.shown, reason=draft.trouble or "")))
    rows = [[f"{draft.shown}:{one.line}", one.name, one.reason] for draft, _ in written.drafts for one in draft.left]
    if rows:
        columns = [message(f"rewrite.column_{name}") for name in ("place", "name", "reason")]
        blocks.append(Table(message("rewrite.table"), columns, rows))
    return Report(message("rewrite.title"), _conclusion(written), (), blocks)


def _conclusion(written: Written) -> Message:
    files = sum(place is not None for _, place in written.drafts)
    name = "rewrite.all_written" if not written.left else "rewrite.written"
    return message(name, files=files, done=written.done, left=written.left, out=str(written.out))


def _draft(draft: Draft, place: Path | None) -> JsonObject:
    return {
        "file": draft.shown,
        "written": str(place) if place is not None else None,
        "trouble": draft.trouble,
        "done": [{"line": one.line, "name": one.name, "became": one.became} for one in draft.done],
        "left": [{"line": one.line, "name": one.name, "reason": one.reason.text()} for one in draft.left],
    }
