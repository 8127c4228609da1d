"""Calls that are written another way in MindSpore: the rows of ``apitable/rewrites.toml``, each run by a test."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

from trueline.migrate.rewrite.arguments import Bound, CannotBind, Parameters, bind, literal
from trueline.migrate.rewrite.edits import Span
from trueline.migrate.rewrite.sheet import Sheet

_SELF: Final = "self"
_SIZES: Final = frozenset(("size", "dim", "numel", "len", "int"))
_PART: Final = re.compile(r"\[\[.*?\]\]|\{\w+(?::\w+)?\}|\$[\w.]+\$|&\w+")
_TYPES: Final = {"floating": float, "whole": int, "truth": bool}
_ATOMS: Final = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.Dict)


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write a call; ``when`` holds the literals that arguments must have."""

    text: str
    when: Mapping[str, object]

    @property
    def needed(self) -> frozenset[str]:
        """The arguments that must be given."""
        bare = re.sub(r"\[\[.*?\]\]", "", self.text)
        return frozenset(re.findall(r"\{(\w+)", bare)) - {_SELF}

    @property
    def repeated(self) -> frozenset[str]:
        """The arguments that stand in it more than once."""
        names = re.findall(r"\{(\w+)", self.text)
        return frozenset(name for name in names if names.count(name) > 1)

    @property
    def known(self) -> frozenset[str]:
        """The arguments that may be given."""
        return frozenset(re.findall(r"\{(\w+)", self.text)) | set(self.when)


@dataclass(frozen=True, slots=True)
class Row:
    """How the calls of one name of torch are written; ``same`` where the method stays as it is."""

    takes: Parameters
    forms: Sequence[Form]
    ignores: frozenset[str]
    same: bool
    result_used: bool
    examples: Sequence[str]


@cache
def rows() -> Mapping[str, Row]:
    """All rows by torch's full name."""
    text = resources.files("trueline.apitable").joinpath("rewrites.toml").read_text("utf-8")
    return MappingProxyType({name: _row(row) for name, row in tomllib.loads(text).items()})


def _row(row: Mapping[str, Any]) -> Row:
    forms = [Form(one, {}) if isinstance(one, str) else Form(one["as"], one["when"]) for one in row.get("writes", ())]
    return Row(
        _parameters(row.get("takes", "")),
        forms,
        frozenset(row.get("ignores", ())),
        row.get("same", False),
        row.get("result_used", False),
        tuple(row.get("examples", ())),
    )


def _parameters(text: str) -> Parameters:
    """A parameter list from its source."""
    found = ast.parse(f"def f({text}): pass").body[0]
    assert isinstance(found, ast.FunctionDef)
    arguments = found.args
    plain = [*arguments.posonlyargs, *arguments.args]
    missing = len(plain) - len(arguments.defaults)
    defaults: list[str | None] = [None] * missing + [ast.unparse(one) for one in arguments.defaults]
    parameters = [(one.arg, default) for one, default in zip(plain, defaults, strict=True)]
    if arguments.vararg is not None:
        parameters.append((f"*{arguments.vararg.arg}", None))
    keyword = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    return [*parameters, *((one.arg, ast.unparse(value) if value else None) for one, value in keyword)]


def written(sheet: Sheet, call: ast.Call, row: Row, receiver: ast.expr | None) -> list[str | Span] | None:
    """What stands in place of a call; None where no form of its row fits."""
    try:
        bound = bind(call, row.takes)
    except CannotBind:
        return None
    given = dict(bound.given)
    for name, default in row.takes:
        if name in given and default is not None and literal(given[name]) == (True, ast.literal_eval(default)):
            del given[name]
    rest = next((name[1:] for name, _ in row.takes if name.startswith("*")), "")
    names = {name for name in given if name not in row.ignores} | ({rest} if bound.rest else set())
    for form in row.forms:
        if not form.needed <= names or not names <= form.known:
            continue
        wanted = dict(form.when)
        if any(name not in given or literal(given[name]) != (True, value) for name, value in wanted.items()):
            continue
        if any(_computes(given[name]) for name in form.repeated if name in given):
            # Written twice, it would be computed twice: a draw, or an update of statistics, would be another one.
            continue
        pieces = _Writer(sheet, Bound(given, bound.rest), rest, receiver).pieces(form.text)
        if pieces is not None and not _loses_comment(sheet, call, pieces):
            return pieces
    return None


def _computes(node: ast.expr) -> bool:
    """Whether an expression calls something that may not give the same twice: anything but sizes."""
    calls = [part.func for part in ast.walk(node) if isinstance(part, ast.Call)]
    return any(getattr(function, "attr", getattr(function, "id", "")) not in _SIZES for function in calls)


def _loses_comment(sheet: Sheet, call: ast.Call, pieces: Sequence[str | Span]) -> bool:
    comments = sheet.at.comments(sheet.at.of(call)) if "#" in sheet.at.source(call) else []
    kept = [piece for piece in pieces if isinstance(piece, Span)]
    return any(not any(piece.holds(comment) for piece in kept) for comment in comments)


def _number_type(node: ast.expr) -> type | None:
    """What kind of number an expression is, where that is to be seen."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
    if called in ("float", "int", "bool"):
        return {"float": float, "int": int, "bool": bool}[called]
    if isinstance(node, ast.Attribute) and node.attr in ("inf", "nan", "pi"):
        return float
    known, value = literal(node)
    return type(value) if known and isinstance(value, int | float) else None


@dataclass(slots=True)
class _Writer:
    """Puts the arguments of one call into a template."""

    sheet: Sheet
    bound: Bound
    rest: str
    receiver: ast.expr | None

    def pieces(self, text: str) -> list[str | Span] | None:
        found: list[str | Span] = []
        place = 0
        for part in _PART.finditer(text):
            found.append(text[place : part.start()])
            place = part.end()
            token = part[0]
            if token.startswith("[["):
                inner = self.pieces(token[2:-2]) if self._has(token) else []
            elif token.startswith("$"):
                inner = [self.sheet.wanted.name(token[1:-1])]
            elif token.startswith("&"):
                inner = [self.sheet.wanted.helper(token[1:])]
            else:
                name, _, how = token[1:-1].partition(":")
                inner = self._argument(
                    name, how, text[max(0, part.start() - 1) : part.start()], text[place : place + 1]
                )
            if inner is None:
                return None
            found.extend(inner)
        found.append(text[place:])
        return [piece for piece in found if piece != ""]

    def _has(self, group: str) -> bool:
        names = re.findall(r"\{(\w+)", group)
        return all(name in self.bound.given or (name == self.rest and self.bound.rest) for name in names)

    def _argument(self, name: str, how: str, before: str, after: str) -> list[str | Span] | None:
        if name == _SELF and self.receiver is not None:
            return self._spliced(self.receiver, "", after)
        if name == self.rest:
            if how == "shape" and len(self.bound.rest) == 1 and not isinstance(self.bound.rest[0], ast.Starred):
                return [self.span(self.bound.rest[0])]
            return self._tuple(self.bound.rest) if how in ("tuple", "shape") else self._listed(self.bound.rest)
        node = self.bound.given[name]
        if how == "tuple":
            return self._tuple([node])
        if how in ("floating", "whole", "truth"):
            return [self.span(node)] if _number_type(node) is _TYPES[how] else None
        if how == "floats":
            known, value = literal(node)
            if known and isinstance(value, int | float):
                return [repr(float(value))]
            if known and isinstance(value, tuple | list):
                return [repr(tuple(float(one) for one in value))]
            return None
        return self._spliced(node, before, after)

    def _spliced(self, node: ast.expr, before: str, after: str) -> list[str | Span]:
        loose = isinstance(node, _ATOMS) or (before in ("", "(", ",", "=", " ") and after in (",", ")", ""))
        number = isinstance(node, ast.Constant) and after == "."
        return [self.span(node)] if loose and not number else ["(", self.span(node), ")"]

    def _tuple(self, nodes: Sequence[ast.expr]) -> list[str | Span] | None:
        if len(nodes) != 1:
            return ["(", *self._listed(nodes), ")"] if not any(isinstance(one, ast.Starred) for one in nodes) else None
        node = nodes[0]
        if isinstance(node, ast.Tuple):
            return ["(", *self._listed(node.elts), "," if len(node.elts) == 1 else "", ")"]
        if isinstance(node, ast.List):
            return [self.span(node)]
        kind = self.sheet.kinds.of(node)
        if kind == "shape":
            return [self.span(node)]
        if kind == "number" or isinstance(node, ast.BinOp):
            return ["(", self.span(node), ",)"]
        if isinstance(node, ast.Starred):
            return [self.span(node.value)]
        return None

    def _listed(self, nodes: Sequence[ast.expr]) -> list[str | Span]:
        found: list[str | Span] = []
        for node in nodes:
            found.extend([", ", self.span(node)] if found else [self.span(node)])
        return found

    def span(self, node: ast.expr) -> Span:
        """A node's place, with the brackets of a generator or tuple that its position has."""
        return self.sheet.at.of(node)


@cache
def _names() -> Mapping[str, str]:
    text = resources.files("trueline.apitable").joinpath("rewrites.toml").read_text("utf-8")
    return {name: row["is"] for name, row in tomllib.loads(text).items() if "is" in row}


def names_of(name: str) -> str:
    """What a name of torch is called in MindSpore wherever it stands; "" where it has no such name."""
    return _names().get(name, "")
