"""Networks as classes: the method that runs them, their modes, their children and their parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from trueline.apitable.layers import layer_of_class
from trueline.migrate.rewrite.edits import Span
from trueline.migrate.rewrite.kinds import MODULE
from trueline.migrate.rewrite.sheet import MINT, Sheet
from trueline.model.message import message

_LEAVES: Final = ("weight", "bias", "running_mean", "running_var")
_HOOKS: Final = (
    "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook", "register_backward_hook",
)  # fmt: skip
_NONE: Final = ("half", "double", "bfloat16", "share_memory", "requires_grad_", "zero_grad", "get_submodule")


def write_structure(sheet: Sheet) -> None:
    """Write the methods of networks and what is asked of them."""
    for node in ast.walk(sheet.tree):
        if isinstance(node, ast.ClassDef) and node.name in sheet.classes.modules:
            _class(sheet, node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            _method(sheet, node, node.func)
        elif isinstance(node, ast.Attribute) and node.attr in _LEAVES:
            _leaf(sheet, node)
        elif isinstance(node, ast.Attribute) and node.attr == "__name__":
            _class_name(sheet, node)
        if isinstance(node, ast.Call):
            _attention(sheet, node)
            _has_leaf(sheet, node)


def _class(sheet: Sheet, node: ast.ClassDef) -> None:
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "forward":
            start = sheet.text.index("forward", sheet.at.of(method).start)
            sheet.edits.replace(Span(start, start + len("forward")), "construct")
            sheet.note_done(method, "torch.nn.Module.forward", "construct")
        elif isinstance(method, ast.FunctionDef) and method.name in ("train", "eval", "parameters", "modules"):
            sheet.leave(method, method.name, message("rewrite.overrides", name=f"{node.name}.{method.name}"))


def _method(sheet: Sheet, call: ast.Call, function: ast.Attribute) -> None:
    if call in sheet.settled:
        return
    if function.attr == "forward":
        receiver = function.value
        own = isinstance(receiver, ast.Call) and isinstance(receiver.func, ast.Name) and receiver.func.id == "super"
        network = isinstance(receiver, ast.Name) and receiver.id == "self" and _in_network(sheet, call)
        if own or network or sheet.kinds.of(receiver) == MODULE:
            end = sheet.at.of(function).end
            sheet.edits.replace(Span(end - len("forward"), end), "construct")
            sheet.note_done(call, "torch.nn.Module.forward", "construct")
        return
    receiver = function.value
    network = isinstance(receiver, ast.Name) and receiver.id == "self" and _in_network(sheet, call)
    if not network and sheet.kinds.of(receiver) != MODULE:
        return
    name = f"torch.nn.Module.{function.attr}"
    if network and function.attr in _own_methods(sheet, call):
        return
    written = _written(sheet, call, function)
    if written is not None:
        became, pieces = written
        sheet.edits.replace(sheet.at.of(call), *pieces)
        sheet.settle(call)
        sheet.note_done(call, name, became)
    elif function.attr in _HOOKS or function.attr in _NONE:
        sheet.leave(call, name, message("rewrite.module_method", name=function.attr))


def _written(sheet: Sheet, call: ast.Call, function: ast.Attribute) -> tuple[str, list[str | Span]] | None:
    receiver = sheet.at.of(function.value)
    arguments = call.args
    match function.attr:
        case "train" if len(arguments) + len(call.keywords) <= 1:
            mode: list[str | Span] = ["True"]
            if arguments or call.keywords:
                mode = [sheet.at.of(arguments[0] if arguments else call.keywords[0].value)]
            return "set_train", [receiver, ".set_train(", *mode, ")"]
        case "eval" if not arguments:
            return "set_train", [receiver, ".set_train(False)"]
        case "modules" if not arguments:
            return "cells_and_names", ["(cell for _, cell in ", receiver, ".cells_and_names())"]
        case "named_modules" if not arguments:
            return "cells_and_names", [receiver, ".cells_and_names()"]
        case "children" if not arguments:
            return "cells", [receiver, ".cells()"]
        case "named_children" if not arguments:
            return "name_cells", [receiver, ".name_cells().items()"]
        case "parameters" if not arguments:
            if _into_optimizer(sheet, call):
                return "trainable_params", [receiver, ".trainable_params()"]
            return "parameters", [f"{sheet.wanted.helper('parameters')}(", receiver, ")"]
        case "named_parameters" if not arguments:
            return "named_parameters", [f"{sheet.wanted.helper('named_parameters')}(", receiver, ")"]
        case "add_module" | "register_module" if len(arguments) == 2:
            spans = [sheet.at.of(one) for one in arguments]
            if isinstance(function.value, ast.Name) and function.value.id == "self" and not _in_sequence(sheet, call):
                return "setattr", ["setattr(", receiver, ", ", spans[0], ", ", spans[1], ")"]
            helper = sheet.wanted.helper("add_module")
            return "add_module", [f"{helper}(", receiver, ", ", spans[0], ", ", spans[1], ")"]
        case "register_parameter" if len(arguments) == 2:
            spans = [sheet.at.of(one) for one in arguments]
            return "setattr", ["setattr(", receiver, ", ", spans[0], ", ", spans[1], ")"]
        case "to" | "cuda" | "cpu":
            if not isinstance(sheet.names.parents.get(call), ast.Expr):
                return "", [receiver]
            return "", ["pass"]
    return None


def _attention(sheet: Sheet, call: ast.Call) -> None:
    """Without its weights, torch's attention gives None beside its output, MindSpore's the output alone."""
    asked = next((one.value for one in call.keywords if one.arg == "need_weights"), None)
    if asked is None or "MultiheadAttention" not in set(layer_classes(sheet, call.func)):
        return
    name = "torch.nn.MultiheadAttention.forward"
    if not isinstance(asked, ast.Constant):
        sheet.leave(call, name, message("rewrite.computed", name=name, argument="need_weights"))
    elif not asked.value:
        span = sheet.at.of(call)
        sheet.edits.replace(span, "(*", span, ", None)")
        sheet.note_done(call, name, "mindspore.nn.MultiheadAttention")


def _into_optimizer(sheet: Sheet, call: ast.Call) -> bool:
    """Whether the parameters go to an optimizer, straight or in a group."""
    for node in sheet.names.enclosing(call):
        if isinstance(node, ast.Call):
            return sheet.names.torch(node.func).startswith("torch.optim.")
        if not isinstance(node, ast.expr | ast.keyword):
            return False
    return False


def _in_network(sheet: Sheet, node: ast.AST) -> bool:
    owner = sheet.inside(node, ast.ClassDef)
    return isinstance(owner, ast.ClassDef) and owner.name in sheet.classes.modules


def _in_sequence(sheet: Sheet, node: ast.AST) -> bool:
    """Whether the class around a node is a sequence of layers: those keep a list of their own."""
    owner = sheet.inside(node, ast.ClassDef)
    assert isinstance(owner, ast.ClassDef)
    return [sheet.names.torch(base) for base in owner.bases] != ["torch.nn.Module"]


def _own_methods(sheet: Sheet, node: ast.AST) -> frozenset[str]:
    owner = sheet.inside(node, ast.ClassDef)
    assert isinstance(owner, ast.ClassDef)
    return frozenset(one.name for one in owner.body if isinstance(one, ast.FunctionDef))


def _leaf(sheet: Sheet, node: ast.Attribute) -> None:
    """``weight`` and ``bias`` of a layer, which some layers call otherwise."""
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        return
    layers = set(layer_classes(sheet, node.value))
    names = {_leaf_name(sheet, one, node.attr) for one in layers}
    name = f"torch.nn.Module.{node.attr}"
    if len(names) != 1:
        read = isinstance(node.ctx, ast.Load)
        if not read or len(names) > 1 or sheet.kinds.of(node.value) == MODULE:
            if read and sheet.style != MINT:
                leaf = sheet.wanted.helper("leaf")
                sheet.write(node, name, "leaf", f"{leaf}(", sheet.at.of(node.value), f', "{node.attr}")')
            else:
                sheet.leave(node, name, message("rewrite.leaf", name=node.attr))
    elif names != {node.attr}:
        end = sheet.at.of(node).end
        became = names.pop()
        sheet.edits.replace(Span(end - len(node.attr), end), became)
        sheet.note_done(node, name, became)


def _has_leaf(sheet: Sheet, call: ast.Call) -> None:
    """``hasattr(layer, "weight")``: true of norm layers in torch, whose weight has another name in MindSpore."""
    if not isinstance(call.func, ast.Name) or call.func.id != "hasattr" or len(call.args) != 2 or sheet.style == MINT:
        return
    layer, asked = call.args
    if isinstance(asked, ast.Constant) and asked.value in _LEAVES and sheet.kinds.of(layer) == MODULE:
        leaf = sheet.wanted.helper("leaf")
        pieces = (f"({leaf}(", sheet.at.of(layer), ", ", sheet.at.of(asked), ") is not None)")
        sheet.write(call, f"torch.nn.Module.{asked.value}", "leaf", *pieces)


def _class_name(sheet: Sheet, node: ast.Attribute) -> None:
    """The name of a layer's class, which scripts compare with torch's names."""
    asked = node.value
    layer = None
    if isinstance(asked, ast.Attribute) and asked.attr == "__class__":
        layer = asked.value
    elif isinstance(asked, ast.Call) and isinstance(asked.func, ast.Name) and asked.func.id == "type" and asked.args:
        layer = asked.args[0]
    if layer is not None and sheet.kinds.of(layer) == MODULE and sheet.style != MINT:
        helper = sheet.wanted.helper("class_name")
        sheet.write(node, "torch.nn.Module.__class__", helper, f"{helper}(", sheet.at.of(layer), ")")


def _leaf_name(sheet: Sheet, layer: str, leaf: str) -> str:
    """What MindSpore calls a tensor of a layer."""
    known = layer_of_class(f"torch.nn.{layer}")
    return known.leaves.get(leaf, leaf) if known is not None and sheet.style != MINT else leaf


def layer_classes(sheet: Sheet, node: ast.expr) -> Iterator[str]:
    """The names in torch.nn of the layers that an expression may be; none where that is not known."""
    if isinstance(node, ast.Name):
        for one in sheet.names.enclosing(node):
            if isinstance(one, ast.If) and any(node in ast.walk(part) for part in one.body):
                found = list(_narrowed(sheet, one.test, node.id))
                if found:
                    yield from found
                    return
    for value in _values_through(sheet, node):
        for choice in _choices(value):
            name = sheet.names.torch(choice.func) if isinstance(choice, ast.Call) else ""
            if not name.startswith("torch.nn."):
                return
            yield name.rpartition(".")[2]


def _choices(value: ast.expr) -> Iterator[ast.expr]:
    """What a conditional expression may be; None is no layer."""
    if isinstance(value, ast.IfExp):
        yield from _choices(value.body)
        yield from _choices(value.orelse)
    elif not (isinstance(value, ast.Constant) and value.value is None):
        yield value


def _values_through(sheet: Sheet, node: ast.expr) -> Iterator[ast.expr]:
    """What an expression may be, also an attribute of another network or an entry of a ModuleDict."""
    yield from values_of(sheet, node)
    if not isinstance(node, ast.Attribute) or (isinstance(node.value, ast.Name) and node.value.id == "self"):
        return
    for owner in values_of(sheet, node.value):
        if not isinstance(owner, ast.Call):
            continue
        word = owner.func.id if isinstance(owner.func, ast.Name) else ""
        if word in sheet.classes.defined:
            for one in ast.walk(sheet.classes.defined[word]):
                if isinstance(one, ast.Assign) and any(
                    ast.unparse(target) == f"self.{node.attr}" for target in one.targets
                ):
                    yield one.value
        if sheet.names.torch(owner.func) == "torch.nn.ModuleDict":
            for one in ast.walk(owner):
                if isinstance(one, ast.keyword) and one.arg == node.attr:
                    yield one.value
                elif isinstance(one, ast.Dict):
                    for key, held in zip(one.keys, one.values, strict=True):
                        if isinstance(key, ast.Constant) and key.value == node.attr:
                            yield held


def _narrowed(sheet: Sheet, test: ast.expr, name: str) -> Iterator[str]:
    for node in ast.walk(test):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            subject, classes = node.args
            if isinstance(subject, ast.Name) and subject.id == name:
                for one in classes.elts if isinstance(classes, ast.Tuple) else [classes]:
                    full = sheet.names.torch(one)
                    if full.startswith("torch.nn."):
                        yield full.rpartition(".")[2]


def values_of(sheet: Sheet, node: ast.expr) -> Iterator[ast.expr]:
    """What is assigned to a name or an attribute of self, in its scope."""
    text = ast.dump(node).replace("Store()", "Load()")
    scope: ast.AST = sheet.names.scope(node)
    if isinstance(node, ast.Attribute):
        scope = sheet.inside(node, ast.ClassDef) or scope
    for one in ast.walk(scope):
        if isinstance(one, ast.Assign):
            for target in one.targets:
                if ast.dump(target).replace("Store()", "Load()") == text:
                    yield one.value
