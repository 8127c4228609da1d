"""Calls: the project's functions are read where they are called, a library's are taken down."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Sequence
from typing import Final

from trueline.model.location import Location
from trueline.script.canonical import canonical
from trueline.script.reading.elements import element_of
from trueline.script.reading.expressions import Expressions
from trueline.script.reading.known import sequence, table
from trueline.script.reading.libraries import answered
from trueline.script.reading.machine import DEEPEST, Frame, method_of
from trueline.script.trace import CALL, WITH, Event, Scope
from trueline.script.values import (
    Attribute,
    Class,
    Const,
    Derived,
    Either,
    Function,
    Instance,
    Item,
    Made,
    Names,
    Partial,
    Seq,
    Super,
    Symbol,
    Table,
    Unknown,
    Value,
    either,
)

_FORWARD: Final = ("forward", "construct", "__call__")
# Decorators that leave a function as it is.
_PLAIN: Final = frozenset(
    (
        "jit",
        "compile",
        "script",
        "cache",
        "lru_cache",
        "wraps",
        "record",
        "contextmanager",
        "abstractmethod",
        "overload",
        "main",
        "override",
        "fixture",
        "rank_zero_only",
        "autocast",
        "singledispatch",
    )
)
_CONTEXTS: Final = frozenset(("no_grad", "inference_mode", "enable_grad", "autocast", "set_grad_enabled"))


class Calling(Expressions):
    """Reads calls."""

    @abstractmethod
    def body(self, function: Function, frame: Frame) -> None:
        """Read a function's body in its frame."""

    def called(self, node: ast.Call) -> Value:
        """What a call gives."""
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            return self._super()
        function = self.evaluate(node.func)
        args: list[Value] = []
        kwargs: dict[str, Value] = {}
        is_open = False
        for child in node.args:
            value = self.evaluate(child)
            if isinstance(child, ast.Starred):
                if isinstance(value, Seq):
                    given = sequence(self.machine, "tuple", args, value.items, is_open=value.open)
                    args = given.items
                    is_open = is_open or given.open
                elif isinstance(value, Item | Unknown | Attribute) and "*" not in kwargs:
                    # As many as the one that is called has room for.
                    kwargs["*"] = Derived("Star", (value, Const(len(args))))
                    args.append(Item(value, Const(0)))
                    is_open = True
                else:
                    args.append(element_of(self, value, node))
                    is_open = True
            else:
                args.append(value)
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(value, Table):
                # Of too many arguments none is known.
                value = table(self.machine, value.items, is_open=value.open)
                kwargs.update({name: held for name, held in value.items.items() if isinstance(name, str)})
                is_open = is_open or value.open
            elif isinstance(value, Either) and all(isinstance(option, Table) for option in value.options):
                # **(dict(...) if several else {}): what may be given, and may be not.
                for option in value.options:
                    held = option.items if isinstance(option, Table) else {}
                    kwargs.update({name: given for name, given in held.items() if isinstance(name, str)})
                is_open = True
            else:
                kwargs["**"] = value
                is_open = True
        self.current = node
        return self.call(function, args, kwargs, node, is_open=is_open)

    def call(
        self,
        function: Value,
        args: Sequence[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        *,
        is_open: bool = False,
    ) -> Value:
        """What calling a value gives."""
        match function:
            case Function():
                return self._inlined(function, args, kwargs, node, is_open=is_open)
            case Class():
                return self._instance(function, args, kwargs, node)
            case Instance():
                return self._instance_called(function, args, kwargs, node, is_open)
            case Symbol():
                return self.library(function.name, args, kwargs, None, node, is_open=is_open)
            case Attribute():
                return self._method(function, args, kwargs, node, is_open)
            case Partial():
                return self._partial(function, args, kwargs, node)
            case Either():
                return either(*(self.call(value, args, kwargs, node, is_open=is_open) for value in function.options))
            case Made():
                return self._made_called(function, args, kwargs, node, is_open)
        event = self.machine.happened("?.__call__", self.machine.place(node), args, kwargs, function, open=is_open)
        return event.result or Unknown("call")

    def library(
        self,
        name: str,
        args: Sequence[Value],
        kwargs: dict[str, Value],
        receiver: Value | None,
        node: ast.AST,
        *,
        is_open: bool = False,
    ) -> Value:
        """A call of something of a library: taken down, and answered where what it gives is known."""
        place = self.machine.place(node)
        if not name.startswith("trueline."):
            kwargs = {key: value for key, value in kwargs.items() if not key.startswith("*")}
        event = self.machine.happened(name, place, args, kwargs, receiver, open=is_open)
        result = answered(self, event, node)
        if result is not None:
            event.result = result
        return event.result or Unknown(name)

    def _method(
        self, method: Attribute, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST, is_open: bool
    ) -> Value:
        owner = method.of
        if isinstance(owner, Super):
            name = f"{self.naming(owner.of)}.{method.name}"
            return self.library(name, args, kwargs, owner.of, node, is_open=is_open)
        if isinstance(owner, Either):
            return either(
                *(self._method(Attribute(value, method.name), args, kwargs, node, is_open) for value in owner.options)
            )
        name = canonical(f"{self.naming(owner)}.{method.name}")
        return self.library(name, args, kwargs, owner, node, is_open=is_open)

    def _made_called(
        self, made: Made, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST, is_open: bool
    ) -> Value:
        name = f"{made.name}.__call__" if made.is_object else "?.__call__"
        return self.library(name, args, kwargs, made, node, is_open=is_open)

    def _partial(self, partial: Partial, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        if partial.how == "partial":
            return self.call(partial.function, (*partial.args, *args), {**partial.kwargs, **kwargs}, node)
        return self.library(f"trueline.{partial.how}", args, kwargs, partial, node)

    def _super(self) -> Value:
        function = self.machine.frame.function
        if function is None or function.owner is None or function.bound is None:
            return Unknown("super")
        return Super(function.bound, function.owner)

    def _inlined(
        self,
        function: Function,
        args: Sequence[Value],
        kwargs: dict[str, Value],
        node: ast.AST,
        *,
        is_open: bool = False,
    ) -> Value:
        if len(self.machine.frames) > DEEPEST or self.machine.is_reading(function):
            return Unknown(function.name, (*args, *kwargs.values()))
        names = Names(self._arguments(function, args, kwargs, is_open), function.around)
        frame = Frame(function.module, names, function)
        place = self.machine.place(node)
        self.machine.read_functions.add(id(function.node))
        with self.machine.within(Scope(CALL, place, function, name=function.name)):
            depth = len(self.machine.scopes)
            self.machine.scopes.extend(Scope(WITH, place, value) for value in function.contexts)
            self.machine.frames.append(frame)
            try:
                self.body(function, frame)
            finally:
                self.machine.frames.pop()
                del self.machine.scopes[depth:]
        self.current = node
        if frame.yielded:
            value: Value = Seq("generator", frame.yielded, True)
        else:
            value = either(*frame.returned) if frame.returned else Const(None)
        self.machine.trace.returned.setdefault(id(function.node), []).append(value)
        return value

    def _arguments(
        self, function: Function, args: Sequence[Value], kwargs: dict[str, Value], is_open: bool
    ) -> dict[str, Value]:
        spec = function.node.args
        given = list(args)
        if function.bound is not None:
            given.insert(0, function.bound)
        names = [argument.arg for argument in (*spec.posonlyargs, *spec.args)]
        held = dict(zip(names, given, strict=False))
        if spec.vararg is not None:
            held[spec.vararg.arg] = sequence(self.machine, "tuple", given[len(names) :])
        known = {*names, *(argument.arg for argument in spec.kwonlyargs)}
        rest: dict[str, Value] = {}
        for name, value in kwargs.items():
            if name in known:
                held[name] = value
            elif not name.startswith("*"):
                rest[name] = value
        _spread(held, names[1:] if function.bound is not None else names, kwargs)
        if spec.kwarg is not None:
            held[spec.kwarg.arg] = table(self.machine, rest, is_open="**" in kwargs)
        for name in known:
            if name not in held:
                default = function.defaults.get(name)
                if default is None or is_open:
                    # Where **kwargs cannot be looked into, a parameter may have been given all the same.
                    held[name] = Unknown(f"parameter {name}", (default,) if default is not None else ())
                else:
                    held[name] = default
        return held

    def defaults(self, arguments: ast.arguments) -> dict[str, Value]:
        """The values that parameters have where none are passed."""
        names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
        held: dict[str, Value] = {}
        for name, default in zip(names[len(names) - len(arguments.defaults) :], arguments.defaults, strict=True):
            held[name] = self.evaluate(default)
        for argument, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
            if given is not None:
                held[argument.arg] = self.evaluate(given)
        return held

    def _instance(self, cls: Class, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        instance = Instance(cls, self.machine.place(node))
        base = next(cls.library_bases(), cls.name)
        instance.event = self.machine.happened(f"{base}.__new__", instance.place, args, kwargs, instance)
        instance.event.result = instance
        self.machine.add_instance(instance)
        made = method_of(cls, "__init__")
        if made is not None and isinstance(made[0], Function):
            bound = self.attribute(instance, "__init__", node)
            self.call(bound, args, kwargs, node)
        elif (
            cls.is_dataclass
            or any(base.is_dataclass for base in cls.lineage())
            or any(base.endswith(("NamedTuple", "BaseModel", "TypedDict")) for base in cls.library_bases())
        ):
            self._fields(instance, args, kwargs)
        else:
            answered(self, _init_event(instance, args, kwargs, self.machine.place(node)), node)
        if any(base.is_dataclass for base in cls.lineage()) and method_of(cls, "__post_init__") is not None:
            self.call(self.attribute(instance, "__post_init__", node), (), {}, node)
        return instance

    def _has_fields(self, cls: Class) -> bool:
        if any(base.is_dataclass for base in cls.lineage()):
            return True
        return any(base.endswith(("NamedTuple", "BaseModel", "TypedDict")) for base in cls.library_bases())

    def _fields(self, instance: Instance, args: Sequence[Value], kwargs: dict[str, Value]) -> None:
        names: list[str] = []
        for cls in reversed(list(instance.cls.lineage())):
            for statement in cls.node.body:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    names.append(statement.target.id)
                    held = cls.attributes.get(statement.target.id)
                    if held is not None:
                        instance.attributes[statement.target.id] = self._field(held, statement)
        instance.attributes.update(zip(dict.fromkeys(names), args, strict=False))
        instance.attributes.update(kwargs)
        for name in names:
            instance.attributes.setdefault(name, Unknown(f"field {name}"))

    def _field(self, held: Value, node: ast.AST) -> Value:
        """What ``field(default=…)`` or ``field(default_factory=…)`` gives."""
        if not (isinstance(held, Made) and held.name.endswith((".field", ".Field"))):
            return held
        default = held.event.arg(0 if held.name.endswith("Field") else None, "default")
        if default is not None:
            return default
        factory = held.event.arg(None, "default_factory")
        return self.call(factory, (), {}, node) if factory is not None else Unknown("field")

    def _instance_called(
        self, instance: Instance, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST, is_open: bool
    ) -> Value:
        network = self.is_network(instance)
        event = None
        if network:
            name = f"{self.naming(instance)}.__call__"
            event = self.machine.happened(name, self.machine.place(node), args, kwargs, instance, open=is_open)
        for name in _FORWARD:
            classes = method_of(instance.cls, name)
            if classes is not None and isinstance(classes[0], Function):
                value = self.call(self.attribute(instance, name, node), args, kwargs, node, is_open=is_open)
                if event is not None:
                    event.result = value
                return value
        if event is not None:
            result = answered(self, event, node)
            if result is not None:
                event.result = result
            return event.result or Unknown("call")
        return Unknown(instance.cls.name, (*args, *kwargs.values()))

    def decorated(self, decorator: Value, function: Value, node: ast.AST) -> Value:
        """A function with a decorator around it."""
        name = decorator.name if isinstance(decorator, Symbol | Made) else ""
        last = name.rpartition(".")[2]
        if isinstance(function, Function):
            if last in ("property", "cached_property"):
                function.kind = "property"
                return function
            if last in ("staticmethod", "classmethod"):
                function.kind = last
                return function
            if last in _CONTEXTS:
                function.contexts = (*function.contexts, decorator)
                return function
            if last == "option" and isinstance(decorator, Made):
                _take_option(function, decorator)
                return function
        if last in _PLAIN or isinstance(decorator, Symbol | Made | Unknown | Attribute | Item):
            return function
        given = self.call(decorator, (function,), {}, node)
        return given if isinstance(given, Function | Partial | Class) else function

    def entered(self, context: Value, node: ast.AST) -> Value:
        """What ``with … as`` binds."""
        if isinstance(context, Seq) and context.items:
            # A context manager of the project's own: what it yields.
            return either(*context.items)
        if isinstance(context, Instance):
            enter = self.attribute(context, "__enter__", node)
            return self.call(enter, (), {}, node) if isinstance(enter, Function) else context
        return context


def _spread(held: dict[str, Value], names: Sequence[str], kwargs: dict[str, Value]) -> None:
    """Parameters that ``*batch`` or ``**batch`` fill, where the batch cannot be looked into: its elements."""
    several, named = kwargs.get("*"), kwargs.get("**")
    if isinstance(several, Derived) and isinstance(several.of[1], Const):
        for at, name in enumerate(names[several.of[1].value :]):
            held[name] = held.get(name, Item(several.of[0], Const(at)))
    if named is not None:
        for name in names:
            held[name] = held.get(name, Item(named, Const(name)))


def _take_option(function: Function, decorator: Made) -> None:
    """``@click.option("--lr", default=0.1)`` gives a parameter its default."""
    names = [name.value for name in decorator.event.args if isinstance(name, Const) and isinstance(name.value, str)]
    default = decorator.event.arg(None, "default")
    if names and default is not None:
        long = max(names, key=lambda name: name.startswith("--"))
        function.defaults[long.lstrip("-").replace("-", "_").partition("/")[0]] = default


def _init_event(instance: Instance, args: Sequence[Value], kwargs: dict[str, Value], place: Location) -> Event:
    base = next(instance.cls.library_bases(), instance.cls.name)
    return Event(f"{base}.__init__", place, tuple(args), dict(kwargs), instance)
