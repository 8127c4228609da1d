"""Calls and names of torch, one by one: rows that are written another way, layers, the table; else a reason."""

from __future__ import annotations

import ast
from typing import Final

from trueline.apitable.attributes import known_layer
from trueline.apitable.functions import functions_of
from trueline.apitable.pairs import Kind, kind_of, pairs_by_name
from trueline.apitable.traits import Trait
from trueline.migrate.rewrite.edits import Span
from trueline.migrate.rewrite.in_place import is_own
from trueline.migrate.rewrite.kinds import ARRAY, MODULE, OTHER, SHAPE, TENSOR
from trueline.migrate.rewrite.layers import plain_class, write_layer, write_own_layer
from trueline.migrate.rewrite.sheet import MINT, Sheet
from trueline.migrate.rewrite.tabled import write_tabled
from trueline.migrate.rewrite.templates import names_of, rows, written
from trueline.model.message import Message, message

# What NumPy, Python and other libraries have under the same name: only a receiver that is known tells.
_AMBIGUOUS: Final = (
    "size", "split", "repeat", "max", "min", "std", "var", "clone", "copy", "flatten", "transpose", "mean", "sum",
    "type", "numpy", "view", "norm", "dim", "flip", "argmax", "add", "sub", "div", "mul", "all", "any",
    "round", "sort", "squeeze", "reshape", "item", "tolist", "index_select", "expand", "to", "float", "int",
)  # fmt: skip


# Methods and functions that give a new tensor, whatever they are given.
_COMPUTES: Final = frozenset(
    name
    for name in functions_of(Trait.ADDS, Trait.SUBTRACTS, Trait.MULTIPLIES, Trait.DIVIDES, Trait.ELEMENTWISE)
    if not name.endswith("_")
)


def write_calls(sheet: Sheet) -> None:
    """Write every call of torch and of its tensors that nothing else has dealt with."""
    for call in sheet.calls():
        name = sheet.names.torch(call.func)
        if call in sheet.settled or call.func in sheet.settled:
            continue
        if name:
            why = write_call(sheet, call, name)
            sheet.settle(call.func)
            if why is not None:
                sheet.leave(call, name, why)
        elif base := _layer_below(sheet, call):
            write_own_layer(sheet, call, base)
        elif isinstance(call.func, ast.Attribute):
            _method(sheet, call, call.func)


def _layer_below(sheet: Sheet, call: ast.Call) -> str:
    """The layer of torch.nn whose arguments a call has: of a class that derives from it; "" where there is none."""
    function = call.func
    if isinstance(function, ast.Name):
        return sheet.classes.layers.get(function.id, "")
    if isinstance(function, ast.Attribute) and function.attr == "__init__" and isinstance(function.value, ast.Call):
        owner = sheet.inside(call, ast.ClassDef)
        if isinstance(owner, ast.ClassDef) and ast.unparse(function.value.func) == "super":
            bases = [sheet.names.torch(base) for base in owner.bases]
            return bases[0] if len(bases) == 1 and known_layer(bases[0]) is not None else ""
    return ""


def write_call(sheet: Sheet, call: ast.Call, name: str) -> Message | None:
    """Write a call of torch; the reason where it stays."""
    if names_of(name):
        sheet.edits.replace(sheet.at.of(call.func), sheet.wanted.name(names_of(name)))
        sheet.note_done(call, name, names_of(name))
        if name == "torch.nn.ModuleList":
            _as_list(sheet, call)
        return None
    why = _in_place(sheet, call, name)
    if why is not None:
        return why
    if name.endswith("softmax") and len(call.args) < 2 and all(one.arg != "dim" for one in call.keywords):
        return message("rewrite.no_axis", name=name)
    second = call.args[1] if len(call.args) > 1 else None
    if name in ("torch.max", "torch.min") and second is not None and not isinstance(second, ast.Constant | ast.UnaryOp):
        if sheet.kinds.of(second) != TENSOR or len(call.args) + len(call.keywords) > 2:
            return message("rewrite.two_forms", name=name)
        became = f"mindspore.ops.{'maximum' if name.endswith('max') else 'minimum'}"
        sheet.edits.replace(sheet.at.of(call.func), sheet.wanted.name(became))
        sheet.note_done(call, name, became)
        return None
    row = rows().get(name)
    if row is not None and row.forms and (sheet.style != MINT or not pairs_by_name().get(name)):
        pieces = written(sheet, call, row, None)
        if pieces is not None:
            sheet.write(call, name, "".join(piece for piece in pieces if isinstance(piece, str))[:60], *pieces)
            return None
    if kind_of(name) in (Kind.LAYER, Kind.LOSS):
        return write_layer(sheet, call, name)
    return write_tabled(sheet, call, name)


def _as_list(sheet: Sheet, call: ast.Call) -> None:
    """Layers that come one by one: MindSpore takes a list of them only."""
    for node in call.args:
        span = sheet.at.of(node)
        if isinstance(node, ast.GeneratorExp):
            # Its brackets are the call's own where it is the only argument.
            shared = span.end == sheet.at.of(call).end
            sheet.edits.replace(Span(span.start, span.start + 1), "([" if shared else "[")
            sheet.edits.replace(Span(span.end - 1, span.end), "])" if shared else "]")
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("map", "filter", "reversed"):
            sheet.edits.insert(span.start, "list(")
            sheet.edits.insert(span.end, ")")


def _in_place(sheet: Sheet, call: ast.Call, name: str) -> Message | None:
    """A function that is asked to overwrite its input, where somebody may look at that afterwards."""
    if not name.startswith("torch.nn.functional."):
        return None
    asked = [one.value for one in call.keywords if one.arg == "inplace"]
    if not asked or (isinstance(asked[0], ast.Constant) and not asked[0].value):
        return None
    first = call.args[0] if call.args else None
    parent = sheet.names.parents.get(call)
    again = (
        isinstance(parent, ast.Assign) and first is not None and ast.unparse(parent.targets[0]) == ast.unparse(first)
    )
    if not again and not isinstance(first, ast.Call):
        return message("rewrite.in_place", name=name)
    keyword = next(one for one in call.keywords if one.arg == "inplace")
    call.keywords.remove(keyword)
    return None


def _method(sheet: Sheet, call: ast.Call, function: ast.Attribute) -> None:
    if isinstance(function.value, ast.Name) and function.value.id in ("self", "cls", *sheet.names.aliases):
        return
    if isinstance(function.value, ast.Call) and ast.unparse(function.value.func) == "super":
        return
    kind = sheet.kinds.of(function.value)
    name = f"torch.Tensor.{function.attr}"
    row = rows().get(name)
    torch_only = row is not None and function.attr not in _AMBIGUOUS
    if function.attr == "numel" and (kind == SHAPE or ast.unparse(function.value).endswith(".shape")):
        name, row, kind = "torch.Size.numel", rows()["torch.Size.numel"], TENSOR
    if kind == MODULE and function.attr == "extend":
        _as_list(sheet, call)
    if kind in (ARRAY, OTHER, MODULE) or (kind and kind != TENSOR):
        return
    if not kind and function.attr == "to" and call.args and all(_is_device(sheet, one) for one in call.args):
        _to(sheet, call, function)
        return
    if not kind and not torch_only:
        if _needs_writing(sheet, call, function):
            sheet.leave(call, name, message("rewrite.receiver", name=function.attr))
        return
    if function.attr == "to":
        _to(sheet, call, function)
        return
    if row is not None and row.same:
        return
    overwrites = function.attr.endswith("_") and not function.attr.startswith("_")
    if overwrites and _as_new(sheet, call, function):
        return
    if row is not None and row.forms and not overwrites:
        pieces = written(sheet, call, row, function.value)
        if pieces is not None:
            sheet.write(call, name, "".join(piece for piece in pieces if isinstance(piece, str))[:60], *pieces)
            return
    if not pairs_by_name().get(name):
        if overwrites:
            sheet.leave(call, name, message("rewrite.in_place_method", name=name))
        elif row is not None or hasattr_of_tensor(function.attr):
            sheet.leave(call, name, sheet.why_not(name))
        return
    why = write_tabled(sheet, call, name)
    if why is not None:
        sheet.leave(call, name, why)


def _as_new(sheet: Sheet, call: ast.Call, function: ast.Attribute) -> bool:
    """Write a method that overwrites its tensor as one that gives a new tensor, where nobody can tell them apart."""
    own = is_own(sheet, call, function.value)
    if not own and not _is_held_by_nobody(sheet, call, function):
        return False
    name = f"torch.Tensor.{function.attr}"
    row = rows().get(name) or rows().get(name[:-1])
    pieces: list[str | Span] | None = None
    if row is not None and row.same:
        end = sheet.at.of(function).end
        sheet.edits.replace(Span(end - 1, end), "")
        pieces = [sheet.at.of(call)]
    elif row is not None and row.forms:
        pieces = written(sheet, call, row, function.value)
    if pieces is None:
        return False
    target: list[str | Span] = [sheet.at.of(function.value), " = "] if own else []
    sheet.write(call, name, function.attr[:-1], *target, *pieces)
    return True


def _is_held_by_nobody(sheet: Sheet, call: ast.Call, function: ast.Attribute) -> bool:
    """Whether nobody sees the tensor that a method writes to but by what the method gives back."""
    if isinstance(function.value, ast.Call | ast.BinOp):
        # ``a.mul(b).add_(c)``: what was just computed.
        made_anew = not (isinstance(function.value, ast.Call) and _gives_a_view(function.value))
        return made_anew and not isinstance(sheet.names.parents.get(call), ast.Expr)
    return False


def _gives_a_view(call: ast.Call) -> bool:
    """Whether a call may give its argument itself, or a part of it: then others hold it too."""
    word = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return word not in _COMPUTES


def hasattr_of_tensor(attr: str) -> bool:
    """Whether torch's tensors have a method that no pair and no row speaks of, of those that scripts use."""
    return attr in ("backward", "register_hook", "retain_grad", "unflatten", "new_tensor", "data_ptr", "share_memory_")


def _needs_writing(sheet: Sheet, call: ast.Call, function: ast.Attribute) -> bool:
    """Whether a call on something unknown would have to be written otherwise if it were a tensor's."""
    row = rows().get(f"torch.Tensor.{function.attr}")
    if row is None or row.same or function.attr in ("copy", "index_select", "type", "split", "max", "min", "view"):
        return False
    if isinstance(function.value, ast.Name) and function.value.id in sheet.names.aliases:
        return False
    texts = any(isinstance(one, ast.Constant) and isinstance(one.value, str) for one in call.args)
    in_torch_file = any(full.startswith("torch") for full in sheet.names.aliases.values())
    return in_torch_file and not texts and written(sheet, call, row, function.value) is not None


def _to(sheet: Sheet, call: ast.Call, function: ast.Attribute) -> None:
    """``to`` of a tensor: a device goes, a dtype stays."""
    name = "torch.Tensor.to"
    kept = []
    for one in [
        *call.args,
        *(keyword.value for keyword in call.keywords if keyword.arg not in ("non_blocking", "copy")),
    ]:
        if not _is_device(sheet, one):
            kept.append(one)
    if not kept:
        sheet.write(call, name, "", sheet.at.of(function.value), *_drop_names(sheet, call))
    elif len(kept) == 1 and (_is_dtype(sheet, kept[0])):
        receiver: list[str | Span] = [sheet.at.of(function.value)]
        if isinstance(function.value, ast.BinOp | ast.Compare | ast.UnaryOp):
            receiver = ["(", *receiver, ")"]
        sheet.write(call, name, "astype", *receiver, ".astype(", sheet.at.of(kept[0]), ")")
    else:
        sheet.leave(call, name, message("rewrite.to", name=name))


def _drop_names(sheet: Sheet, call: ast.Call) -> list[str]:
    for node in ast.walk(call):
        if isinstance(node, ast.Attribute) and node.attr == "device":
            sheet.settle(node)
    return []


def _is_device(sheet: Sheet, node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str | int)
    text = ast.unparse(node)
    return (
        "device" in text.rpartition(".")[2].lower()
        or sheet.names.torch(node).startswith("torch.device")
        or (isinstance(node, ast.Call) and sheet.names.torch(node.func) == "torch.device")
    )


def _is_dtype(sheet: Sheet, node: ast.expr) -> bool:
    if isinstance(node, ast.Attribute) and node.attr == "dtype":
        return True
    return names_of(sheet.names.torch(node)).startswith("mindspore.") or (
        isinstance(node, ast.Name) and "dtype" in node.id
    )


def write_names(sheet: Sheet) -> None:
    """Write names of torch that are not called: classes, dtypes, annotations."""
    for node in ast.walk(sheet.tree):
        if not isinstance(node, ast.Attribute | ast.Name) or node in sheet.settled:
            continue
        if isinstance(node, ast.Attribute):
            _attribute(sheet, node)
        if isinstance(sheet.names.parents.get(node), ast.Attribute):
            continue
        name = sheet.names.torch(node)
        if name and isinstance(node.ctx, ast.Store):
            _setting(sheet, node, name)
            continue
        if name:
            _name(sheet, node, name)


def _name(sheet: Sheet, node: ast.Attribute | ast.Name, name: str) -> None:
    became = names_of(name)
    if not became and kind_of(name) in (Kind.LAYER, Kind.LOSS):
        pair = sheet.equal(name)
        if pair is not None and _only_compared(sheet, node):
            became = pair.mindspore
        else:
            became = plain_class(sheet, name)
            if became:
                sheet.write(node, name, became, became)
            else:
                sheet.leave(
                    node, name, message("rewrite.class", name=name) if pair is not None else sheet.why_not(name)
                )
            sheet.settle(node)
            return
    if not became and kind_of(name) is Kind.FUNCTION:
        row, pair = rows().get(name), sheet.equal(name)
        if row is not None and len(row.takes) == 1 and len(row.forms) == 1 and sheet.style != MINT:
            became = _only_function(row.forms[0].text)
        elif pair is not None and not sheet.row(pair).needs and pair.torch_parameters == pair.mindspore_parameters:
            became = pair.mindspore
    if became:
        sheet.write(node, name, became, sheet.wanted.name(became))
    elif _matters(name):
        sheet.leave(node, name, sheet.why_not(name))
    sheet.settle(node)


def _setting(sheet: Sheet, node: ast.AST, name: str) -> None:
    """A switch of torch's that is set: those of its backends change no value that a port could have."""
    statement = sheet.names.statement(node)
    if name.startswith("torch.backends.") and isinstance(statement, ast.Assign):
        sheet.write(statement, name, "", "pass")
    else:
        sheet.leave(node, name, sheet.why_not(name))
    sheet.settle(node)


def _attribute(sheet: Sheet, node: ast.Attribute) -> None:
    """Attributes of tensors and of what their methods give."""
    if node.attr in ("values", "indices") and isinstance(node.value, ast.Call):
        word = ast.unparse(node.value.func).rpartition(".")[2]
        if word in ("max", "min", "topk", "sort", "median") and not isinstance(sheet.names.parents.get(node), ast.Call):
            end = sheet.at.of(node).end
            place = "[0]" if node.attr == "values" else "[1]"
            sheet.edits.replace(Span(sheet.at.of(node.value).end, end), place)
    elif node.attr == "grad" and isinstance(node.value, ast.Name | ast.Attribute) and not sheet.names.full(node):
        sheet.leave(node, "torch.Tensor.grad", message("rewrite.grad"))


def _only_function(text: str) -> str:
    found = text.split("$")
    return found[1] if len(found) == 3 and found[0] == "" else ""


def _matters(name: str) -> bool:
    return name.count(".") > 0


def _only_compared(sheet: Sheet, node: ast.AST) -> bool:
    """Whether a class stands where it is not built: in isinstance, as a base, in an annotation."""
    for one in sheet.names.enclosing(node):
        if isinstance(one, ast.Call):
            return isinstance(one.func, ast.Name) and one.func.id in ("isinstance", "issubclass")
        if isinstance(one, ast.ClassDef | ast.arg | ast.AnnAssign):
            return True
        if isinstance(one, ast.FunctionDef):
            return one.returns is not None and node in list(ast.walk(one.returns))
        if not isinstance(one, ast.Tuple | ast.BinOp | ast.Subscript):
            return False
    return False


def drop_idle(sheet: Sheet) -> None:
    """Take away assignments that became ``x = x``, as those to a device do."""
    for node in ast.walk(sheet.tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and sheet.edits.touches(sheet.at.of(node.value)):
            target, value = (sheet.edits.render(sheet.at.of(one)) for one in (node.targets[0], node.value))
            parent = sheet.names.parents[node]
            whole = sheet.at.whole_lines(node.lineno, node.end_lineno or node.lineno)
            alone = sheet.text[whole.start : whole.end].strip() == sheet.at.source(node)
            if target == value and alone and len(getattr(parent, "body", ())) > 1:
                sheet.edits.replace(whole, "")
