"""What layers need in MindSpore beside their arguments, and what they cannot have there."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from trueline.migrate.rewrite.arguments import literal
from trueline.migrate.rewrite.sheet import Sheet
from trueline.model.message import Message, message

_WITHOUT_EFFECT: Final = frozenset(("inplace", "device"))
_INIT: Final = "mindspore.common.initializer."


def without_effect(name: str) -> bool:
    """Whether an argument of a layer changes no value that it gives."""
    return name in _WITHOUT_EFFECT


def added_arguments(sheet: Sheet, name: str, given: Mapping[str, ast.expr]) -> Iterator[tuple[str, str]]:
    """Arguments that are torch's behaviour and that torch has no argument for."""
    if name == "torch.nn.Embedding":
        # torch draws from N(0, 1), MindSpore from N(0, 0.01²).
        yield "embedding_table", f"{sheet.wanted.name(_INIT + 'Normal')}(1.0)"
    if name == "torch.nn.Upsample" and "scale_factor" in given:
        # MindSpore takes a scale for some modes only where it computes the size from it, as torch does for whole sizes.
        yield "recompute_scale_factor", "True"


def refusal(name: str, given: Mapping[str, ast.expr]) -> Message | None:
    """Why a layer with these arguments cannot be written."""
    if name in ("torch.nn.MaxPool1d", "torch.nn.MaxPool2d", "torch.nn.AvgPool1d", "torch.nn.AvgPool2d"):
        known, ceiled = literal(given["ceil_mode"]) if "ceil_mode" in given else (True, False)
        if not known or ceiled:
            # Windows that begin in the padding count in MindSpore and not in torch.
            return message("rewrite.ceil_mode", name=name)
        if name.endswith("1d") and not _is_zero(given.get("padding")):
            return message("rewrite.no_argument", name=name, other=f"mindspore.nn.{name[9:]}", argument="padding")
    if "padding_mode" in given and literal(given["padding_mode"]) != (True, "zeros"):
        known, sides = literal(given["padding"]) if "padding" in given else (True, 0)
        if known and isinstance(sides, str):
            return message("rewrite.computed", name=name, argument="padding_mode")
    if name == "torch.nn.Upsample" and "scale_factor" in given:
        known, scale = literal(given["scale_factor"])
        if known and any(float(one) != int(one) for one in (scale if isinstance(scale, tuple) else (scale,))):
            return message("rewrite.scale", name=name)
    if name.startswith("torch.nn.ConvTranspose") and "output_padding" in given:
        sizes = [literal(given[one])[1] if one in given else 0 for one in ("padding", "output_padding")]
        before, longer = (size if type(size) is int else -1 for size in sizes)
        if longer != 0 and (before < 0 or longer < 0 or longer > before or name.endswith("1d")):
            return message("rewrite.output_padding", name=name)
    if name in ("torch.nn.Softmax", "torch.nn.LogSoftmax", "torch.nn.Softmin") and "dim" not in given:
        return message("rewrite.no_axis", name=name)
    for argument in ("return_indices", "track_running_stats"):
        if argument in given:
            known, value = literal(given[argument])
            if not known or value is not (argument == "track_running_stats"):
                return message("rewrite.computed", name=name, argument=argument)
    return None


def output_padding(name: str, given: Mapping[str, ast.expr]) -> tuple[int, ...] | None:
    """The sides of a transposed convolution that torch makes longer by computing them; MindSpore appends zeros there.

    Less padding behind is the same.
    """
    if not name.startswith("torch.nn.ConvTranspose") or _is_zero(given.get("output_padding")):
        return None
    before, longer = ast.literal_eval(given["padding"]), ast.literal_eval(given["output_padding"])
    return (before, before - longer) * int(name[-2])


def _is_zero(node: ast.expr | None) -> bool:
    return node is None or literal(node) == (True, 0)
