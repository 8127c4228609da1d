"""Where the reading of a file stands: names, the function being read, and what was found so far."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

from trueline.apitable.given import modules, public_names
from trueline.script.canonical import canonical
from trueline.script.source import SourceFile
from trueline.script.uses.imports import Imports
from trueline.script.uses.roles import framework_of
from trueline.script.uses.use import Argument, Call, Use, UseKind
from trueline.script.uses.value import ClassInfo, FunctionInfo, Value

METHODS: Final = public_names()["torch.Tensor"] | public_names()["mindspore.Tensor"]
Scope = dict[str, Value | None]


class State:
    """What all parts of the reader share."""

    def __init__(self, source: SourceFile, imports: Imports) -> None:
        self.path: Path = source.path
        self.file = source.shown
        self.imports = imports
        self.lines = source.text.split("\n")
        self.ascii = source.text.isascii()
        self.globals: Scope = {}
        self.local: Scope = self.globals
        self.outer: tuple[Scope, ...] = ()
        # What imports bind: a call that is written with it is no call through a name of the script.
        self.imported: dict[str, Value] = {}
        self.frameworks: set[str] = set()
        self.uses: list[Use] = []
        self.function: FunctionInfo | None = None
        self.owner: ClassInfo | None = None
        self.scope = ""
        self.functions: list[FunctionInfo] = []
        self.classes: list[ClassInfo] = []
        # The class that is made, its file, and the class in whose methods that stands.
        self.made: list[tuple[str, str, str]] = []
        self.depth = 0

    def eval(self, node: ast.expr) -> Value | None:
        """What an expression is; what it uses is kept."""
        raise NotImplementedError

    def read_function(self, info: FunctionInfo, given: Scope) -> Value | None:
        """Read a function with these arguments, once; what it returns."""
        raise NotImplementedError

    def begin(self, info: ClassInfo) -> None:
        """Read what makes the attributes of a class, once."""
        raise NotImplementedError

    def lookup(self, name: str) -> Value | None:
        """What a name stands for."""
        found = self.local.get(name)
        if found is not None or name in self.local:
            return found
        for scope in self.outer:
            if name in scope:
                return scope[name]
        return None

    def knows(self, name: str) -> bool:
        """Whether the file binds a name."""
        return name in self.local or any(name in scope for scope in self.outer)

    def text(self, node: ast.expr) -> str:
        """The source of an expression."""
        begin, end = node.lineno, node.end_lineno or node.lineno
        first, last = node.col_offset, node.end_col_offset
        lines = self.lines
        if self.ascii:
            if begin == end:
                return lines[begin - 1][first:last]
            return "\n".join((lines[begin - 1][first:], *lines[begin : end - 1], lines[end - 1][:last]))
        if begin == end:
            return lines[begin - 1].encode()[first:last].decode(errors="replace")
        head = lines[begin - 1].encode()[first:].decode(errors="replace")
        tail = lines[end - 1].encode()[:last].decode(errors="replace")
        return "\n".join((head, *lines[begin : end - 1], tail))

    def record(self, node: ast.expr, full: str, kind: UseKind, call: Call | None = None, receiver: str = "") -> None:
        """Keep a use of an API of a framework; nothing where the name is a module's or of something else."""
        framework = framework_of(full)
        if not framework or full in _MODULES or "." not in full:
            return
        self.uses.append(
            Use(
                self.file,
                node.lineno,
                node.col_offset,
                node.end_lineno or node.lineno,
                node.end_col_offset or 0,
                canonical(full),
                full,
                framework,
                kind,
                call,
                receiver,
                self.scope,
            )
        )

    def record_undecided(self, node: ast.Attribute, call: Call) -> None:
        """Keep a call of what may be a tensor's method."""
        if node.attr in METHODS and self.frameworks:
            where = (node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)
            name = f".{node.attr}"
            framework = next(iter(self.frameworks)) if len(self.frameworks) == 1 else ""
            receiver = self.text(node.value)
            self.uses.append(
                Use(self.file, *where, name, name, framework, UseKind.UNDECIDED, call, receiver, self.scope)
            )

    def call_of(self, node: ast.Call, skipped: int = 0) -> Call:
        """The arguments of a call as they are written, but for the first ones."""
        found = []
        for given in node.args[skipped:]:
            starred = isinstance(given, ast.Starred)
            value = given.value if isinstance(given, ast.Starred) else given
            found.append(self._argument("*" if starred else None, value))
        found += [self._argument(keyword.arg or "**", keyword.value) for keyword in node.keywords]
        return Call(tuple(found), node.end_lineno or node.lineno, node.end_col_offset or 0)

    def _argument(self, name: str | None, node: ast.expr) -> Argument:
        line, end = node.lineno, node.end_lineno or node.lineno
        return Argument(name, self.text(node), line, node.col_offset, end, node.end_col_offset or 0)

    def remark(self, kind: str, node: ast.AST, what: str = "") -> None:
        """Keep what graph mode has limits for."""
        if self.function is not None:
            self.function.remarks.append((kind, getattr(node, "lineno", 0), what))


_MODULES: Final = modules()
