"""What an attribute of a value is."""

from __future__ import annotations

import ast

from trueline.apitable.given import constants
from trueline.script.uses.roles import base_of, family_of, has_attribute, module_of, of_module, of_tensor, role_of
from trueline.script.uses.state import State
from trueline.script.uses.use import UseKind
from trueline.script.uses.value import (
    ARRAY,
    NUMBER,
    OTHER,
    PLAIN,
    SIZE,
    TENSORS,
    TEXT,
    ClassInfo,
    ClassRef,
    FileRef,
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
    ref,
)

_WEIGHTS = frozenset(
    ("weight", "bias", "running_mean", "running_var", "gamma", "beta", "moving_mean", "in_proj_weight")
)
_OF_ARRAYS: dict[str, Value] = {"shape": SIZE, "dtype": OTHER, "ndim": NUMBER, "size": NUMBER}


class Members(State):
    """Attributes: of modules and classes of frameworks, of tensors, and of the script's own objects."""

    def member(self, value: Value | None, node: ast.Attribute, *, called: bool) -> Value | None:
        """What ``value.attr`` is; an attribute of an object of a framework is kept as a use unless it is called."""
        name = node.attr
        match value:
            case None:
                return None
            case Ref():
                return self._of_module(value, node)
            case Instance():
                return self._of_instance(value, node, called=called)
            case Made():
                return self._of_object(value, node, called=called)
            case Mapped() | Several() | Tuple():
                if not called and isinstance(value, Several) and name in ("values", "indices"):
                    return value.element
                return None
            case ClassRef():
                return self.of_class(value.info, name, None)
            case FileRef():
                return self.imports.member(value, name)
            case Super():
                return self._of_super(value, name)
            case _:
                return OTHER

    def _of_module(self, value: Ref, node: ast.Attribute) -> Value | None:
        full = f"{value.name}.{node.attr}"
        kind = constants().get(full)
        if kind is not None:
            self.record(node, full, UseKind.VALUE)
            return TEXT if kind == "str" else NUMBER
        return ref(full)

    def _of_instance(self, value: Instance, node: ast.Attribute, *, called: bool) -> Value | None:
        type, name = value.type, node.attr
        if type in PLAIN:
            if type == "numpy":
                return _OF_ARRAYS.get(name, ARRAY)
            return TEXT if type == "str" else OTHER
        base = base_of(type)
        if not has_attribute(base, name):
            return self._without_list(value, node, called=called)
        if called:
            return Method(value, name)
        return self._attribute_used(value, base, node)

    def _without_list(self, value: Instance, node: ast.Attribute, *, called: bool) -> Value | None:
        """An attribute that the object's kind does not offer by its list of names."""
        family, role, name = family_of(value.type), role_of(value.type), node.attr
        if role == "module":
            return TENSORS[family] if name in _WEIGHTS else None
        if role == "optimizer":
            return Several(Mapped(None)) if name == "param_groups" else OTHER
        if role in ("tensor", "dataset", "transform", "loader") or not family:
            return None
        if called:
            return Method(value, name)
        return OTHER if role == "schedule" else None

    def _attribute_used(self, value: Instance, base: str, node: ast.Attribute) -> Value | None:
        self.record(node, f"{base}.{node.attr}", UseKind.ATTRIBUTE, receiver=self.text(node.value))
        family, role = family_of(value.type), role_of(value.type)
        if role == "tensor":
            return of_tensor(family, node.attr)
        if role == "module":
            return of_module(family, node.attr, value)
        return None

    def _of_object(self, value: Made, node: ast.Attribute, *, called: bool) -> Value | None:
        info, name = value.info, node.attr
        self.begin(info)
        if self.has(info, name):
            return self.of_class(info, name, value)
        base = "torch.nn.Module" if info.network == "torch" else "mindspore.nn.Cell" if info.network else ""
        if not base and info.framework_base:
            base = base_of(info.framework_base)
        if base and has_attribute(base, name):
            if called:
                return Method(value, name)
            self.record(node, f"{base}.{name}", UseKind.ATTRIBUTE, receiver=self.text(node.value))
            return of_module(info.network, name, value) if info.network else None
        return None

    def has(self, info: ClassInfo, name: str) -> bool:
        """Whether a class of the script, or one that it derives from, defines a name."""
        if name in info.attributes or name in info.methods:
            return True
        return any(isinstance(base, ClassRef) and self.has(base.info, name) for base in info.bases)

    def of_class(self, info: ClassInfo, name: str, bound: Value | None) -> Value | None:
        """A name of a class of the script, by what it or its base defines."""
        if name in info.attributes:
            return info.attributes[name]
        method = info.methods.get(name)
        if method is not None:
            if method.form == "property":
                return self.read_function(method, {})
            return FunctionRef(method, ClassRef(info) if method.form == "class" else bound)
        for base in info.bases:
            if isinstance(base, ClassRef):
                self.begin(base.info)
                if self.has(base.info, name):
                    return self.of_class(base.info, name, bound)
        return None

    def _of_super(self, value: Super, name: str) -> Value | None:
        info = value.info
        for base in info.bases:
            if isinstance(base, ClassRef) and self.has(base.info, name):
                return self.of_class(base.info, name, Made(info))
        if info.network and name in ("forward", "construct"):
            return module_of(info.network)
        return OTHER
