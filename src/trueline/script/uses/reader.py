"""One file read once: its functions as they are called, the rest in order."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from trueline.script.project import Project
from trueline.script.source import SourceFile
from trueline.script.uses.calls import is_tensor
from trueline.script.uses.imports import Imports, derive
from trueline.script.uses.state import Scope
from trueline.script.uses.statements import Statements
from trueline.script.uses.use import Use, UseKind
from trueline.script.uses.value import (
    NOTHING,
    TENSORS,
    ClassInfo,
    ClassRef,
    FunctionInfo,
    FunctionRef,
    Instance,
    Made,
    Mapped,
    Ref,
    Several,
    Value,
    instance,
    joined,
)

# Functions that are read within each other, when one calls the next before it was read.
_MAX_DEPTH: Final = 12
_UNREAD, _READING, _READ = 0, 1, 2
_FORWARDS: Final = frozenset(("forward", "construct"))


class Reader(Statements):
    """Functions and classes: each body is read at its first call, or at the end of the file."""

    def read(self, tree: ast.Module) -> None:
        """Read a whole file."""
        self.block(tree.body)
        for known in self.classes:
            self.begin(known)
        # Those that frameworks call come first, then callers before what they call, which they tell the values of.
        for info in [info for info in self.functions if self._inputs(info) is not None]:
            self.read_function(info, {})
        done = 0
        while done < len(self.functions):
            # Reading one finds others within it.
            found, done = self.functions[done:], len(self.functions)
            for info in reversed(found):
                self.read_function(info, {})
        for info in self.functions:
            if info.disputed:
                info.state, info.result, info.returned = _UNREAD, None, False
                info.uses, info.remarks = [], []
                self._read(info)

    def found(self) -> Iterator[Use]:
        """All uses, in no order."""
        yield from self.uses
        for info in self.functions:
            yield from info.uses

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._define(node, None)

    def _define(self, node: ast.FunctionDef | ast.AsyncFunctionDef, owner: ClassInfo | None) -> FunctionInfo:
        forms = [self.decorated(one) for one in node.decorator_list]
        arguments = node.args
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.eval(default)
        prefix = f"{self.scope}." if self.scope else ""
        name = f"{owner.name}.{node.name}" if owner is not None else f"{prefix}{node.name}"
        form = next((form for form in forms if form), "")
        info = FunctionInfo(node, name, (self.local, *self.outer), owner, form)
        self.functions.append(info)
        if owner is None:
            self.local[node.name] = FunctionRef(info)
            if self.function is not None:
                self.remark("closure", node, node.name)
        return info

    def _class(self, node: ast.ClassDef) -> None:
        for one in node.decorator_list:
            self.decorated(one)
        bases: list[Value | None] = []
        for base in node.bases:
            value, direct = self.resolve(base)
            if isinstance(value, Ref) and direct:
                self.record(base, value.name, UseKind.BASE)
            bases.append(value)
        for keyword in node.keywords:
            self.eval(keyword.value)
        info = ClassInfo(node.name, str(self.path), node.lineno, bases)
        derive(info)
        self.local[node.name] = ClassRef(info)
        self.classes.append(info)
        methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
        if not info.network and not info.framework_base and None in bases and methods & _FORWARDS:
            # Its base is not to be seen, but it has a forward pass.
            info.network = "mindspore" if "construct" in methods else "torch" if "torch" in self.frameworks else ""
        self._body(node, info)

    def _body(self, node: ast.ClassDef, info: ClassInfo) -> None:
        """Methods, and attributes of the class itself."""
        held, owner = self.local, self.owner
        outer = self.outer
        self.local, self.outer, self.owner = info.attributes, (held, *outer), info
        for one in node.body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                # A method does not see the names of its class.
                self.local, self.outer = held, outer
                info.methods[one.name] = self._define(one, info)
                self.local, self.outer = info.attributes, (held, *outer)
            else:
                self.block((one,))
        self.local, self.outer, self.owner = held, outer, owner

    def begin(self, info: ClassInfo) -> None:
        """Read what makes the attributes of a class, once."""
        if info.begun:
            return
        info.begun = True
        for base in info.bases:
            if isinstance(base, ClassRef):
                self.begin(base.info)
        for name in ("__init__", "__post_init__", "setup", "build"):
            method = info.methods.get(name)
            if method is not None and method.state == _UNREAD:
                self.read_function(method, {})

    def read_function(self, info: FunctionInfo, given: Scope) -> Value | None:
        """What a function returns; its body is read at the first call."""
        if info.state == _UNREAD:
            if self.depth >= _MAX_DEPTH:
                return None
            info.given = given
            self._read(info)
        elif given and not info.disputed:
            self._dispute(info, given)
        return info.result if info.state == _READ else None

    def _dispute(self, info: FunctionInfo, given: Scope) -> None:
        """Another call gives other values: the body is read once more, with what all calls have in common."""
        for name, value in given.items():
            if name not in info.given:
                continue
            held = info.given[name]
            if held is not value and held != value:
                common = joined(held, value)
                if common != held:
                    info.given[name] = common
                    info.disputed = info.state == _READ

    def _read(self, info: FunctionInfo) -> None:
        node, owner = info.node, info.owner
        if owner is not None:
            self.begin(owner)
        held = (self.local, self.outer, self.uses, self.function, self.owner, self.scope)
        info.state = _READING
        local: Scope = {}
        self.local, self.outer = local, info.scopes
        self.uses, self.function, self.owner, self.scope = info.uses, info, owner or held[4], info.name
        self.depth += 1
        try:
            self._bind(info, local)
            said = self.annotation(node.returns)
            self.block(node.body)
            if said is not None and info.result is None:
                info.result = said
        finally:
            self.depth -= 1
            self.local, self.outer, self.uses, self.function, self.owner, self.scope = held
        info.state = _READ

    def _bind(self, info: FunctionInfo, local: Scope) -> None:
        """What parameters are: by the call, their annotations, their defaults, or as inputs of a forward pass."""
        node, owner = info.node, info.owner
        arguments = node.args
        names = [*arguments.posonlyargs, *arguments.args]
        defaults = [*[None] * (len(names) - len(arguments.defaults)), *arguments.defaults]
        names += arguments.kwonlyargs
        defaults += arguments.kw_defaults
        forward = self._inputs(info)
        for place, (name, default) in enumerate(zip(names, defaults, strict=True)):
            if place == 0 and owner is not None and info.form != "static" and name.arg not in info.given:
                local[name.arg] = ClassRef(owner) if info.form == "class" else self._self(owner, info)
                continue
            said = self.annotation(name.annotation)
            value = info.given.get(name.arg)
            if value is None or value is NOTHING or is_tensor(said):
                value = said if said is not None else self._default(default, forward)
            local[name.arg] = value
        if arguments.vararg is not None:
            local[arguments.vararg.arg] = Several(forward)
        if arguments.kwarg is not None:
            local[arguments.kwarg.arg] = Mapped(forward)

    def _self(self, owner: ClassInfo, info: FunctionInfo) -> Value | None:
        if info.node.name in ("forward", "backward") and owner.framework_base == "torch.autograd.Function":
            return instance("torch.autograd.Function")
        return Made(owner)

    def _inputs(self, info: FunctionInfo) -> Instance | None:
        """What the inputs of a function are that frameworks call: tensors, for a forward pass."""
        owner = info.owner
        if owner is None or info.node.name not in (*_FORWARDS, "backward", "bprop"):
            return None
        if owner.network:
            return TENSORS[owner.network]
        return TENSORS["torch"] if owner.framework_base == "torch.autograd.Function" else None

    def _default(self, default: ast.expr | None, forward: Instance | None) -> Value | None:
        if default is None:
            return forward
        # Kept where the function is defined.
        held, self.uses = self.uses, []
        value = self.eval(default)
        self.uses = held
        if value is NOTHING:
            return forward
        return value


def read_file(source: SourceFile, imports: Imports) -> Reader:
    """A file, read; nothing is found in one that could not be parsed."""
    reader = Reader(source, imports)
    reader.read(source.tree)
    return reader


def uses_of(source: SourceFile, project: Project | None = None) -> list[Use]:
    """Every use of an API of torch, MindSpore and what is built on them, in the order of the source.

    ``project`` finds the files that are imported; without it a file is read by itself.
    """
    found = read_file(source, Imports(project)).found()
    return sorted(found, key=lambda use: (use.line, use.column, use.end))
