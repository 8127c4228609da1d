"""Names and attributes: what they stand for, and what imports bring."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from trueline.script.canonical import canonical
from trueline.script.project import is_file, resolved
from trueline.script.reading.elements import layer_at
from trueline.script.reading.machine import Machine, method_of
from trueline.script.roles import is_network
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
    ModuleRoom,
    Partial,
    Super,
    Symbol,
    Table,
    Unknown,
    Value,
    either,
    is_class_name,
)

# Of what is computed in more steps than these the class is not known.
MAX_NAME_DEPTH: Final = 100


class LookingUp(ABC):
    """Looks up names and attributes."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        # The node that events without one of their own are put at.
        self.current: ast.AST | None = None
        # The conditions of the comprehension that was read last.
        self.tests: tuple[Value, ...] = ()
        # The defaults of the arguments of each parser.
        self.arguments: dict[int, dict[str, Value]] = {}

    @abstractmethod
    def called(self, node: ast.Call) -> Value:
        """What a call gives."""

    @abstractmethod
    def call(self, function: Value, args: Sequence[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        """What calling a value gives."""

    @abstractmethod
    def defaults(self, arguments: ast.arguments) -> dict[str, Value]:
        """The values that parameters have where none are passed."""

    @abstractmethod
    def module(self, path: Path) -> ModuleRoom | None:
        """A module of the project, read."""

    def attribute(self, owner: Value, name: str, node: ast.AST) -> Value:
        """An attribute of a value."""
        match owner:
            case Symbol():
                if name == "__name__" and is_class_name(owner.name):
                    return Const(owner.name.rpartition(".")[2])
                return Symbol(canonical(f"{owner.name}.{name}"))
            case Made() if name == "__class__" and is_network(owner):
                return Symbol(owner.name)
            case Made() if owner.name.endswith((".ModuleDict", ".CellDict")):
                layer = layer_at(owner, Const(name))
                if layer is not None:
                    return layer
            case ModuleRoom():
                return self._of_module(owner, name, node)
            case Instance():
                return self._of_instance(owner, name, node)
            case Class():
                return self._of_class(owner, name)
            case Super():
                return self._of_super(owner, name)
            case Table():
                if name in owner.items:
                    return owner.items[name]
            case Either():
                return either(*(self.attribute(value, name, node) for value in owner.options))
            case Partial():
                if name in ("func", "__wrapped__"):
                    return owner.function
        return Attribute(owner, name)

    def _of_module(self, room: ModuleRoom, name: str, node: ast.AST) -> Value:
        value = room.names.held.get(name)
        if value is not None:
            return value
        path = self.machine.project.find_relative(name, 1, resolved(Path(room.file)))
        below = self.module(path) if path is not None and path.suffix == ".py" else None
        return below if below is not None else self.machine.lost(node, f"{room.name}.{name}")

    def _of_instance(self, owner: Instance, name: str, node: ast.AST) -> Value:
        if name in owner.attributes:
            return owner.attributes[name]
        if name == "__class__":
            return owner.cls
        classes = method_of(owner.cls, name)
        if classes is None:
            # What wraps a network for several devices has it under this name, and is read as the network itself.
            return owner if name == "module" and is_network(owner) else Attribute(owner, name)
        value, _ = classes
        if isinstance(value, Function):
            if value.kind == "property":
                return self.call(_bound(value, owner), (), {}, node)
            return value if value.kind == "staticmethod" else _bound(value, owner)
        return value

    def _of_class(self, owner: Class, name: str) -> Value:
        classes = method_of(owner, name)
        if classes is None:
            if name == "__name__":
                return Const(owner.name)
            return Attribute(owner, name)
        value, _ = classes
        if isinstance(value, Function) and value.kind == "classmethod":
            return _bound(value, owner)
        return value

    def _of_super(self, owner: Super, name: str) -> Value:
        lineage = owner.of.cls.lineage() if isinstance(owner.of, Instance) else owner.cls.lineage()
        passed = False
        for cls in lineage:
            if passed and name in cls.attributes:
                value = cls.attributes[name]
                return _bound(value, owner.of) if isinstance(value, Function) else value
            passed = passed or cls is owner.cls
        return Attribute(owner, name)

    def naming(self, value: Value) -> str:
        """The full name of a value's class, before the dot of its methods; ``?`` where it is not known."""
        return self._naming(value, {}, 0)

    def _naming(self, value: Value, known: dict[int, str], depth: int) -> str:
        """Each value once: what is computed from itself, line by line, can be reached in very many ways."""
        if id(value) not in known:
            self.machine.spend()
            known[id(value)] = self._named(value, known, depth) if depth < MAX_NAME_DEPTH else "?"
        return known[id(value)]

    def _named(self, value: Value, known: dict[int, str], depth: int) -> str:
        match value:
            case Made():
                if value.is_object:
                    return value.name
                return _class_of_result(value.name)
            case Instance():
                return next(value.cls.library_bases(), value.cls.name)
            case Class():
                return next(value.library_bases(), value.name)
            case Super():
                return self._naming(value.of, known, depth + 1)
            case Symbol():
                return value.name
            case Derived():
                names = {self._naming(name, known, depth + 1) for name in value.of}
                return next((name for name in names if name.endswith(".Tensor")), "?")
            case Item() | Attribute() | Unknown():
                return "?"
            case Either():
                names = {self._naming(name, known, depth + 1) for name in value.options}
                return names.pop() if len(names) == 1 else "?"
        return "?"

    def is_network(self, value: Value) -> bool:
        """Whether it is a module or cell."""
        return is_network(value)

    def imported(self, node: ast.Import | ast.ImportFrom) -> None:
        """Bind what an import brings: a module of the project is read, everything else is a library's."""
        beside = Path(self.machine.frame.module.file)
        if isinstance(node, ast.Import):
            for alias in node.names:
                self._import(alias, beside)
            return
        name = node.module or ""
        project = self.machine.project
        here = resolved(beside)
        path = project.find_relative(name, node.level, here) if node.level else project.find(name, here)
        room = self.module(path) if path is not None and path.suffix == ".py" else None
        if path is None and name and not node.level:
            folder = project.find_folder(name, here)
        else:
            folder = path if path is None or path.is_dir() else path.parent
        for alias in node.names:
            if alias.name == "*":
                if room is not None:
                    self.machine.spend(len(room.names.held) >> 1)
                    for held, value in room.names.held.items():
                        if not held.startswith("_"):
                            self.machine.define(held, value)
                continue
            self.machine.define(alias.asname or alias.name, self._from(room, folder, name, alias.name, node))

    def _from(
        self, room: ModuleRoom | None, folder: Path | None, module: str, name: str, node: ast.ImportFrom
    ) -> Value:
        if room is not None and name in room.names.held:
            return room.names.held[name]
        if folder is not None:
            for path in (folder / f"{name}.py", folder / name / "__init__.py"):
                if is_file(path):
                    below = self.module(path)
                    if below is not None:
                        return below
        if room is not None or node.level:
            return self.machine.lost(node, f"{module}.{name}")
        return Symbol(canonical(f"{module}.{name}"))

    def _import(self, alias: ast.alias, beside: Path) -> None:
        project = self.machine.project
        head = alias.name.partition(".")[0]
        path = project.find(alias.name, resolved(beside))
        room = self.module(path) if path is not None else None
        if room is None:
            self.machine.define(alias.asname or head, Symbol(alias.name if alias.asname else head))
            return
        if alias.asname or "." not in alias.name:
            self.machine.define(alias.asname or alias.name, room)
            return
        top = project.find(head, resolved(beside))
        above = self.module(top) if top is not None else None
        if above is not None:
            self.machine.define(head, above)
            return
        # A folder without __init__.py: what is imported from it hangs below its name.
        held: Value = room
        for part in reversed(alias.name.split(".")[1:]):
            held = Table({part: held}, True)
        self.machine.define(head, held)


def _class_of_result(name: str) -> str:
    """The class of what a function or method gives, by its full name."""
    root = name.partition(".")[0]
    owner = name.rpartition(".")[0]
    if name.startswith(("mindspore.dataset.", "torch.utils.data.")) and is_class_name(owner):
        # A pipeline's method gives the pipeline.
        return owner
    if root in ("torch", "mindspore"):
        return f"{root}.Tensor"
    if root == "numpy":
        return "numpy.ndarray"
    return name if root not in ("?", "builtins") else "?"


def _bound(function: Function, owner: Value) -> Function:
    return Function(
        function.node,
        function.module,
        function.around,
        function.owner,
        owner,
        function.contexts,
        function.kind,
        function.defaults,
    )
