"""Checkpoints: MindSpore's files end in ``.ckpt``, and only dictionaries of weights go into one."""

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
        sheet.leave(call, "torch.save", message("rewrite.save"))
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
    _name(sheet, path)
    parent = sheet.names.parents.get(call)
    if isinstance(parent, ast.Subscript | ast.Attribute):
        sheet.leave(call, "torch.load", message("rewrite.save"))
        return
    load = sheet.wanted.name("mindspore.load_checkpoint")
    sheet.write(call, "torch.load", "mindspore.load_checkpoint", f"{load}(", sheet.at.of(path), ")")


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
