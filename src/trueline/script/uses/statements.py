"""What statements bind, and how branches come together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from trueline.script.uses.calls import is_tensor
from trueline.script.uses.expressions import Expressions
from trueline.script.uses.plain import element_of
from trueline.script.uses.roles import family_of, role_of
from trueline.script.uses.state import Scope
from trueline.script.uses.use import UseKind
from trueline.script.uses.value import (
    TENSORS,
    Instance,
    Ref,
    Several,
    joined,
)


class Statements(Expressions):
    """One method for each kind of statement; each says whether nothing after it is reached."""

    def block(self, statements: Sequence[ast.stmt]) -> bool:
        """Statements in order; whether they end in return, raise, break or continue."""
        ended = False
        for node in statements:
            handler = _HANDLERS.get(type(node))
            if handler is not None and handler(self, node):
                ended = True
        return ended

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        raise NotImplementedError

    def _class(self, node: ast.ClassDef) -> None:
        raise NotImplementedError

    def _expression(self, node: ast.Expr) -> None:
        if type(node.value) is not ast.Constant:
            self.eval(node.value)

    def _assign(self, node: ast.Assign) -> None:
        value = self.eval(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _augmented(self, node: ast.AugAssign) -> None:
        value = self.eval(node.value)
        target = node.target
        if isinstance(target, ast.Name):
            held = self.lookup(target.id)
            if is_tensor(value) and not is_tensor(held):
                self.local[target.id] = value
            elif isinstance(held, Several) and held.element is None:
                self.local[target.id] = Several(element_of(value))
        elif isinstance(target, ast.Subscript):
            self.assign(target, value)
        elif isinstance(target, ast.Attribute):
            self.resolve(target.value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        said = self.annotation(node.annotation)
        value = self.eval(node.value) if node.value is not None else None
        if node.value is not None or said is not None:
            self.assign(node.target, value if value is not None else said)

    def _return(self, node: ast.Return) -> bool:
        value = self.eval(node.value) if node.value is not None else None
        info = self.function
        if info is not None and node.value is not None:
            info.result = joined(info.result, value) if info.returned else value
            info.returned = True
        return True

    def _ended(self, node: ast.Raise | ast.Break | ast.Continue) -> bool:
        if isinstance(node, ast.Raise) and node.exc is not None:
            self.eval(node.exc)
        return True

    def _assert(self, node: ast.Assert) -> None:
        self.truth(node.test)
        if node.msg is not None:
            self.eval(node.msg)

    def _if(self, node: ast.If) -> bool:
        self.truth(node.test)
        before = dict(self.local)
        self._narrow(node.test)
        ended = self.block(node.body)
        after = dict(self.local)
        self._put_back(before)
        ended_otherwise = self.block(node.orelse)
        if ended_otherwise:
            self._put_back(after)
        elif not ended:
            self._join(after)
        return ended and ended_otherwise and bool(node.orelse)

    def _narrow(self, test: ast.expr) -> None:
        """What ``isinstance(x, torch.Tensor)`` says of x where it holds."""
        match test:
            case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=name), type]):
                value, _ = self.resolve(type) if isinstance(type, ast.Name | ast.Attribute) else (None, False)
                if isinstance(value, Ref) and role_of(value.name) == "tensor":
                    self.local[name] = TENSORS[family_of(value.name)]
                elif isinstance(type, ast.Name) and type.id in ("list", "tuple") and is_tensor(self.lookup(name)):
                    self.local[name] = Several(self.lookup(name))
            case _:
                pass

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        element = element_of(self.eval(node.iter))
        before = dict(self.local)
        self.assign(node.target, element)
        self.block(node.body)
        self._join(before)
        self.block(node.orelse)

    def _while(self, node: ast.While) -> None:
        self.truth(node.test)
        before = dict(self.local)
        self.block(node.body)
        self._join(before)
        self.block(node.orelse)

    def _with(self, node: ast.With | ast.AsyncWith) -> bool:
        for item in node.items:
            value = self.eval(item.context_expr)
            if value is None or (isinstance(value, Instance) and value.type == "other"):
                self.remark("with", node, self.text(item.context_expr))
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
        return self.block(node.body)

    def _try(self, node: ast.Try) -> bool:
        self.remark("try", node)
        before = dict(self.local)
        ended = self.block(node.body) or self.block(node.orelse)
        after = dict(self.local)
        all_ended = ended
        for handler in node.handlers:
            self._put_back(before)
            if handler.type is not None:
                self.eval(handler.type)
            if self.block(handler.body):
                continue
            all_ended = False
            if ended:
                after, ended = dict(self.local), False
            else:
                self._join(after)
                after = dict(self.local)
        self._put_back(after)
        return self.block(node.finalbody) or all_ended

    def _global(self, node: ast.Global | ast.Nonlocal) -> None:
        self.remark("global" if isinstance(node, ast.Global) else "nonlocal", node, ", ".join(node.names))

    def _delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if not isinstance(target, ast.Name):
                self.eval(target)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for name, value in self.imports.bound(node, self.path):
            self.local[name] = value
            if isinstance(value, Ref):
                self.imported[name] = value
                if family := family_of(value.name):
                    self.frameworks.add(family)

    def _match(self, node: ast.Match) -> None:
        self.eval(node.subject)
        for case in node.cases:
            before = dict(self.local)
            self.block(case.body)
            self._join(before)

    def _put_back(self, scope: Scope) -> None:
        self.local.clear()
        self.local.update(scope)

    def _join(self, other: Scope) -> None:
        """Two ways have led here: what is not the same on both is what both have in common."""
        local = self.local
        for name, value in other.items():
            if name not in local:
                local[name] = value
            elif (held := local[name]) is not value:
                local[name] = joined(held, value)

    def decorated(self, node: ast.expr) -> str:
        """Keep a decorator; its name, where it is one of Python's."""
        if isinstance(node, ast.Call):
            self.call(node, UseKind.DECORATOR)
            return ""
        value, direct = self.resolve(node)
        if isinstance(value, Ref) and direct:
            self.record(node, value.name, UseKind.DECORATOR)
        if isinstance(node, ast.Name):
            return {"staticmethod": "static", "classmethod": "class", "property": "property"}.get(node.id, "")
        return ""


_HANDLERS: Final[dict[type, Callable[[Any, Any], bool | None]]] = {
    ast.FunctionDef: lambda reader, node: reader._function(node),
    ast.AsyncFunctionDef: lambda reader, node: reader._function(node),
    ast.ClassDef: lambda reader, node: reader._class(node),
    ast.Expr: Statements._expression,
    ast.Assign: Statements._assign,
    ast.AugAssign: Statements._augmented,
    ast.AnnAssign: Statements._annotated,
    ast.Return: Statements._return,
    ast.Raise: Statements._ended,
    ast.Break: Statements._ended,
    ast.Continue: Statements._ended,
    ast.Assert: Statements._assert,
    ast.If: Statements._if,
    ast.For: Statements._for,
    ast.AsyncFor: Statements._for,
    ast.While: Statements._while,
    ast.With: Statements._with,
    ast.AsyncWith: Statements._with,
    ast.Try: Statements._try,
    ast.TryStar: Statements._try,
    ast.Global: Statements._global,
    ast.Nonlocal: Statements._global,
    ast.Delete: Statements._delete,
    ast.Import: Statements._import,
    ast.ImportFrom: Statements._import,
    ast.Match: Statements._match,
}
