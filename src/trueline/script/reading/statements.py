"""Statements: what they bind, where they branch, how they end."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import Enum

from trueline.script.reading.calling import Calling
from trueline.script.reading.elements import element_of
from trueline.script.reading.known import extend, sequence
from trueline.script.reading.machine import Frame
from trueline.script.trace import BRANCH, HANDLER, LOOP, WITH, Scope
from trueline.script.values import (
    Class,
    Const,
    Derived,
    Either,
    Function,
    Instance,
    Item,
    ModuleRoom,
    Names,
    Seq,
    Symbol,
    Table,
    Unknown,
    Value,
    either,
)

# Elements of a written list whose rounds a loop is read for one by one.
MAX_UNROLLED_ROUNDS = 4


class End(Enum):
    """How a block ended."""

    THROUGH = "through"
    LOOP = "loop"
    FUNCTION = "function"


class Statements(Calling):
    """Reads statements; expressions and calls are its bases'."""

    def block(self, body: Sequence[ast.stmt]) -> End:
        """Statements one after the other, until one ends the block."""
        for node in body:
            self.machine.count()
            end = self.statement(node)
            if end is not End.THROUGH:
                return end
        return End.THROUGH

    def statement(self, node: ast.stmt) -> End:
        """One statement."""
        match node:
            case ast.Expr():
                self.evaluate(node.value)
            case ast.Assign():
                value = self.evaluate(node.value)
                for target in node.targets:
                    self.assign(target, value)
            case ast.AnnAssign():
                if node.value is not None:
                    self.assign(node.target, self.evaluate(node.value))
            case ast.AugAssign():
                self._augmented(node)
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self.machine.define(node.name, self._function(node))
            case ast.ClassDef():
                self.machine.define(node.name, self._class(node))
            case ast.Return():
                value = self.evaluate(node.value) if node.value is not None else Const(None)
                self.machine.frame.returned.append(value)
                return End.FUNCTION
            case ast.Raise():
                return End.FUNCTION
            case ast.Break() | ast.Continue():
                return End.LOOP
            case ast.If():
                return self._if(node)
            case ast.For() | ast.AsyncFor():
                return self._for(node)
            case ast.While():
                return self._while(node)
            case ast.With() | ast.AsyncWith():
                return self._with(node)
            case ast.Try() | ast.TryStar():
                return self._try(node)
            case ast.Import() | ast.ImportFrom():
                self.imported(node)
            case ast.Global() | ast.Nonlocal():
                self.machine.frame.shared.update(node.names)
            case ast.Delete():
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.machine.frame.names.held.pop(target.id, None)
            case ast.Match():
                return self._match(node)
            case ast.Assert():
                self.evaluate(node.test)
        return End.THROUGH

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a name, attribute, element, or several at once."""
        match target:
            case ast.Name():
                self.machine.define(target.id, value)
            case ast.Attribute():
                self._set_attribute(self.evaluate(target.value), target.attr, value, target)
            case ast.Subscript():
                self._set_item(self.evaluate(target.value), self.evaluate(target.slice), value)
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, value)
            case ast.Starred():
                self.assign(target.value, value)

    def _unpack(self, targets: Sequence[ast.expr], value: Value) -> None:
        starred = next((at for at, node in enumerate(targets) if isinstance(node, ast.Starred)), None)
        if isinstance(value, Either):
            choices = [part for part in value.options if isinstance(part, Seq) and len(part.items) == len(targets)]
            if starred is None and len(choices) == len(value.options):
                for at, target in enumerate(targets):
                    self.assign(target, either(*(part.items[at] for part in choices)))
                return
        if isinstance(value, Seq) and not value.open:
            if starred is None and len(value.items) == len(targets):
                for target, part in zip(targets, value.items, strict=True):
                    self.assign(target, part)
                return
            if starred is not None and len(value.items) >= len(targets) - 1:
                after = len(targets) - starred - 1
                items = value.items
                for target, part in zip(targets[:starred], items[:starred], strict=True):
                    self.assign(target, part)
                self.assign(targets[starred], sequence(self.machine, "list", items[starred : len(items) - after]))
                for target, part in zip(targets[starred + 1 :], items[len(items) - after :], strict=True):
                    self.assign(target, part)
                return
        for at, target in enumerate(targets):
            self.assign(target, Item(value, Const(at)))

    def _set_attribute(self, owner: Value, name: str, value: Value, node: ast.AST) -> None:
        if isinstance(owner, Either):
            for part in owner.options:
                self._set_attribute(part, name, value, node)
            return
        event = None
        if isinstance(owner, Instance | Class):
            held = owner.attributes
            before = held.get(name)
            if isinstance(before, Const) and isinstance(value, Const) and self.machine.in_loop(anywhere=True):
                # What a loop gives other values is no constant in it.
                value = Unknown("changes in the loop", (before, value))
            if self.machine.in_branch() and name in held and held[name] is not value:
                value = either(held[name], value)
            held[name] = value
        elif isinstance(owner, Table):
            owner.items[name] = value
        elif isinstance(owner, ModuleRoom):
            owner.names.held[name] = value
        else:
            event = self.machine.happened(
                f"{self.naming(owner)}.__setattr__", self.machine.place(node), (Const(name), value), receiver=owner
            )
        if event is None and isinstance(owner, Instance) and self.is_network(owner):
            # A weight that is tied or taken apart later is an event of its own.
            self.machine.happened(
                f"{self.naming(owner)}.__setattr__", self.machine.place(node), (Const(name), value), receiver=owner
            )

    def _set_item(self, owner: Value, index: Value, value: Value) -> None:
        if isinstance(owner, Table):
            if isinstance(index, Const) and isinstance(index.value, str | int | float | bool | None | tuple):
                owner.items[index.value] = value
            else:
                owner.open = True
        elif isinstance(owner, Seq) and isinstance(index, Const) and isinstance(index.value, int):
            if -len(owner.items) <= index.value < len(owner.items):
                owner.items[index.value] = value
        else:
            node = self.current
            if node is not None:
                name = f"{self.naming(owner)}.__setitem__"
                self.machine.happened(name, self.machine.place(node), (index, value), receiver=owner)

    def _augmented(self, node: ast.AugAssign) -> None:
        self.current = node
        load = ast.copy_location(_loading(node.target), node.target)
        before, other_value = self.evaluate(load), self.evaluate(node.value)
        if isinstance(before, Seq) and isinstance(other_value, Seq) and isinstance(node.op, ast.Add):
            extend(self.machine, before, other_value.items)
            before.open = before.open or other_value.open or self.machine.in_loop()
            return
        op = type(node.op).__name__
        value: Value
        if self.machine.in_loop(anywhere=not isinstance(node.target, ast.Name)):
            value = Derived(op, (before, other_value), self.machine.place(node))
        else:
            value = self.operated(op, before, other_value, node)
        self.assign(node.target, value)

    def _if(self, node: ast.If) -> End:
        test = self.evaluate(node.test)
        self.machine.trace.tests.append(test)
        decided = self.truth(test)
        if decided is not None:
            return self.block(node.body if decided else node.orelse)
        place = self.machine.place(node)
        before = self._names_held()
        with self.machine.within(Scope(BRANCH, place, test)):
            first = self.block(node.body)
        after_body = self.machine.frame.names.held
        self.machine.frame.names.held = dict(before)
        with self.machine.within(Scope(BRANCH, place, test, holds=False)):
            second = self.block(node.orelse)
        after_else = self.machine.frame.names.held
        if first is not End.THROUGH and second is not End.THROUGH:
            return End.FUNCTION if End.FUNCTION in (first, second) and first is second else first
        if first is not End.THROUGH:
            return End.THROUGH
        if second is not End.THROUGH:
            self.machine.frame.names.held = after_body
            return End.THROUGH
        self.machine.frame.names.held = _joined(after_body, after_else)
        return End.THROUGH

    def _names_held(self) -> dict[str, Value]:
        """The names as they are before a branch; they are copied, and joined after it."""
        held = self.machine.frame.names.held
        self.machine.spend(len(held) >> 2)
        return dict(held)

    def _match(self, node: ast.Match) -> End:
        subject = self.evaluate(node.subject)
        before = self._names_held()
        after: list[dict[str, Value]] = []
        for case in node.cases:
            self.machine.spend(len(before) >> 3)
            self.machine.frame.names.held = dict(before)
            for name in ast.walk(case.pattern):
                if isinstance(name, ast.MatchAs | ast.MatchStar) and name.name is not None:
                    self.machine.define(name.name, Unknown("matched", (subject,)))
            with self.machine.within(Scope(BRANCH, self.machine.place(node), subject)):
                if self.block(case.body) is End.THROUGH:
                    after.append(self.machine.frame.names.held)
        held = after[0] if after else before
        for names in after[1:]:
            held = _joined(held, names)
        self.machine.frame.names.held = held
        return End.THROUGH

    def _for(self, node: ast.For | ast.AsyncFor) -> End:
        iterable = self.evaluate(node.iter)
        self._widen(node)
        scope = Scope(LOOP, self.machine.place(node), iterable)
        rounds: Sequence[Value] = ()
        if isinstance(iterable, Seq) and not iterable.open and 0 < len(iterable.items) <= MAX_UNROLLED_ROUNDS:
            rounds = iterable.items
        with self.machine.within(scope):
            for value in rounds or (element_of(self, iterable, node),):
                self.assign(node.target, value)
                if self.block(node.body) is End.FUNCTION and not self.machine.in_branch():
                    break
        return self.block(node.orelse)

    def _while(self, node: ast.While) -> End:
        self._widen(node)
        test = self.evaluate(node.test)
        if self.truth(test) is False:
            return self.block(node.orelse)
        with self.machine.within(Scope(LOOP, self.machine.place(node), test)):
            end = self.block(node.body)
        if end is End.FUNCTION and self.truth(test) is True:
            return End.FUNCTION
        return self.block(node.orelse)

    def _widen(self, loop: ast.For | ast.AsyncFor | ast.While) -> None:
        """What a loop gives other values is no constant in it."""
        held = self.machine.frame.names.held
        for node in ast.walk(loop):
            self.machine.spend()
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                value = held.get(node.id)
                if isinstance(value, Const):
                    held[node.id] = Unknown("changes in the loop", (value,))
            elif (
                isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
            ):
                owner = self.machine.frame.names.get(node.value.id)
                if isinstance(owner, Instance) and isinstance(owner.attributes.get(node.attr), Const):
                    owner.attributes[node.attr] = Unknown("changes in the loop", (owner.attributes[node.attr],))

    def _with(self, node: ast.With | ast.AsyncWith) -> End:
        return self._with_items(node, 0)

    def _with_items(self, node: ast.With | ast.AsyncWith, at: int) -> End:
        if at == len(node.items):
            return self.block(node.body)
        item = node.items[at]
        context = self.evaluate(item.context_expr)
        entered = self.entered(context, node)
        if item.optional_vars is not None:
            self.assign(item.optional_vars, entered)
        with self.machine.within(Scope(WITH, self.machine.place(item.context_expr), context)):
            return self._with_items(node, at + 1)

    def _try(self, node: ast.Try | ast.TryStar) -> End:
        before = self._names_held()
        end = self.block(node.body)
        held = self.machine.frame.names.held
        for handler in node.handlers:
            self.machine.spend(len(held) >> 3)
            self.machine.frame.names.held = {**before, **held}
            with self.machine.within(Scope(HANDLER, self.machine.place(handler))):
                if handler.name is not None:
                    self.machine.define(handler.name, Unknown("exception"))
                handled = self.block(handler.body)
            if handled is End.THROUGH:
                # What was not bound by then, as an import that failed, is what the handler made of it.
                held = {**self.machine.frame.names.held, **held}
        self.machine.frame.names.held = held
        if end is End.THROUGH:
            end = self.block(node.orelse)
        last = self.block(node.finalbody)
        return last if last is not End.THROUGH else end

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Value:
        frame = self.machine.frame
        function = Function(node, frame.module, frame.names, defaults=self.defaults(node.args))
        self.machine.functions.append(function)
        value: Value = function
        for decorator in reversed(node.decorator_list):
            value = self.decorated(self.evaluate(decorator), value, decorator)
        return value

    def _class(self, node: ast.ClassDef) -> Value:
        bases = [self.evaluate(child) for child in node.bases]
        cls = Class(node, self.machine.frame.module, bases)
        frame = Frame(self.machine.frame.module, Names(cls.attributes, self.machine.frame.names))
        self.machine.frames.append(frame)
        try:
            self.block(node.body)
            cls.attributes = frame.names.held
        finally:
            self.machine.frames.pop()
        for value in cls.attributes.values():
            if isinstance(value, Function) and value.owner is None:
                value.owner = cls
                # Methods see what is around the class, not what is in it.
                value.around = self.machine.frame.names
        for decorator in node.decorator_list:
            name = self.evaluate(decorator)
            if (isinstance(name, Symbol) and name.name.endswith("dataclass")) or "dataclass" in ast.dump(decorator):
                cls.is_dataclass = True
        return cls


def _loading(target: ast.expr) -> ast.expr:
    match target:
        case ast.Name():
            return ast.Name(target.id, ast.Load())
        case ast.Attribute():
            return ast.Attribute(target.value, target.attr, ast.Load())
        case ast.Subscript():
            return ast.Subscript(target.value, target.slice, ast.Load())
    return target


def _joined(first: dict[str, Value], second: dict[str, Value]) -> dict[str, Value]:
    held = dict(first)
    for name, value in second.items():
        held[name] = either(held[name], value) if name in held and held[name] is not value else value
    return held
