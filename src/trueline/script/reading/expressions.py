"""Expressions: what they stand for."""

from __future__ import annotations

import ast
import operator
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from trueline.script.reading.elements import element_of, layer_at
from trueline.script.reading.known import (
    NotDecidedError,
    computed,
    joined_text,
    new_sequence,
    sequence,
    table,
    update,
    written,
)
from trueline.script.reading.looking_up import LookingUp
from trueline.script.reading.machine import Frame, method_of
from trueline.script.roles import is_network
from trueline.script.trace import LOOP, REPEATED, Scope
from trueline.script.values import (
    Class,
    Const,
    Derived,
    Either,
    Function,
    Instance,
    Item,
    Made,
    ModuleRoom,
    Names,
    Partial,
    Seq,
    Symbol,
    Table,
    Unknown,
    Value,
    either,
    is_class_name,
)

_BUILTINS: Final = frozenset(dir(__builtins__) if not isinstance(__builtins__, dict) else __builtins__)
# Reading an expression takes some microseconds.
_WORK: Final = 4
_SIGNS: Final[dict[type[ast.unaryop], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}


class Expressions(LookingUp):
    """Reads expressions."""

    def evaluate(self, node: ast.expr) -> Value:
        """What an expression stands for."""
        self.current = node
        self.machine.spend(_WORK)
        match node:
            case ast.Constant():
                return written(node.value, self.machine.place(node))
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self.attribute(self.evaluate(node.value), node.attr, node)
            case ast.Call():
                return self.called(node)
            case ast.Tuple() | ast.List() | ast.Set():
                return self._sequence(node)
            case ast.Dict():
                return self._dict(node)
            case ast.BinOp():
                left, right = self.evaluate(node.left), self.evaluate(node.right)
                return self.operated(type(node.op).__name__, left, right, node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BoolOp():
                return self._bool(node)
            case ast.Compare():
                return self._compare(node)
            case ast.IfExp():
                return self._if_else(node)
            case ast.Subscript():
                return self.item(self.evaluate(node.value), self.evaluate(node.slice), node)
            case ast.Slice():
                # From where, to where, in which steps: None where it is not written.
                parts = (node.lower, node.upper, node.step)
                bounds = tuple(Const(None) if child is None else self.evaluate(child) for child in parts)
                return Derived("Slice", bounds, self.machine.place(node))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                return self._comprehension(node)
            case ast.DictComp():
                return self._dict_comprehension(node)
            case ast.Lambda():
                frame = self.machine.frame
                return Function(node, frame.module, frame.names, defaults=self.defaults(node.args))
            case ast.JoinedStr():
                return self._text(node)
            case ast.NamedExpr():
                value = self.evaluate(node.value)
                self.machine.define(node.target.id, value)
                return value
            case ast.Starred():
                return self.evaluate(node.value)
            case ast.Await():
                return self.evaluate(node.value)
            case ast.Yield() | ast.YieldFrom():
                value = self.evaluate(node.value) if node.value is not None else Const(None)
                if isinstance(node, ast.YieldFrom):
                    value = element_of(self, value, node)
                self.machine.frame.yielded.append(value)
                return Unknown("sent")
        return Unknown(type(node).__name__)

    def _name(self, node: ast.Name) -> Value:
        value = self.machine.frame.names.get(node.id)
        if value is not None:
            return value
        if node.id in _BUILTINS:
            return Symbol(f"builtins.{node.id}")
        return Unknown(node.id)

    def item(self, owner: Value, index: Value, node: ast.AST) -> Value:
        """The element at an index."""
        if isinstance(owner, Either):
            return either(*(self.item(value, index, node) for value in owner.options))
        if isinstance(owner, Table) and isinstance(index, Const):
            try:
                # What a comprehension made is there under any name.
                value = owner.items.get(index.value, owner.items.get("*"))
            except TypeError:
                value = None
            if value is not None:
                return value
        if isinstance(owner, Seq) and isinstance(index, Const) and isinstance(index.value, int):
            at = index.value
            if owner.open and all(isinstance(value, Derived) for value in owner.items):
                # One of many numbers that are computed alike.
                return Item(owner, index)
            if -len(owner.items) <= at < len(owner.items) and (at >= 0 or not owner.open):
                return owner.items[at]
        if isinstance(owner, Seq | Table) and not isinstance(index, Const | Derived) and owner.parts():
            return either(*owner.parts())
        if isinstance(owner, Const) and isinstance(index, Const):
            try:
                return Const(owner.value[index.value])
            except (TypeError, KeyError, IndexError):
                return Unknown("index")
        if isinstance(owner, Symbol) and owner.name == "os.environ":
            return Unknown("environment", (index,))
        if isinstance(owner, Symbol):
            # A type's parameters: list[int].
            return owner
        return layer_at(owner, index) or Item(owner, index)

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set) -> Value:
        kind = {ast.Tuple: "tuple", ast.List: "list", ast.Set: "set"}[type(node)]
        if not any(isinstance(child, ast.Starred) for child in node.elts):
            return new_sequence(self.machine, kind, (self.evaluate(child) for child in node.elts), len(node.elts))
        parts: list[Sequence[Value]] = []
        is_open = False
        for child in node.elts:
            value = self.evaluate(child)
            if isinstance(child, ast.Starred):
                parts.append(value.items if isinstance(value, Seq) else (element_of(self, value, node),))
                is_open = is_open or not isinstance(value, Seq) or value.open
            else:
                parts.append((value,))
        return sequence(self.machine, kind, *parts, is_open=is_open)

    def _dict(self, node: ast.Dict) -> Value:
        found = Table({}, place=self.machine.place(node))
        for key, child in zip(node.keys, node.values, strict=True):
            value = self.evaluate(child)
            if key is None:
                if isinstance(value, Table):
                    update(self.machine, found, value.items)
                found.open = found.open or not isinstance(value, Table) or value.open
                continue
            name = self.evaluate(key)
            if isinstance(name, Const):
                update(self.machine, found, {name.value: value})
            else:
                update(self.machine, found, {id(name): value})
                found.open = True
        return found

    def operated(self, op: str, left: Value, right: Value, node: ast.AST) -> Value:
        """What an operator makes of two values."""
        if isinstance(left, Const) and isinstance(right, Const):
            try:
                return Const(computed(self.machine, op, left.value, right.value), left.origin)
            except NotDecidedError:
                return Derived(op, (left, right), self.machine.place(node))
        if op == "Add" and isinstance(left, Seq) and isinstance(right, Seq) and not _is_padding(right):
            return sequence(self.machine, left.kind, left.items, right.items, is_open=left.open or right.open)
        if op == "Mult" and isinstance(left, Seq):
            if any(is_network(value) for value in left.items):
                self.machine.happened(REPEATED, self.machine.place(node), tuple(left.items))
            kind = "repeated" if _are_numbers(left) else left.kind
            return sequence(self.machine, kind, left.items, is_open=True)
        if op == "BitOr" and isinstance(left, Table) and isinstance(right, Table):
            return table(self.machine, left.items, right.items, is_open=left.open or right.open)
        return Derived(op, (left, right), self.machine.place(node))

    def _unary(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            decided = self.truth(value)
            return Const(not decided) if decided is not None else Derived("Not", (value,), self.machine.place(node))
        function = _SIGNS.get(type(node.op))
        if isinstance(value, Const) and function is not None and isinstance(value.value, int | float):
            return Const(function(value.value), value.origin)
        return Derived(type(node.op).__name__, (value,), self.machine.place(node))

    def _bool(self, node: ast.BoolOp) -> Value:
        stops = isinstance(node.op, ast.Or)
        held: list[Value] = []
        for child in node.values:
            value = self.evaluate(child)
            decided = self.truth(value)
            if decided is stops:
                return either(*held, value) if held else value
            if decided is None:
                held.append(value)
        if not held:
            return value
        return either(*held) if stops else Derived("And", tuple(held), self.machine.place(node))

    def _compare(self, node: ast.Compare) -> Value:
        left = self.evaluate(node.left)
        rights = [self.evaluate(child) for child in node.comparators]
        if len(rights) == 1:
            decided = self._decided(node.ops[0], left, rights[0])
            if decided is not None:
                return Const(decided)
        op = type(node.ops[0]).__name__
        return Derived(op, (left, *rights), self.machine.place(node))

    def _decided(self, op: ast.cmpop, left: Value, right: Value) -> bool | None:
        if isinstance(op, ast.Is | ast.IsNot) and isinstance(right, Const) and right.value is None:
            same: bool | None = None
            if isinstance(left, Const):
                same = left.value is None
            elif isinstance(left, Instance | Function | Class | Seq | Table | Partial) or (
                isinstance(left, Made) and left.is_object
            ):
                same = False
            return same if same is None or isinstance(op, ast.Is) else not same
        if isinstance(left, Const) and isinstance(right, Const):
            try:
                return bool(computed(self.machine, type(op).__name__, left.value, right.value))
            except NotDecidedError:
                return None
        if isinstance(left, Symbol) and isinstance(right, Symbol) and is_class_name(left.name):
            same = left.name == right.name
            if isinstance(op, ast.Eq | ast.Is):
                return same
            return not same if isinstance(op, ast.NotEq | ast.IsNot) else None
        if isinstance(op, ast.In | ast.NotIn) and isinstance(left, Const):
            return self._member(left.value, right, isinstance(op, ast.In))
        return None

    def _member(self, value: object, room: Value, wanted: bool) -> bool | None:
        self.machine.spend(len(room.items) >> 3 if isinstance(room, Seq) else 0)
        if isinstance(room, Table) and not room.open:
            return (value in room.items) is wanted
        if isinstance(room, Seq) and not room.open and all(isinstance(part, Const) for part in room.items):
            return any(isinstance(part, Const) and part.value == value for part in room.items) is wanted
        return None

    def _if_else(self, node: ast.IfExp) -> Value:
        test = self.evaluate(node.test)
        self.machine.trace.tests.append(test)
        decided = self.truth(test)
        if decided is not None:
            return self.evaluate(node.body if decided else node.orelse)
        return either(self.evaluate(node.body), self.evaluate(node.orelse))

    def truth(self, value: Value) -> bool | None:
        """Whether a condition holds; None where that cannot be known."""
        match value:
            case Const():
                return bool(value.value)
            case Seq() | Table():
                if value.parts():
                    return True
                return None if value.open else False
            case Function() | Class() | Partial() | ModuleRoom():
                return True
            case Instance():
                return True if method_of(value.cls, "__len__") is None else None
            case Made():
                return True if is_network(value) else None
            case Either():
                truths = {self.truth(part) for part in value.options}
                return truths.pop() if len(truths) == 1 else None
        return None

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        kind = "set" if isinstance(node, ast.SetComp) else "list"
        first = self.evaluate(node.generators[0].iter)
        few = isinstance(first, Seq) and not first.open and len(first.items) <= 8
        if few and isinstance(first, Seq) and len(node.generators) == 1 and not node.generators[0].ifs:
            made = (self._within(node, first, value, node.elt) for value in first.items)
            return new_sequence(self.machine, kind, made, len(first.items))
        held = self._within(node, first, element_of(self, first, node), node.elt)
        return Seq(kind, [held], True, self.tests)

    def _dict_comprehension(self, node: ast.DictComp) -> Value:
        first = self.evaluate(node.generators[0].iter)
        key = self._within(node, first, element_of(self, first, node), node.key)
        value = self._within(node, first, element_of(self, first, node), node.value)
        return Table({"*": value}, True, key=key)

    def _within(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        first: Value,
        part: Value,
        what: ast.expr,
    ) -> Value:
        outer = self.machine.frame
        frame = Frame(outer.module, Names({}, outer.names), outer.function)
        self.machine.frames.append(frame)
        try:
            with self.machine.within(Scope(LOOP, self.machine.place(node), first, name="comprehension")):
                tests: list[Value] = []
                for at, generator in enumerate(node.generators):
                    value = part if not at else element_of(self, self.evaluate(generator.iter), node)
                    self.assign(generator.target, value)
                    tests.extend(self.evaluate(test) for test in generator.ifs)
                value = self.evaluate(what)
                self.tests = tuple(tests)
                self.machine.trace.tests.extend(tests)
                self.machine.take_down_repeated(value, self.machine.place(node))
                return value
        finally:
            self.machine.frames.pop()

    @abstractmethod
    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a name, attribute, element, or several at once."""

    def _text(self, node: ast.JoinedStr) -> Value:
        parts = [
            self.evaluate(child.value) if isinstance(child, ast.FormattedValue) else self.evaluate(child)
            for child in node.values
        ]
        if all(isinstance(value, Const) for value in parts) and not any(
            isinstance(child, ast.FormattedValue) and child.format_spec is not None for child in node.values
        ):
            try:
                return Const(joined_text(self.machine, [value.value for value in parts if isinstance(value, Const)]))
            except NotDecidedError:
                pass
        return Derived("text", tuple(parts), self.machine.place(node))


def _are_numbers(value: Seq) -> bool:
    return bool(value.items) and all(
        isinstance(part, Const) and isinstance(part.value, int | float) for part in value.items
    )


def _is_padding(value: Seq) -> bool:
    """``[0] * n``: what is put behind a list to make it longer stays a thing of its own."""
    return value.kind == "repeated"
