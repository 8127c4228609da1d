"""What the expressions of a file are: tensors, networks, optimizers, loaders; "" where it cannot be told."""

from __future__ import annotations

import ast
from typing import Final

from trueline.apitable.pairs import Kind, kind_of
from trueline.migrate.rewrite.classes import Classes, is_layer_class, methods
from trueline.migrate.rewrite.names import Names, Scope

TENSOR: Final = "tensor"
TENSORS: Final = "tensors"  # several in a tuple
MODULE: Final = "module"
OPTIMIZER: Final = "optimizer"
SCHEDULE: Final = "schedule"
LOADER: Final = "loader"
DATASET: Final = "dataset"
SHAPE: Final = "shape"
NUMBER: Final = "number"
ARRAY: Final = "array"
DEVICE: Final = "device"
OTHER: Final = "other"
_PLAIN: Final = ("int", "float", "str", "bool", "list", "dict", "len", "range", "min", "max", "sum")
_METHODS: Final = {
    "size": SHAPE, "dim": NUMBER, "numel": NUMBER, "item": NUMBER, "tolist": OTHER, "numpy": ARRAY,
    "split": TENSORS, "chunk": TENSORS, "unbind": TENSORS, "topk": TENSORS, "sort": TENSORS,
}  # fmt: skip
_TUPLES: Final = ("split", "chunk", "unbind", "topk", "sort", "meshgrid", "tensor_split")
_USED_AS: Final = {
    "zero_grad": OPTIMIZER, "parameters": MODULE, "eval": MODULE, "named_parameters": MODULE, "set_train": MODULE,
    "param_groups": OPTIMIZER, "get_last_lr": SCHEDULE, "backward": TENSOR,
    "unsqueeze": TENSOR, "permute": TENSOR, "detach": TENSOR, "requires_grad_": TENSOR, "masked_fill": TENSOR,
}  # fmt: skip
_ONLY_TENSORS: Final = (
    "detach", "unsqueeze", "permute", "contiguous", "masked_fill", "cuda", "cpu", "softmax", "log_softmax", "sigmoid",
    "view_as", "expand_as", "type_as", "bmm", "clamp", "triu", "tril",
)  # fmt: skip
# What a network is asked for one by one; with its name where the method says so.
_PARTS: Final = {
    "parameters": TENSOR, "named_parameters": TENSOR, "buffers": TENSOR, "named_buffers": TENSOR,
    "modules": MODULE, "named_modules": MODULE, "children": MODULE, "named_children": MODULE,
}  # fmt: skip
_PASSES: Final = 4


class Kinds:
    """The kinds of one file's expressions."""

    def __init__(self, names: Names, classes: Classes) -> None:
        self._names = names
        self._classes = classes
        self._known: dict[tuple[ast.AST, str], str] = {}
        self._attributes: dict[tuple[str, str], str] = {}
        self._asked: set[ast.AST] = set()
        calls = [node.func for node in ast.walk(names.tree) if isinstance(node, ast.Call)]
        self._called = {one.id for one in calls if isinstance(one, ast.Name)}
        for _ in range(_PASSES):
            before = (dict(self._known), dict(self._attributes))
            self._read()
            if before == (self._known, self._attributes):
                break

    def of(self, node: ast.expr) -> str:
        """The kind of an expression."""
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.Constant(value=bool() | int() | float()):
                return NUMBER
            case ast.List(elts=elements) | ast.Tuple(elts=elements) if elements:
                return TENSORS if all(self.of(one) == TENSOR for one in elements) else OTHER
            case ast.ListComp(elt=element) | ast.GeneratorExp(elt=element):
                return TENSORS if self.of(element) == TENSOR else ""
            case ast.Constant() | ast.List() | ast.Dict() | ast.JoinedStr():
                return OTHER
            case ast.BinOp(left=left, right=right):
                return self._joined(left, right)
            case ast.Compare(left=left, comparators=[right]):
                return TENSOR if TENSOR in (self.of(left), self.of(right)) else OTHER
            case ast.UnaryOp(operand=operand):
                return self.of(operand)
            case ast.IfExp(body=body, orelse=other):
                return self.of(body) or self.of(other)
            case ast.Subscript(value=value, slice=index):
                kind = self.of(value)
                if kind == SHAPE:
                    return SHAPE if isinstance(index, ast.Slice) else NUMBER
                return {TENSORS: TENSOR}.get(kind, kind)
            case ast.NamedExpr(value=value):
                return self.of(value)
        return ""

    def _joined(self, left: ast.expr, right: ast.expr) -> str:
        kinds = (self.of(left), self.of(right))
        for kind in (TENSOR, ARRAY):
            if kind in kinds:
                return kind
        return kinds[0] if kinds[0] == kinds[1] else ""

    def _name(self, node: ast.Name) -> str:
        scope: Scope = self._names.scope(node)
        while True:
            found = self._known.get((scope, node.id))
            if found is not None:
                return found
            if isinstance(scope, ast.Module):
                return ""
            scope = self._names.scope(scope)

    def _attribute(self, node: ast.Attribute) -> str:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            return self._attributes.get((self._class(node), node.attr), "")
        base = self.of(node.value)
        if base == TENSOR:
            return {"shape": SHAPE, "T": TENSOR, "data": TENSOR, "grad": TENSOR, "ndim": NUMBER}.get(node.attr, OTHER)
        if base == MODULE and node.attr in ("weight", "bias"):
            return TENSOR
        return ""

    def _is_network(self, node: ast.expr) -> bool:
        own = isinstance(node, ast.Name) and node.id == "self" and self._class(node) in self._classes.modules
        return own or self.of(node) == MODULE

    def _class(self, node: ast.AST) -> str:
        for one in self._names.enclosing(node):
            if isinstance(one, ast.ClassDef):
                return one.name
        return ""

    def _call(self, node: ast.Call) -> str:
        full = self._names.full(node.func)
        if full.startswith("torch"):
            return self._torch_call(full)
        if full.startswith("numpy."):
            return ARRAY
        function = node.func
        if isinstance(function, ast.Name):
            if function.id in self._classes.datasets:
                return DATASET
            if function.id in self._classes.modules or function.id in self._classes.builders:
                return MODULE
            if function.id == "map" and len(node.args) == 2:
                return TENSORS if self._returned(node.args[0]) == TENSOR else ""
            if function.id in _PLAIN:
                return NUMBER if function.id in ("int", "float", "len") else OTHER
            return TENSOR if self.of(function) == MODULE else self._returned(function)
        if isinstance(function, ast.Attribute):
            base = self.of(function.value)
            if base == TENSOR:
                if function.attr in ("max", "min", "median", "mode") and (node.args or node.keywords):
                    return TENSORS
                if function.attr == "size" and node.args:
                    return NUMBER
                return _METHODS.get(function.attr, TENSOR)
            if base == MODULE and function.attr in ("to", "cuda", "cpu", "train", "eval", "float", "half", "double"):
                return MODULE
            if base == MODULE and function.attr == "forward":
                return TENSOR
            if base == ARRAY:
                return ARRAY
            if not base and function.attr in _ONLY_TENSORS:
                return TENSOR
            if function.attr in self._classes.modules:
                return MODULE
            return TENSOR if self.of(function) == MODULE else self._returned(function)
        return TENSOR if self.of(function) == MODULE else ""

    def _function(self, node: ast.expr) -> ast.FunctionDef | None:
        """The function of this file that a name or an attribute of self is."""
        if isinstance(node, ast.Name):
            found = [one for names, one in self._classes.functions.get(node.id, ()) if names is self._names]
            return found[0] if found else None
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            for one in self._names.enclosing(node):
                if isinstance(one, ast.ClassDef):
                    return methods(one).get(node.attr)
        return None

    def _returned(self, node: ast.expr) -> str:
        """What a function of this file gives, where all its returns are of one kind."""
        function = self._function(node)
        if function is None or function in self._asked:
            return ""
        # A function that calls itself is asked once.
        self._asked.add(function)
        returned = [one.value for one in ast.walk(function) if isinstance(one, ast.Return) and one.value is not None]
        kinds = {self.of(one) for one in returned}
        self._asked.discard(function)
        return kinds.pop() if len(kinds) == 1 else ""

    def _torch_call(self, full: str) -> str:
        word = full.rpartition(".")[2]
        if full in ("torch.device", "torch.cuda.is_available"):
            return DEVICE
        if full in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
            return TENSOR
        if full == "torch.utils.data.DataLoader":
            return LOADER
        if full.startswith("torch.utils.data."):
            return DATASET
        kind = kind_of(full)
        if kind in (Kind.LAYER, Kind.LOSS):
            return MODULE
        if kind is Kind.OPTIMIZER:
            return OPTIMIZER
        if kind is Kind.SCHEDULE:
            return SCHEDULE
        if full.startswith("torchvision.models.") or is_layer_class(full):
            return MODULE
        if full.startswith("torchvision.datasets."):
            return DATASET
        if full.startswith(("torch.nn.functional.", "torch.linalg.")) or full.count(".") == 1:
            return TENSORS if word in _TUPLES else OTHER if word in ("save", "load", "manual_seed") else TENSOR
        return OTHER

    def _read(self) -> None:
        """One pass over the assignments, loops, parameters and calls of the file."""
        for node in ast.walk(self._names.tree):
            match node:
                case ast.Assign(targets=targets, value=value):
                    for target in targets:
                        self._bind(target, value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    self._bind(target, value)
                case ast.AugAssign(target=ast.Name() as target, value=value):
                    if self.of(value) == TENSOR and not self._name(target):
                        self._set(target, TENSOR)
                case ast.For(target=target, iter=iterated):
                    self._loop(target, iterated)
                case ast.comprehension(target=target, iter=iterated):
                    self._loop(target, iterated)
                case ast.FunctionDef():
                    self._parameters(node)
                case ast.Call(func=ast.Attribute(value=ast.Name() as held, attr="append"), args=[added]):
                    if self.of(added) == TENSOR and self._name(held) in ("", OTHER):
                        self._set(held, TENSORS)
                case ast.Call():
                    self._pass(node)
                case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
                    self._bind(target, value)
                case ast.Attribute(value=ast.Name() as name, attr="train") if name.id in self._called:
                    if not self._name(name) and name.id not in self._names.aliases:
                        self._set(name, MODULE)
                case ast.Attribute(value=ast.Name() as name, attr=attr) if attr in _USED_AS:
                    if not self._name(name) and name.id not in self._names.aliases and name.id != "self":
                        self._set(name, _USED_AS[attr])
                case ast.Attribute(value=ast.Attribute(value=ast.Name(id="self")) as held, attr=attr):
                    if attr in _USED_AS:
                        self._attributes.setdefault((self._class(held), held.attr), _USED_AS[attr])

    def _bind(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                for one, given in zip(target.elts, value.elts, strict=True):
                    self._bind(one, given)
                return
            kind = self.of(value)
            inner = {TENSORS: TENSOR, TENSOR: TENSOR, SHAPE: NUMBER}.get(kind)
            # A network or function may return several: what it gives are tensors, or tuples of them.
            for one in target.elts:
                if inner and isinstance(one, ast.Name):
                    self._set(one, inner)
                elif inner and isinstance(one, ast.Tuple):
                    for deeper in one.elts:
                        if isinstance(deeper, ast.Name):
                            self._set(deeper, inner)
            return
        kind = self.of(value)
        if not kind:
            return
        if isinstance(target, ast.Name):
            self._set(target, kind)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            key = (self._class(target), target.attr)
            if self._attributes.get(key, OTHER) == OTHER:
                self._attributes[key] = kind

    def _set(self, name: ast.Name, kind: str) -> None:
        key = (self._names.scope(name), name.id)
        if self._known.get(key, OTHER) in (OTHER, NUMBER):
            self._known[key] = kind

    def _loop(self, target: ast.expr, iterated: ast.expr) -> None:
        if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Name):
            if iterated.func.id == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
                self._set_all(target.elts[0], NUMBER)
                self._loop(target.elts[1], iterated.args[0])
                return
            if iterated.func.id == "zip" and isinstance(target, ast.Tuple):
                for one, given in zip(target.elts, iterated.args, strict=False):
                    self._loop(one, given)
                return
            if iterated.func.id in ("tqdm", "reversed", "list", "iter") and iterated.args:
                self._loop(target, iterated.args[0])
                return
            if iterated.func.id == "range":
                self._set_all(target, NUMBER)
                return
        if isinstance(iterated, ast.Call) and isinstance(iterated.func, ast.Attribute) and not iterated.args:
            kind = _PARTS.get(iterated.func.attr, "")
            if kind and self._is_network(iterated.func.value):
                named = isinstance(target, ast.Tuple) and iterated.func.attr.startswith("named_")
                self._set_all(target.elts[-1] if isinstance(target, ast.Tuple) and named else target, kind)
                return
        kind = self.of(iterated)
        if kind == LOADER:
            self._set_all(target, TENSOR)
        elif kind in (MODULE, TENSOR, TENSORS):
            self._set_all(target, {TENSORS: TENSOR}.get(kind, kind))

    def _set_all(self, target: ast.expr, kind: str) -> None:
        for node in ast.walk(target):
            if isinstance(node, ast.Name):
                self._set(node, kind)

    def _parameters(self, function: ast.FunctionDef) -> None:
        owner = self._names.parents.get(function)
        network = isinstance(owner, ast.ClassDef) and owner.name in self._classes.modules
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        plain = [*function.args.posonlyargs, *function.args.args]
        defaults = dict(
            zip(
                [one.arg for one in plain[len(plain) - len(function.args.defaults) :]],
                function.args.defaults,
                strict=True,
            )
        )
        for argument in arguments:
            key = (function, argument.arg)
            if argument.arg in ("self", "cls") or key in self._known:
                continue
            annotation = self._names.full(argument.annotation) if argument.annotation is not None else ""
            kind = {"torch.Tensor": TENSOR, "torch.nn.Module": MODULE, "torch.utils.data.DataLoader": LOADER}.get(
                annotation, ""
            )
            if annotation.startswith("torch.optim"):
                kind = OPTIMIZER
            if not kind and network and function.name == "forward":
                default = defaults.get(argument.arg)
                typed = isinstance(argument.annotation, ast.Name) and argument.annotation.id in _PLAIN
                if not typed and (default is None or getattr(default, "value", 0) is None):
                    kind = TENSOR
            if kind:
                self._known[key] = kind

    def _pass(self, call: ast.Call) -> None:
        """What a call hands to a function of the same project, by its name."""
        if isinstance(call.func, ast.Name) and call.func.id == "map" and len(call.args) == 2:
            mapped = self._function(call.args[0])
            if mapped is not None and self.of(call.args[1]) == TENSORS:
                self._hand(mapped, [(mapped.args.args[-1].arg, TENSOR)])
            return
        if isinstance(call.func, ast.Attribute) and call.func.attr == "apply" and len(call.args) == 1:
            # A network hands its parts to the function one by one.
            applied = self._function(call.args[0])
            if applied is not None and applied.args.args and self._is_network(call.func.value):
                self._hand(applied, [(applied.args.args[-1].arg, MODULE)])
            return
        if isinstance(call.func, ast.Name) and call.func.id == "isinstance" and len(call.args) == 2:
            asked = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else [call.args[1]]
            if isinstance(call.args[0], ast.Name) and all(is_layer_class(self._names.full(one)) for one in asked):
                self._set(call.args[0], MODULE)
            return
        first = call.args[0] if call.args else None
        if isinstance(first, ast.Name) and not self._name(first) and self.of(call.func) == MODULE:
            # What a network is called with first is a tensor where nothing else is known of it.
            self._set(first, TENSOR)
        function = self._function(call.func)
        if function is None:
            return
        plain = [one.arg for one in (*function.args.posonlyargs, *function.args.args) if one.arg not in ("self", "cls")]
        given = [*zip(plain, call.args, strict=False), *((one.arg, one.value) for one in call.keywords)]
        self._hand(function, [(name, self.of(value)) for name, value in given if name is not None])

    def _hand(self, function: ast.FunctionDef, given: list[tuple[str, str]]) -> None:
        for name, kind in given:
            if kind and (function, name) not in self._known:
                self._known[(function, name)] = kind
