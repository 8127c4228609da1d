"""What an expression is."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, Final

from trueline.script.uses.annotations import annotated
from trueline.script.uses.calls import Calls, is_tensor
from trueline.script.uses.plain import element_of
from trueline.script.uses.use import UseKind
from trueline.script.uses.value import (
    ARRAY,
    NOTHING,
    NUMBER,
    OTHER,
    TEXT,
    FileRef,
    Instance,
    Made,
    Mapped,
    Ref,
    Several,
    Tuple,
    Value,
    joined,
)

_CONSTANTS: Final[dict[type, Value]] = {
    str: TEXT,
    bytes: TEXT,
    int: NUMBER,
    float: NUMBER,
    bool: NUMBER,
    complex: NUMBER,
    type(None): NOTHING,
}


class Expressions(Calls):
    """One method for each kind of expression."""

    def eval(self, node: ast.expr) -> Value | None:
        """What an expression is; its uses are kept."""
        handler = _HANDLERS.get(type(node))
        return handler(self, node) if handler is not None else self._rest(node)

    def _rest(self, node: ast.AST) -> Value | None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.eval(child)
        return None

    def _constant(self, node: ast.Constant) -> Value | None:
        return _CONSTANTS.get(type(node.value))

    def _name(self, node: ast.Name) -> Value | None:
        name = node.id
        value = self.lookup(name)
        if isinstance(value, Ref) and self.imported.get(name) is value:
            self.record(node, value.name, UseKind.VALUE)
        return value

    def _attribute(self, node: ast.Attribute) -> Value | None:
        value, direct = self.resolve(node.value)
        found = self.member(value, node, called=False)
        if direct and isinstance(found, Ref):
            self.record(node, found.name, UseKind.VALUE)
        return found

    def _call(self, node: ast.Call) -> Value | None:
        return self.call(node)

    def _operation(self, node: ast.BinOp) -> Value | None:
        left, right = self.eval(node.left), self.eval(node.right)
        for value in (left, right):
            if isinstance(value, Instance) and is_tensor(value):
                return value
        if left is TEXT:
            return TEXT
        if left is ARRAY or right is ARRAY:
            return ARRAY
        if left is NUMBER and right is NUMBER:
            return NUMBER
        if isinstance(left, Several | Tuple) and isinstance(node.op, ast.Add | ast.Mult):
            return Several(element_of(left) or element_of(right))
        return right if isinstance(right, Several) else None

    def _comparison(self, node: ast.Compare) -> Value | None:
        values = [self.eval(node.left), *(self.eval(value) for value in node.comparators)]
        if isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return NUMBER
        found = next((value for value in values if is_tensor(value)), None)
        return found or (ARRAY if ARRAY in values else NUMBER if None not in values else None)

    def _bool(self, node: ast.BoolOp) -> Value | None:
        values = [self.eval(value) for value in node.values]
        for value in values[:-1]:
            if isinstance(value, Instance) and is_tensor(value):
                self.remark("truth", node, self.text(node))
        found: Value | None = values[-1]
        for value in values[:-1]:
            found = value if found is None and isinstance(value, Ref | Several | Mapped) else joined(found, value)
        return found

    def _unary(self, node: ast.UnaryOp) -> Value | None:
        value = self.eval(node.operand)
        if isinstance(node.op, ast.Not):
            if isinstance(value, Instance) and is_tensor(value):
                self.remark("truth", node, self.text(node))
            return NUMBER
        return value

    def _choice(self, node: ast.IfExp) -> Value | None:
        self.truth(node.test)
        return joined(self.eval(node.body), self.eval(node.orelse))

    def truth(self, node: ast.expr) -> None:
        """A condition: graph mode cannot branch in Python on what a tensor holds."""
        value = self.eval(node)
        if isinstance(value, Instance) and is_tensor(value):
            self.remark("truth", node, self.text(node))

    def _subscript(self, node: ast.Subscript) -> Value | None:
        value = self.eval(node.value)
        place = node.slice
        at = self.eval(place) if not isinstance(place, ast.Constant) else None
        if isinstance(value, Instance):
            if is_tensor(value):
                if is_tensor(at) and isinstance(place, ast.Compare):
                    self.remark("dynamic_shape", node, self.text(node))
                return value
            if isinstance(place, ast.Slice) and value.type.startswith(("torch.nn.", "mindspore.nn.")):
                return value
            return element_of(value)
        if isinstance(value, Tuple):
            if isinstance(place, ast.Constant) and isinstance(place.value, int):
                return value.elements[place.value] if -1 <= place.value < len(value.elements) else None
            return Several(element_of(value)) if isinstance(place, ast.Slice) else element_of(value)
        if isinstance(value, Several):
            return value if isinstance(place, ast.Slice) else value.element
        return value.element if isinstance(value, Mapped) else None

    def _tuple(self, node: ast.Tuple) -> Value | None:
        if any(isinstance(one, ast.Starred) for one in node.elts):
            return self._list(node)
        return Tuple(tuple(self.eval(one) for one in node.elts))

    def _list(self, node: ast.List | ast.Set | ast.Tuple) -> Value | None:
        found: list[Value | None] = []
        for one in node.elts:
            value = self.eval(one.value if isinstance(one, ast.Starred) else one)
            found.append(element_of(value) if isinstance(one, ast.Starred) else value)
        return Several(_alike(found))

    def _dict(self, node: ast.Dict) -> Value | None:
        for key in node.keys:
            if key is not None:
                self.eval(key)
        return Mapped(_alike([self.eval(value) for value in node.values]))

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> Value | None:
        names = {name.id for one in node.generators for name in ast.walk(one.target) if isinstance(name, ast.Name)}
        held = {name: self.local[name] for name in names if name in self.local}
        for one in node.generators:
            self.assign(one.target, element_of(self.eval(one.iter)))
            for test in one.ifs:
                self.eval(test)
        if isinstance(node, ast.DictComp):
            self.eval(node.key)
            found: Value = Mapped(self.eval(node.value))
        else:
            found = Several(self.eval(node.elt))
        for name in names:
            self.local.pop(name, None)
        self.local.update(held)
        return found

    def _lambda(self, node: ast.Lambda) -> Value | None:
        self.remark("lambda", node)
        arguments = node.args
        for default in (*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)):
            self.eval(default)
        names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
        held = {name: self.local[name] for name in names if name in self.local}
        for name in names:
            self.local[name] = None
        self.eval(node.body)
        for name in names:
            self.local.pop(name, None)
        self.local.update(held)
        return None

    def _joined_text(self, node: ast.JoinedStr) -> Value | None:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.eval(part.value)
        return TEXT

    def _walrus(self, node: ast.NamedExpr) -> Value | None:
        self.remark("walrus", node, self.text(node))
        value = self.eval(node.value)
        self.local[node.target.id] = value
        return value

    def _yield(self, node: ast.Yield | ast.YieldFrom | ast.Await) -> Value | None:
        if not isinstance(node, ast.Await):
            self.remark("yield", node)
        if node.value is not None:
            self.eval(node.value)
        return None

    def _starred(self, node: ast.Starred) -> Value | None:
        return self.eval(node.value)

    def assign(self, target: ast.expr, value: Value | None) -> None:
        """Bind what is on the left side of an assignment."""
        match target:
            case ast.Name():
                self.local[target.id] = value
            case ast.Tuple() | ast.List():
                self._unpack(target.elts, value)
            case ast.Attribute():
                self._set_attribute(target, value)
            case ast.Subscript():
                held = self.eval(target.value)
                self.eval(target.slice)
                if isinstance(held, Instance) and is_tensor(held):
                    self.remark("slice_assign", target, self.text(target))
                elif isinstance(held, Mapped):
                    self.remark("dict_change", target, self.text(target))
                    if held.element is None and isinstance(target.value, ast.Name) and target.value.id in self.local:
                        self.local[target.value.id] = Mapped(value)
            case ast.Starred():
                self.assign(target.value, Several(element_of(value)))
            case _:
                pass

    def _unpack(self, targets: Sequence[ast.expr], value: Value | None) -> None:
        if isinstance(value, Tuple) and len(value.elements) == len(targets):
            for target, element in zip(targets, value.elements, strict=True):
                self.assign(target, element)
            return
        element = element_of(value)
        for target in targets:
            self.assign(target.value if isinstance(target, ast.Starred) else target, element)

    def _set_attribute(self, target: ast.Attribute, value: Value | None) -> None:
        base = target.value
        held, _ = self.resolve(base)
        if isinstance(held, Made):
            attributes = held.info.attributes
            name = target.attr
            if self.function is not None and self.function.node.name != "__init__":
                self.remark("attribute_change", target, self.text(target))
            attributes[name] = joined(attributes[name], value) if name in attributes else value
        elif isinstance(held, Ref):
            self.record(target, f"{held.name}.{target.attr}", UseKind.VALUE)
        elif held is OTHER and isinstance(base, ast.Name) and is_tensor(value):
            self.local[base.id] = None
        elif isinstance(held, Instance):
            self.member(held, target, called=False)

    def annotation(self, node: ast.expr | None) -> Value | None:
        """What an annotation says of a value; the frameworks' names in it are kept."""
        return annotated(self, node) if node is not None else None


def _alike(values: Sequence[Value | None]) -> Value | None:
    if not values:
        return None
    found = values[0]
    for value in values[1:]:
        found = joined(found, value)
    return found if not isinstance(found, FileRef) else None


_HANDLERS: Final[dict[type, Callable[[Expressions, Any], Value | None]]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Call: Expressions._call,
    ast.BinOp: Expressions._operation,
    ast.Compare: Expressions._comparison,
    ast.BoolOp: Expressions._bool,
    ast.UnaryOp: Expressions._unary,
    ast.IfExp: Expressions._choice,
    ast.Subscript: Expressions._subscript,
    ast.Tuple: Expressions._tuple,
    ast.List: Expressions._list,
    ast.Set: Expressions._list,
    ast.Dict: Expressions._dict,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
    ast.Lambda: Expressions._lambda,
    ast.JoinedStr: Expressions._joined_text,
    ast.NamedExpr: Expressions._walrus,
    ast.Yield: Expressions._yield,
    ast.YieldFrom: Expressions._yield,
    ast.Await: Expressions._yield,
    ast.Starred: Expressions._starred,
}
