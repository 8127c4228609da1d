"""What a call gives, and which API it uses."""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from functools import cache

from trueline.apitable.given import modules_give, packages
from trueline.script.uses.members import Members
from trueline.script.uses.plain import called_builtin, element_of
from trueline.script.uses.roles import (
    base_of,
    called,
    family_of,
    framework_of,
    object_called,
    of_module,
    of_tensor,
    role_of,
)
from trueline.script.uses.state import Scope
from trueline.script.uses.use import UseKind
from trueline.script.uses.value import (
    ARRAY,
    NOTHING,
    NUMBER,
    OTHER,
    SEVERAL_TENSORS,
    TENSORS,
    TEXT,
    ClassInfo,
    ClassRef,
    FunctionInfo,
    FunctionRef,
    Instance,
    Made,
    Mapped,
    Method,
    Ref,
    Several,
    Super,
    Tuple,
    Value,
    instance,
    ref,
)

_DIM = frozenset(("dim", "axis"))
# What goes through these may be a tensor.
_PASSING_ON = frozenset(
    ("itertools", "functools", "queue", "typing", "contextlib", "operator", "concurrent", "multiprocessing")
)
_CONTAINER_METHODS = frozenset(("append", "extend", "insert", "add", "appendleft"))


class Calls(Members):
    """Calls of frameworks, of the script's own functions and classes, and of Python's."""

    def call(self, node: ast.Call, kind: UseKind = UseKind.CALL) -> Value | None:
        """What a call gives; its uses are kept."""
        function = node.func
        receiver: Value | None = None
        direct = False
        if isinstance(function, ast.Name):
            name = function.id
            value = self.lookup(name)
            direct = value is not None and self.imported.get(name) is value
            if value is None and not self.knows(name):
                return self._builtin(node, name)
        elif isinstance(function, ast.Attribute):
            receiver, direct = self.resolve(function.value)
            value = self.member(receiver, function, called=True)
            if value is None and receiver is None:
                self.record_undecided(function, self.call_of(node))
        else:
            value = self.eval(function)
        if isinstance(value, Ref):
            return self._of_name(node, value.name, direct=direct, kind=kind)
        arguments = [self.eval(given) for given in node.args]
        keywords = {keyword.arg: self.eval(keyword.value) for keyword in node.keywords}
        match value:
            case None:
                return self._unknown(node, receiver, arguments)
            case Method():
                return self._method(node, value, arguments)
            case Instance():
                return object_called(value.type) if value.type not in ("other", "numpy", "str") else value
            case FunctionRef():
                return self._own(value, arguments, keywords)
            case ClassRef():
                return self._make(value.info, arguments, keywords)
            case Made():
                return self._run(value, arguments, keywords)
            case _:
                return None

    def resolve(self, node: ast.expr) -> tuple[Value | None, bool]:
        """What an expression is, without keeping it as a use itself; and whether it is written with imported names."""
        if isinstance(node, ast.Name):
            value = self.lookup(node.id)
            return value, value is not None and self.imported.get(node.id) is value
        if isinstance(node, ast.Attribute):
            value, direct = self.resolve(node.value)
            return self.member(value, node, called=False), direct
        return self.eval(node), False

    def _of_name(self, node: ast.Call, name: str, *, direct: bool, kind: UseKind) -> Value | None:
        if name == "functools.partial" and node.args:
            return self._partial(node)
        if name in ("copy.deepcopy", "copy.copy", "tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.notebook.tqdm") and node.args:
            return self._through(node)
        if name.startswith("numpy."):
            self.remark("numpy", node, self.text(node.func))
        if framework_of(name):
            # Kept before its arguments: the order of a source's reading.
            self.record(node.func, name, kind if direct else UseKind.INDIRECT, self.call_of(node))
        arguments = [self.eval(given) for given in node.args]
        keywords = [self.eval(keyword.value) for keyword in node.keywords]
        if family := family_of(name):
            if name.rpartition(".")[2] == "Sequential" or role_of(name) == "modules":
                return instance(name)
            if name.endswith(("DataParallel", "torch.compile", "torch.jit.script")) and arguments and arguments[0]:
                return arguments[0]
            dim = any(keyword.arg in _DIM for keyword in node.keywords) or (
                len(arguments) > 1 and arguments[1] is NUMBER
            )
            found = called(name, with_dim=dim)
            if found is None and _only_tensors(name) and any(is_tensor(value) for value in (*arguments, *keywords)):
                return TENSORS[family]
            return found
        return _of_package(name, arguments)

    def _through(self, node: ast.Call) -> Value | None:
        found = [self.eval(given) for given in node.args]
        for keyword in node.keywords:
            self.eval(keyword.value)
        return found[0]

    def _partial(self, node: ast.Call) -> Value | None:
        first = node.args[0]
        value, direct = self.resolve(first)
        if isinstance(value, Ref) and direct:
            self.record(first, value.name, UseKind.PARTIAL, self.call_of(node, 1))
        for given in node.args[1:]:
            self.eval(given)
        for keyword in node.keywords:
            self.eval(keyword.value)
        return value

    def _method(self, node: ast.Call, method: Method, arguments: Sequence[Value | None]) -> Value | None:
        receiver, name = method.receiver, method.name
        assert isinstance(node.func, ast.Attribute)
        if isinstance(receiver, Made):
            family = receiver.info.network or family_of(receiver.info.framework_base)
            base = base_of("torch.nn.Module" if family == "torch" else "mindspore.nn.Cell")
            if not receiver.info.network:
                base = base_of(receiver.info.framework_base)
            role = "module" if receiver.info.network else role_of(receiver.info.framework_base)
        else:
            family, role, base = family_of(receiver.type), role_of(receiver.type), base_of(receiver.type)
        if not (role == "module" and name in ("forward", "construct")):
            self.record(node.func, f"{base}.{name}", UseKind.METHOD, self.call_of(node), self.text(node.func.value))
        if role == "tensor":
            if name.endswith("_") and not name.endswith("__"):
                self.remark("inplace", node, self.text(node.func))
            if name == "size":
                return NUMBER if arguments or node.keywords else Several(NUMBER)
            if name == "type" and not arguments and not node.keywords:
                return TEXT
            dim = any(keyword.arg in _DIM for keyword in node.keywords) or bool(arguments and arguments[0] is NUMBER)
            return of_tensor(family, name, dim)
        if role == "module":
            if name in ("forward", "construct") and isinstance(receiver, Made):
                return self._run(receiver, arguments, {})
            return of_module(family, name, receiver) if name in modules_give() else None
        if role == "dataset":
            return _of_dataset(name, receiver)
        if base.startswith("torch.distributions."):
            return TENSORS[family]
        return OTHER if role in ("optimizer", "schedule") else None

    def _unknown(self, node: ast.Call, receiver: Value | None, arguments: Sequence[Value | None]) -> Value | None:
        function = node.func
        if not isinstance(function, ast.Attribute):
            return None
        if isinstance(receiver, Made) and receiver.info.network and any(is_tensor(value) for value in arguments):
            # A part that the file does not show the class of, called with tensors within a network.
            return TENSORS[receiver.info.network]
        name = function.attr
        if isinstance(receiver, Mapped):
            return _of_dict(receiver, name)
        if isinstance(receiver, Several | Tuple):
            if isinstance(receiver, Several) and name in _CONTAINER_METHODS and arguments:
                self._put_in(function.value, receiver, name, arguments[-1])
            if name in ("pop", "popleft"):
                return element_of(receiver)
            if name == "copy":
                return receiver
            if name in ("index", "count"):
                return NUMBER
        return None

    def _put_in(self, node: ast.expr, several: Several, name: str, given: Value | None) -> None:
        """A list that was empty holds what is put into it."""
        element = element_of(given) if name == "extend" else given
        if several.element is not None or element is None:
            return
        if isinstance(node, ast.Name) and node.id in self.local:
            self.local[node.id] = Several(element)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = self.lookup(node.value.id)
            if isinstance(owner, Made) and node.attr in owner.info.attributes:
                owner.info.attributes[node.attr] = Several(element)

    def _own(
        self, value: FunctionRef, arguments: Sequence[Value | None], keywords: dict[str | None, Value | None]
    ) -> Value | None:
        info = value.info
        if self.function is not None:
            self.function.calls.add(info.name)
        bound = [] if value.bound is None or info.form == "static" else [value.bound]
        return self.read_function(info, given_to(info, [*bound, *arguments], keywords))

    def _make(
        self, info: ClassInfo, arguments: Sequence[Value | None], keywords: dict[str | None, Value | None]
    ) -> Value | None:
        self.made.append((info.name, info.file, self.owner.name if self.owner is not None else ""))
        start = info.methods.get("__init__")
        if start is not None and start.state == 0 and not info.begun:
            info.begun = True
            self.read_function(start, given_to(start, [Made(info), *arguments], keywords))
        elif start is not None:
            self.read_function(start, given_to(start, [Made(info), *arguments], keywords))
        return Made(info)

    def _run(
        self, value: Made, arguments: Sequence[Value | None], keywords: dict[str | None, Value | None]
    ) -> Value | None:
        """The call of an object: what forward, construct or __call__ gives."""
        info = value.info
        self.begin(info)
        for name in ("forward", "construct", "__call__"):
            if self.has(info, name):
                found = self.of_class(info, name, value)
                if isinstance(found, FunctionRef):
                    if info.network and name != "__call__":
                        if found.info.state == 1:
                            return TENSORS[info.network]
                        # Its inputs are tensors whoever calls it.
                        return self.read_function(found.info, {}) or TENSORS[info.network]
                    return self._own(found, arguments, keywords)
        if info.network:
            return TENSORS[info.network]
        return None

    def _builtin(self, node: ast.Call, name: str) -> Value | None:
        if name == "super" and self.owner is not None:
            return Super(self.owner)
        if name == "getattr" and len(node.args) > 1:
            return self._getattr(node)
        if name in ("print", "isinstance") and self.function is not None:
            self._remark_builtin(node, name)
        arguments = []
        for place, given in enumerate(node.args):
            kept = len(self.uses)
            arguments.append(self.eval(given))
            if place == 1 and name in ("isinstance", "issubclass"):
                # A class that something is compared with is built by nobody here.
                named = [use._replace(kind=UseKind.ANNOTATION) for use in self.uses[kept:]]
                self.uses[kept:] = named
        for keyword in node.keywords:
            self.eval(keyword.value)
        return called_builtin(name, arguments)

    def _getattr(self, node: ast.Call) -> Value | None:
        value, _ = self.resolve(node.args[0])
        for given in node.args[1:]:
            self.eval(given)
        word = node.args[1]
        if isinstance(word, ast.Constant) and isinstance(word.value, str):
            if isinstance(value, Ref):
                self.record(node, f"{value.name}.{word.value}", UseKind.VALUE)
                return ref(f"{value.name}.{word.value}")
            if isinstance(value, Made):
                return self.of_class(value.info, word.value, value)
        return None

    def _remark_builtin(self, node: ast.Call, name: str) -> None:
        if name == "print":
            self.remark("print", node)
        elif len(node.args) == 2:
            value, _ = self.resolve(node.args[1])
            types = value.elements if isinstance(value, Tuple) else (value,)
            if any(isinstance(type, Ref) and role_of(type.name) == "tensor" for type in types):
                self.remark("isinstance", node, self.text(node))


def given_to(info: FunctionInfo, arguments: Sequence[Value | None], keywords: dict[str | None, Value | None]) -> Scope:
    """Arguments by the names of a function's parameters."""
    node = info.node.args
    names = [one.arg for one in (*node.posonlyargs, *node.args)]
    given: Scope = dict(zip(names, arguments, strict=False))
    allowed = {*names, *(one.arg for one in node.kwonlyargs)}
    given.update({name: value for name, value in keywords.items() if name in allowed and name is not None})
    return given


def is_tensor(value: Value | None) -> bool:
    if isinstance(value, Several):
        return is_tensor(value.element)
    return isinstance(value, Instance) and role_of(value.type) == "tensor"


@cache
def _only_tensors(name: str) -> bool:
    """Functions of packages that make a tensor of a tensor."""
    return name.partition(".")[0] == "einops"


def _of_dict(value: Mapped, name: str) -> Value | None:
    if name == "items":
        return Several(Tuple((TEXT, value.element)))
    if name == "values":
        return Several(value.element)
    if name == "keys":
        return Several(TEXT)
    return value.element if name in ("get", "pop", "setdefault") else value if name == "copy" else NOTHING


def _of_dataset(name: str, receiver: Value) -> Value | None:
    if name == "create_dict_iterator":
        return Several(Mapped(TENSORS["mindspore"]))
    if name == "create_tuple_iterator":
        return Several(SEVERAL_TENSORS["mindspore"])
    return NUMBER if name.startswith(("get_", "output_")) else receiver


@cache
def _kind_of_package(package: str) -> str:
    return packages().get(package, "") or ("stdlib" if package in sys.stdlib_module_names else "")


def _of_package(name: str, arguments: Sequence[Value | None]) -> Value | None:
    """What functions of packages give that are no framework's."""
    package = name.partition(".")[0]
    kind = _kind_of_package(package)
    if package == "numpy":
        return ARRAY
    if kind == "neutral":
        return OTHER
    if kind != "stdlib":
        return None
    word = name.rpartition(".")[2]
    if package == "collections":
        return Mapped(None) if "ict" in word else Several(None) if word == "deque" else OTHER
    if package in _PASSING_ON:
        return arguments[-1] if word == "cast" and arguments else None
    if package == "random" and word in ("choice", "sample", "choices"):
        return element_of(arguments[0]) if word == "choice" and arguments else arguments[0] if arguments else None
    if package == "math":
        return NUMBER
    if package in ("json", "pickle", "copy", "types"):
        return None
    return TEXT if name.startswith(("os.path.", "os.environ")) else OTHER
