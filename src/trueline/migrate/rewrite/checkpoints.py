"""Checkpoints: MindSpore's files end in ``.ckpt`` and hold dictionaries of weights; what is more is pickled."""

from __future__ import annotations

import ast
from typing import Final

from trueline.migrate.rewrite.arguments import CannotBind, bind
from trueline.migrate.rewrite.edits import Span
from trueline.migrate.rewrite.sheet import Sheet
from trueline.model.message import message

_SUFFIXES: Final = (".pth.tar", ".pth", ".pt", ".bin")


def write_checkpoints(sheet: Sheet) -> None:
    """Write ``torch.save`` of a network's weights and ``torch.load`` of a file."""
    for call in sheet.calls():
        name = sheet.names.torch(call.func)
        if name == "torch.save":
            _save(sheet, call)
        elif name == "torch.load":
            _load(sheet, call)


def _save(sheet: Sheet, call: ast.Call) -> None:
    sheet.settle(call.func)
    try:
        bound = bind(call, [("obj", None), ("f", None)])
    except CannotBind as error:
        sheet.leave(call, "torch.save", message("rewrite.arguments", name="torch.save", argument=str(error)))
        return
    saved, path = bound.given["obj"], bound.given["f"]
    weights = isinstance(saved, ast.Call) and isinstance(saved.func, ast.Attribute) and saved.func.attr == "state_dict"
    if not weights:
        save = sheet.wanted.helper("save")
        sheet.write(call, "torch.save", save, f"{save}(", sheet.at.of(saved), ", ", sheet.at.of(path), ")")
        return
    _name(sheet, path)
    save = sheet.wanted.name("mindspore.save_checkpoint")
    sheet.write(
        call, "torch.save", "mindspore.save_checkpoint", f"{save}(", sheet.at.of(saved), ", ", sheet.at.of(path), ")"
    )


def _load(sheet: Sheet, call: ast.Call) -> None:
    sheet.settle(call.func)
    parameters = [("f", None), ("map_location", "None"), ("pickle_module", "None"), ("weights_only", "None")]
    try:
        bound = bind(call, parameters)
    except CannotBind as error:
        sheet.leave(call, "torch.load", message("rewrite.arguments", name="torch.load", argument=str(error)))
        return
    path = bound.given["f"]
    if _is_searched(sheet, call):
        load = sheet.wanted.helper("load")
        sheet.write(call, "torch.load", load, f"{load}(", sheet.at.of(path), ")")
        return
    _name(sheet, path)
    load = sheet.wanted.name("mindspore.load_checkpoint")
    sheet.write(call, "torch.load", "mindspore.load_checkpoint", f"{load}(", sheet.at.of(path), ")")


def _is_searched(sheet: Sheet, call: ast.Call) -> bool:
    """Whether parts of what is loaded are asked for by name: it is more than the weights of a network."""
    parent = sheet.names.parents.get(call)
    if not isinstance(parent, ast.Assign):
        return isinstance(parent, ast.Subscript | ast.Attribute)
    name = ast.unparse(parent.targets[0])
    return any(
        (isinstance(node, ast.Subscript) and ast.unparse(node.value) == name)
        or (isinstance(node, ast.Attribute) and node.attr == "get" and ast.unparse(node.value) == name)
        for node in ast.walk(sheet.names.scope(call))
    )


def _name(sheet: Sheet, path: ast.expr) -> None:
    """A file name that ends as torch's do gets MindSpore's ending; another one is noted."""
    last = path
    while not isinstance(last, ast.Constant):
        if isinstance(last, ast.JoinedStr) and last.values:
            last = last.values[-1]
        elif isinstance(last, ast.BinOp):
            last = last.right
        elif isinstance(last, ast.Call) and last.args and "join" in ast.unparse(last.func):
            last = last.args[-1]
        else:
            break
    text = last.value if isinstance(last, ast.Constant) else ""
    suffix = next((one for one in _SUFFIXES if isinstance(text, str) and text.endswith(one)), "")
    whole = sheet.at.of(path)
    place = sheet.text.rfind(suffix, whole.start, whole.end) if suffix else -1
    if place < 0:
        sheet.remark(path, message("rewrite.checkpoint_name"))
    else:
        sheet.edits.replace(Span(place, place + len(suffix)), ".ckpt")
