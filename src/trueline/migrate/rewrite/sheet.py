"""One file on its way to a draft: its tree, what is known of it, and what was done and left so far."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from trueline.apitable.attributes import known_layer
from trueline.apitable.pairs import Documented, Measured, Outcome, Table, pairs_by_name, row_of
from trueline.migrate.rewrite.classes import Classes
from trueline.migrate.rewrite.edits import Edits, Positions, Span
from trueline.migrate.rewrite.kinds import Kinds
from trueline.migrate.rewrite.names import Names
from trueline.migrate.rewrite.restored import judged
from trueline.migrate.rewrite.wanted import Wanted
from trueline.model.message import Message, message
from trueline.script.source import SourceFile

CLASSIC: Final = "classic"
MINT: Final = "mint"
EQUAL: Final = (Outcome.EQUAL, Outcome.EQUAL_WITH)


@dataclass(frozen=True, slots=True)
class Done:
    """A name of torch that was written for MindSpore."""

    line: int
    name: str
    became: str


@dataclass(frozen=True, slots=True)
class Left:
    """A name of torch whose line stays, and why."""

    line: int
    name: str
    reason: Message


@dataclass(slots=True, eq=False)
class Sheet:
    """A file that is being rewritten."""

    source: SourceFile
    names: Names
    classes: Classes
    style: str
    table: Table | None = None
    # Files and the names of torch that other drafts still take from them; shared by the sheets of a project.
    still_taken: set[tuple[str, str]] = field(default_factory=set)
    done: list[Done] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)
    # Comments on lines that were written nevertheless.
    remarks: list[Left] = field(default_factory=list)
    # Nodes whose names of torch are dealt with, one way or the other.
    settled: set[ast.AST] = field(default_factory=set)
    text: str = field(init=False)
    at: Positions = field(init=False)
    edits: Edits = field(init=False)
    kinds: Kinds = field(init=False)
    wanted: Wanted = field(init=False)

    def __post_init__(self) -> None:
        self.text = self.source.text
        self.at = Positions(self.text)
        self.edits = Edits(self.text)
        self.kinds = Kinds(self.names, self.classes)
        self.wanted = Wanted(self.names)

    @property
    def tree(self) -> ast.Module:
        """The file's tree."""
        return self.source.tree

    def calls(self) -> Sequence[ast.Call]:
        """All calls, outer ones first."""
        return [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]

    def settle(self, node: ast.AST) -> None:
        """Mark the names of torch within an expression's own name as dealt with."""
        while True:
            self.settled.add(node)
            if not isinstance(node, ast.Attribute):
                return
            node = node.value

    def write(self, node: ast.AST, name: str, became: str, *pieces: str | Span) -> None:
        """Put pieces in place of a node, and say so."""
        self.edits.replace(self.at.of(node), *pieces)
        self.note_done(node, name, became)

    def note_done(self, node: ast.AST, name: str, became: str) -> None:
        """Say that a name was rewritten."""
        self.done.append(Done(getattr(node, "lineno", 1), name, became))

    def leave(self, node: ast.AST, name: str, reason: Message) -> None:
        """Keep a node's line, with a comment that says why."""
        one = Left(getattr(node, "lineno", 1), name, reason)
        if one not in self.left:
            self.left.append(one)

    def remark(self, node: ast.AST, reason: Message) -> None:
        """Put a comment above a line that is written."""
        self.remarks.append(Left(getattr(node, "lineno", 1), "", reason))

    def inside(self, node: ast.AST, kind: type[ast.AST]) -> ast.AST | None:
        """The innermost node of a type around a node."""
        return next((one for one in self.names.enclosing(node) if isinstance(one, kind)), None)

    def pairs(self, name: str, call: ast.Call | None = None) -> Sequence[Documented]:
        """The pairs of torch's name in the style that is written, the ones known equal for a call first."""
        found = [pair for pair in pairs_by_name().get(name, ()) if pair.torch == name]
        layer = known_layer(name)
        counterpart = f"mindspore.nn.{layer.counterpart('mindspore')}" if layer is not None else ""
        return sorted(
            found,
            key=lambda pair: (
                not self.maps(pair, call),
                pair.style != self.style,
                pair.mindspore != counterpart,
            ),
        )

    def row(self, pair: Documented) -> Measured:
        """What is measured of a pair."""
        return row_of(pair, self.table)

    def maps(self, pair: Documented, call: ast.Call | None) -> bool:
        """Whether a pair is measured as equal: for the arguments of a call, or whatever is given."""
        row = self.row(pair)
        if call is None or any(keyword.arg is None for keyword in call.keywords):
            return row.outcome in EQUAL
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            return row.outcome in EQUAL
        given = {name: value for (name, _), value in zip(pair.torch_parameters, call.args, strict=False)}
        given |= {keyword.arg or "": keyword.value for keyword in call.keywords}
        return row.maps(judged(pair, {name: self.at.source(value) for name, value in given.items()}))

    def equal(self, name: str, call: ast.Call | None = None) -> Documented | None:
        """The pair of torch's name that is measured as equal, for a call where there is one."""
        found = self.pairs(name, call)
        return found[0] if found and self.maps(found[0], call) else None

    def why_not(self, name: str, call: ast.Call | None = None) -> Message:
        """Why a name is not rewritten."""
        found = self.pairs(name, call)
        if not found:
            return message("rewrite.unknown", name=name)
        row = self.row(found[0])
        names = {"name": name, "other": found[0].mindspore}
        if row.outcome in EQUAL:
            refused = next((one for one in row.differences if one.is_ordinary and one.values), None)
            if refused is None:
                return message("rewrite.not_so", **names)
            return message("rewrite.refused", **names, error=refused.example.mindspore_gives)
        if row.outcome is Outcome.DIFFERS and row.differences:
            telling = [one for one in row.differences if one.is_ordinary] or row.differences
            example = telling[0].example
            return message("rewrite.differs_as", **names, torch=example.torch_gives, mindspore=example.mindspore_gives)
        return message(f"rewrite.{row.outcome.value}", **names)
