"""Forms and operators in words, and the cause that each stands for when it is missing, extra or another one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from trueline.model.json_value import Json
from trueline.model.message import Message, message
from trueline.pair.blame import Cause
from trueline.pair.ops.forms import Form
from trueline.pair.ops.op_forms import Done
from trueline.pair.ops.op_graph import Op

_NAMES: Final = {
    "relu": "ReLU",
    "relu6": "ReLU6",
    "gelu": "GELU (erf)",
    "gelu_tanh": "GELU (tanh)",
    "gelu_quick": "GELU (x * sigmoid(1.702 x))",
    "silu": "SiLU",
    "hardswish": "Hardswish",
    "hardsigmoid": "Hardsigmoid",
    "mish": "Mish",
    "l2_norm": "L2 normalisation",
    "rms_norm": "RMS normalisation",
    "standardise": "layer normalisation",
    "var_unbiased": "unbiased variance",
    "std_unbiased": "unbiased standard deviation",
}
_BY_FAMILY: Final = {
    "activation": Cause.ACTIVATION,
    "softmax": Cause.ACTIVATION,
    "scale": Cause.SCALE,
    "affine": Cause.SCALE,
    "offset": Cause.OFFSET,
    "reduction": Cause.POOLING,
    "norm": Cause.NORMALISATION,
    "layout": Cause.TRANSPOSE,
    "flip": Cause.TRANSPOSE,
    "concat": Cause.CONCAT_ORDER,
    "slice": Cause.SLICE,
    "pad": Cause.PADDING,
    "resize": Cause.INTERPOLATION,
    "mask": Cause.MASK,
    "cast": Cause.DTYPE,
}
_BY_KIND: Final = {
    **dict.fromkeys(("avg_pool", "max_pool", "adaptive_avg_pool", "adaptive_max_pool", "mean", "max"), Cause.POOLING),
    **dict.fromkeys(
        ("layer_norm", "batch_norm", "group_norm", "instance_norm", "rms_norm", "l2_normalise"), Cause.NORMALISATION
    ),
    **dict.fromkeys(("masked_fill", "where", "tril", "triu"), Cause.MASK),
    **dict.fromkeys(("resize_nearest", "resize_linear", "resize_cubic"), Cause.INTERPOLATION),
    **dict.fromkeys(("slice", "index", "gather", "split"), Cause.SLICE),
    **dict.fromkeys(("prelu", "celu", "glu", "hardshrink", "softshrink", "threshold"), Cause.ACTIVATION),
    "pad": Cause.PADDING,
    "transpose": Cause.TRANSPOSE,
    "cast": Cause.DTYPE,
    "cat": Cause.CONCAT_ORDER,
}
# A factor this close, relatively, to a power of a size is that power.
_SAME_FACTOR: Final = 1e-4


def cause_of(done: Done | None, op: Op | None, otherwise: Cause) -> Cause:
    """The cause that one operator stands for."""
    form = done.form if done is not None else None
    if form is not None and form.family in _BY_FAMILY:
        return _BY_FAMILY[form.family]
    return _BY_KIND.get(op.kind, otherwise) if op is not None else otherwise


def cause_of_form(form: Form, otherwise: Cause) -> Cause:
    """The cause that a form stands for."""
    return _BY_FAMILY.get(form.family, otherwise)


def cause_of_two(bench: Form, port: Form) -> Cause:
    """The cause where one form stands for another."""
    families = {bench.family, port.family}
    if bench.name == port.name:
        changed = [name for name in bench.settings if bench.settings[name] != port.settings.get(name)]
        if "eps" in changed and "axes" not in changed:
            return Cause.EPS
        if "slope" in changed or "alpha" in changed:
            return Cause.SLOPE
        if "align_corners" in changed and "mode" not in changed:
            return Cause.ALIGN_CORNERS
        if {"axis", "axes"} & set(changed) and families & {"softmax", "reduction", "norm", "flip"}:
            return Cause.AXIS
    if "rotation" in families:
        same_parts = (
            bench.name == port.name and bench.family == port.family and sorted(_parts(bench)) == sorted(_parts(port))
        )
        return Cause.CONCAT_ORDER if same_parts else Cause.OTHER_OP
    if bench.name.split("_")[0] == port.name.split("_")[0] in ("var", "std"):
        return Cause.OTHER_OP
    if bench.name.startswith("gelu") and port.name.startswith("gelu"):
        return Cause.GELU_FORM
    if "slice" in families and families <= {"slice", "reduction"}:
        return Cause.SLICE
    if "activation" in families:
        return Cause.ACTIVATION
    return _BY_FAMILY.get(bench.family, _BY_FAMILY.get(port.family, Cause.OTHER_OP))


def _parts(form: Form) -> list[str]:
    return str(form.settings["parts"]).split(", ")


def in_words(done: Done | None, op: Op | None, sizes: Sequence[int] = ()) -> Message:
    """What an operator does."""
    if done is not None and done.form is not None and done.form.family != "identity":
        return form_in_words(done.form, sizes)
    return message("pair_explain.form_op", kind=op.kind if op is not None else "?")


def form_in_words(form: Form, sizes: Sequence[int] = ()) -> Message:
    """A form with its constants; a factor is read against the sizes of the block's axes."""
    values: dict[str, Json] = {name: _short(value) for name, value in form.settings.items()}
    name = _NAMES.get(form.name, form.name)
    if form.name == "pad":
        values["widths"] = _widths_in_words(form)
    if form.family in ("scale", "affine", "offset"):
        if form.family == "scale":
            factor = form.settings["factor"]
            assert isinstance(factor, int | float)
            values["factor"] = factor_in_words(factor, sizes)
        return message(f"pair_explain.form_{form.family}", **values)
    if form.name in (
        "leaky_relu",
        "elu",
        "clamp",
        "pow",
        "roll",
        "pad",
        "mask",
        "cast",
        "slice",
        "flip",
        "parts",
        "halves",
        "pairs",
        "crop",
        "repeat",
        "tile",
    ):
        return message(f"pair_explain.form_{form.name}", **values)
    if form.family == "norm" and not form.settings["eps"]:
        # Too small to be read off the values.
        return message("pair_explain.form_reduction", name=name, axes=values["axes"])
    if form.family in ("softmax", "reduction", "norm"):
        return message(f"pair_explain.form_{form.family}", name=name, **values)
    if form.family == "resize" and form.settings["mode"] == "nearest":
        return message("pair_explain.form_nearest")
    if form.family in ("layout", "resize", "cast"):
        return message(f"pair_explain.form_{form.family}", **{"order": "", **values})
    return message("pair_explain.form_op", kind=name)


def _widths_in_words(form: Form) -> str:
    """Before and after, of the axes that are padded."""
    widths = form.settings["widths"]
    assert isinstance(widths, list | tuple)
    pairs = [(axis - len(widths), *width) for axis, width in enumerate(widths) if isinstance(width, list | tuple)]
    return ", ".join(f"{axis}: ({before}, {after})" for axis, before, after in pairs if before or after)


def factor_in_words(factor: float, sizes: Sequence[int]) -> str:
    """A factor, and what it is of one of the sizes."""
    powers = (("1/sqrt({})", -0.5), ("sqrt({})", 0.5), ("1/{}", -1.0), ("{}", 1.0))
    readings = [
        text.format(size)
        for text, power in powers
        for size in sizes
        if size > 1 and abs(factor - size**power) <= _SAME_FACTOR * size**power
    ]
    if len(readings) == 1:
        return f"{factor:.4g} = {readings[0]}"
    return f"{factor:.6g}"


def setting_of(form: Form | None, op: Op | None) -> Json:
    """What an operator's part in a difference is, as a short value for tables."""
    if form is None:
        return op.kind if op is not None else None
    own = [name for name in ("factor", "slope", "alpha", "added", "axis", "axes", "eps") if name in form.settings]
    if form.family in ("scale", "offset"):
        return _short(form.settings[own[0]])
    if form.name == "crop":
        return form.settings["cuts"]
    if form.family == "slice":
        return f"[{form.settings['start']}:{form.settings['stop']}]"
    return f"{form.name}({', '.join(str(_short(form.settings[one])) for one in own)})" if own else form.name


def _short(value: Json) -> Json:
    if isinstance(value, float):
        return float(f"{value:.6g}") if math.isfinite(value) else str(value)
    if isinstance(value, list | tuple):
        return ", ".join(str(_short(item)) for item in value)
    return value
