"""Edit Python text by syntax tree: what is not touched keeps its formatting, and edited lines are known afterwards."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from planting import Planted, Project

BLOCKS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.For, ast.While, ast.If, ast.With, ast.Try)


@dataclass(frozen=True, eq=False)
class Source:
    """One Python file of a project with its syntax tree."""

    name: str
    text: str
    tree: ast.Module
    parents: dict[ast.AST, ast.AST]

    def walk(self, *kinds: type[ast.AST], within: ast.AST | None = None) -> Iterator[ast.AST]:
        """Nodes in the order of the text."""
        found = [
            n for n in ast.walk(within or self.tree) if hasattr(n, "lineno") and (not kinds or isinstance(n, kinds))
        ]
        yield from sorted(found, key=lambda n: (n.lineno, n.col_offset))

    def calls(self, *names: str, within: ast.AST | None = None) -> Iterator[ast.Call]:
        """Calls whose function's last name is one of `names` (F.softmax, torch.softmax, x.softmax: "softmax")."""
        for node in self.walk(ast.Call, within=within):
            if last_name(node.func) in names:
                yield node

    def text_of(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.text, node) or ""

    def indent(self, stmt: ast.AST) -> str:
        return self.text.splitlines()[stmt.lineno - 1][: len(self.line(stmt)) - len(self.line(stmt).lstrip())]

    def line(self, node: ast.AST) -> str:
        return self.text.splitlines()[node.lineno - 1]

    def up(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around this one, innermost first."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement this node stands in (itself, if it is one)."""
        if isinstance(node, ast.stmt):
            return node
        return next(n for n in self.up(node) if isinstance(n, ast.stmt))

    def function(self, node: ast.AST) -> ast.FunctionDef | None:
        return next((n for n in self.up(node) if isinstance(n, ast.FunctionDef)), None)

    def inside(self, node: ast.AST, *kinds: type[ast.AST]) -> ast.AST | None:
        return next((n for n in self.up(node) if isinstance(n, kinds)), None)

    def block(self, stmt: ast.stmt) -> list[ast.stmt]:
        """The list of statements that holds this statement."""
        for _, value in ast.iter_fields(self.parents[stmt]):
            if isinstance(value, list) and stmt in value:
                return value
        raise ValueError(f"{self.name}:{stmt.lineno} is in no block")


@lru_cache(maxsize=512)
def parse(name: str, text: str) -> Source:
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    return Source(name, text, tree, parents)


def sources(project: Project) -> list[Source]:
    """The Python files of a project, the entry first."""
    names = [n for n in project.files if n.endswith(".py")]
    entry = project.entry if isinstance(project.entry, str) else project.entry[-1].replace(".", "/") + ".py"
    return [parse(n, project.files[n]) for n in sorted(names, key=lambda n: (n != entry, n))]


def last_name(node: ast.AST) -> str:
    """`c` of a.b.c, `c` of c, else empty."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    return next((k for k in call.keywords if k.arg == name), None)


def own_lines(source: Source, stmt: ast.stmt) -> list[str]:
    """The lines of a statement without its indentation."""
    lines = source.text.splitlines()[stmt.lineno - 1 : stmt.end_lineno]
    return [line[len(source.indent(stmt)) :] for line in lines]


def first_import(source: Source) -> ast.stmt:
    imports = [n for n in source.tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    return next(n for n in imports if getattr(n, "module", "") != "__future__")


@dataclass
class Edit:
    """Changes to the files of one project, applied together by `planted`."""

    project: Project
    spans: dict[str, list[tuple[int, int, bytes]]] = field(default_factory=dict)
    # file, number of the span (or None: text that stays), offset in the span's new text (or in the old text)
    marks: list[tuple[str, int | None, int]] = field(default_factory=list)

    def _offset(self, source: Source, line: int, column: int) -> int:
        lines = source.text.encode().splitlines(keepends=True)
        return sum(len(text) for text in lines[: line - 1]) + column

    def _span(self, source: Source, start: int, end: int, new: str, mark: bool) -> Edit:
        old = source.text.encode()[start:end]
        self.spans.setdefault(source.name, []).append((start, end, new.encode()))
        if mark:
            # Report the line of the first character that truly changed, not of the indentation before it.
            same = 0
            while same < min(len(old), len(new.encode())) and old[same] == new.encode()[same]:
                same += 1
            blank = len(new[same:]) - len(new[same:].lstrip())
            number = len(self.spans[source.name]) - 1
            self.marks.append((source.name, number, min(same + blank, len(new.encode()))))
        return self

    def replace(self, source: Source, node: ast.AST, new: str, mark: bool = True) -> Edit:
        start = self._offset(source, node.lineno, node.col_offset)
        return self._span(source, start, self._offset(source, node.end_lineno, node.end_col_offset), new, mark)

    def before(self, source: Source, stmt: ast.stmt, *lines: str, mark: bool = True) -> Edit:
        """New lines in front of a statement, at its indentation."""
        first = min([stmt.lineno, *(d.lineno for d in getattr(stmt, "decorator_list", []))])
        start = self._offset(source, first, 0)
        return self._span(source, start, start, self._lines(source.indent(stmt), lines), mark)

    def after(self, source: Source, stmt: ast.stmt, *lines: str, mark: bool = True) -> Edit:
        start = self._offset(source, stmt.end_lineno + 1, 0)
        new = self._lines(source.indent(stmt), lines)
        if not source.text.encode()[:start].endswith(b"\n"):
            new = "\n" + new
        return self._span(source, start, start, new, mark)

    def delete(self, source: Source, stmt: ast.stmt) -> Edit:
        """Remove a statement with its lines; alone in its block it becomes `pass`."""
        if len(source.block(stmt)) == 1 and not isinstance(source.parents[stmt], ast.Module):
            return self.replace(source, stmt, "pass", mark=False)
        start = self._offset(source, stmt.lineno, 0)
        return self._span(source, start, self._offset(source, stmt.end_lineno + 1, 0), "", mark=False)

    def remove_argument(self, source: Source, call: ast.Call, argument: ast.AST, mark: bool = True) -> Edit:
        """Remove an argument (positional node or keyword) of a call with the comma that belongs to it."""
        arguments: list[ast.AST] = sorted([*call.args, *call.keywords], key=lambda n: (n.lineno, n.col_offset))
        at = arguments.index(argument)
        if at + 1 < len(arguments):
            first, last = argument, arguments[at + 1]
            start, end = (first.lineno, first.col_offset), (last.lineno, last.col_offset)
        else:
            first = arguments[at - 1] if at else None
            start = (first.end_lineno, first.end_col_offset) if first else (argument.lineno, argument.col_offset)
            end = (argument.end_lineno, argument.end_col_offset)
        self._span(source, self._offset(source, *start), self._offset(source, *end), "", mark=False)
        return self.mark(source, call) if mark else self

    def add_argument(self, source: Source, call: ast.Call, text: str) -> Edit:
        """Append a keyword argument to a call."""
        arguments = sorted([*call.args, *call.keywords], key=lambda n: (n.lineno, n.col_offset))
        if not arguments:
            end = self._offset(source, call.end_lineno, call.end_col_offset) - 1
            self._span(source, end, end, text, mark=False)
        else:
            last = arguments[-1]
            end = self._offset(source, last.end_lineno, last.end_col_offset)
            self._span(source, end, end, f", {text}", mark=False)
        return self.mark(source, call)

    def move(
        self, source: Source, stmt: ast.stmt, after: ast.stmt | None = None, before: ast.stmt | None = None
    ) -> Edit:
        """Move a statement to another place at that place's indentation."""
        old = "\n".join(source.text.splitlines()[stmt.lineno - 1 : stmt.end_lineno])
        at = after or before
        depth = len(source.indent(stmt))
        lines = [line[depth:] for line in old.splitlines()]
        self.delete(source, stmt)
        if after:
            return self.after(source, at, *lines)
        return self.before(source, at, *lines)

    def mark(self, source: Source, node: ast.AST) -> Edit:
        """Name a line that is left as it is as a place of the fault."""
        self.marks.append((source.name, None, self._offset(source, node.lineno, node.col_offset)))
        return self

    def planted(self, code: str, **more: object) -> Planted:
        """The changed files, with the lines of the marks in the changed text."""
        files: dict[str, str] = {}
        places: list[tuple[str, int]] = []
        for name, spans in self.spans.items():
            old = self.project.files[name].encode()
            new, at = b"", 0
            starts: dict[int, int] = {}
            for number in sorted(range(len(spans)), key=lambda n: spans[n][:2]):
                start, end, text = spans[number]
                if start < at:
                    raise ValueError(f"{name}: edits overlap")
                new += old[at:start]
                starts[number] = len(new)
                new += text
                at = end
            files[name] = (new + old[at:]).decode()
            for marked, span, beyond in self.marks:
                if marked == name:
                    where = self._moved(beyond, spans) if span is None else starts[span] + beyond
                    places.append((name, files[name].encode()[:where].count(b"\n") + 1))
        for marked, _, offset in self.marks:
            if marked not in self.spans:
                places.append((marked, self.project.files[marked].encode()[:offset].count(b"\n") + 1))
        return Planted(files, code, tuple(dict.fromkeys(places)), **more)  # type: ignore[arg-type]

    @staticmethod
    def _moved(offset: int, spans: list[tuple[int, int, bytes]]) -> int:
        """Where a place of the old text stands in the new one."""
        return offset + sum(
            len(text) - (min(end, offset) - start)
            for start, end, text in spans
            if start < offset or start == end == offset
        )

    @staticmethod
    def _lines(indent: str, lines: tuple[str, ...]) -> str:
        return "".join(f"{indent}{line}\n" if line else "\n" for line in lines)
