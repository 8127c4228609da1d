"""Initial weights: ``torch.nn.init`` fills a tensor in place, MindSpore sets a parameter's data from an initializer."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Final

from trueline.migrate.rewrite.arguments import Bound, CannotBind, bind
from trueline.migrate.rewrite.edits import Span
from trueline.migrate.rewrite.sheet import Sheet
from trueline.migrate.rewrite.structure import layer_classes
from trueline.model.message import message

_HOME: Final = "mindspore.common.initializer."
# torch's function: its parameters after the tensor, MindSpore's class, and which argument of that is which of torch's.
_KNOWN: Final[Mapping[str, tuple[tuple[tuple[str, str], ...], str, Mapping[str, str]]]] = {
    "kaiming_normal_": (
        (("a", "0"), ("mode", "'fan_in'"), ("nonlinearity", "'leaky_relu'")),
        "HeNormal",
        {"a": "negative_slope", "mode": "mode", "nonlinearity": "nonlinearity"},
    ),
    "kaiming_uniform_": (
        (("a", "0"), ("mode", "'fan_in'"), ("nonlinearity", "'leaky_relu'")),
        "HeUniform",
        {"a": "negative_slope", "mode": "mode", "nonlinearity": "nonlinearity"},
    ),
    "xavier_uniform_": ((("gain", "1"),), "XavierUniform", {"gain": "gain"}),
    "xavier_normal_": ((("gain", "1"),), "XavierNormal", {"gain": "gain"}),
    "normal_": ((("mean", "0.0"), ("std", "1.0")), "Normal", {"std": "sigma", "mean": "mean"}),
    "uniform_": ((("a", "0.0"), ("b", "1.0")), "Uniform", {"b": "scale"}),
    "constant_": ((("val", ""),), "Constant", {"val": "value"}),
    "fill_": ((("val", ""),), "Constant", {"val": "value"}),
    "zeros_": ((), "Zero", {}),
    "zero_": ((), "Zero", {}),
    "ones_": ((), "One", {}),
    "orthogonal_": ((("gain", "1"),), "Orthogonal", {"gain": "gain"}),
    "trunc_normal_": (
        (("mean", "0.0"), ("std", "1.0"), ("a", "-2.0"), ("b", "2.0")),
        "TruncatedNormal",
        {"mean": "mean", "std": "sigma", "a": "a", "b": "b"},
    ),
}
# What MindSpore's class has as its default where that is another one than torch's.
_WRITTEN: Final = {"normal_": ("std",), "trunc_normal_": ("std",)}
_ON_DATA: Final = ("normal_", "uniform_", "fill_", "zero_")


def write_initial(sheet: Sheet) -> None:
    """Write every initialisation of a parameter."""
    for call in sheet.calls():
        name = sheet.names.torch(call.func)
        if name.startswith("torch.nn.init.") and name.endswith("_") and call.args:
            _write(sheet, call, name, call.args[0], name.rpartition(".")[2], call.args[1:])
        elif isinstance(call.func, ast.Attribute) and call.func.attr in _ON_DATA:
            held = call.func.value
            data = isinstance(held, ast.Attribute) and held.attr == "data"
            if isinstance(held, ast.Attribute) and (data or held.attr in ("weight", "bias")):
                _write(sheet, call, f"torch.Tensor.{call.func.attr}", held, call.func.attr, call.args)


def _write(sheet: Sheet, call: ast.Call, name: str, target: ast.expr, word: str, given: list[ast.expr]) -> None:
    sheet.settle(call.func)
    sheet.settled.add(call)
    if isinstance(target, ast.Attribute) and target.attr == "data":
        sheet.settle(target)
        target = target.value
    known = _KNOWN.get(word)
    if known is None or not isinstance(sheet.names.parents.get(call), ast.Expr):
        sheet.leave(call, name, message("rewrite.initial", name=name))
        return
    parameters, became, arguments = known
    keywords = [one for one in call.keywords if one.arg not in ("tensor", "generator")]
    try:
        bound = bind(ast.Call(call.func, given, keywords), parameters)
    except CannotBind as error:
        sheet.leave(call, name, message("rewrite.arguments", name=name, argument=str(error)))
        return
    pieces = _arguments(sheet, word, bound, dict(parameters), arguments)
    if pieces is None or set(layer_classes(sheet, _owner(target))) & {"LSTM", "GRU", "RNN", "MultiheadAttention"}:
        sheet.leave(call, name, message("rewrite.initial", name=name))
        return
    span = sheet.at.of(target)
    made = f"{sheet.wanted.name(_HOME + 'initializer')}({sheet.wanted.name(_HOME + became)}("
    sheet.write(
        call,
        name,
        f"initializer({became})",
        span,
        f".set_data({made}",
        *pieces,
        "), ",
        span,
        ".shape, ",
        span,
        ".dtype))",
    )


def _owner(target: ast.expr) -> ast.expr:
    return target.value if isinstance(target, ast.Attribute) else target


def _arguments(
    sheet: Sheet, word: str, bound: Bound, defaults: Mapping[str, str], names: Mapping[str, str]
) -> list[str | Span] | None:
    if word == "uniform_":
        low, high = bound.given.get("a"), bound.given.get("b")
        if low is None or high is None or not _opposite(low, high):
            return None
    found: list[str | Span] = []
    for torch_name, their_name in names.items():
        value = bound.given.get(torch_name)
        if value is None and torch_name not in _WRITTEN.get(word, ()):
            continue
        found.extend([f"{', ' if found else ''}{their_name}="])
        found.append(sheet.at.of(value) if value is not None else defaults[torch_name])
    return found


def _opposite(low: ast.expr, high: ast.expr) -> bool:
    return ast.unparse(low) == f"-{ast.unparse(high)}"
