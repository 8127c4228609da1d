"""Calls and answers as text that a reader can paste: the smallest example of a difference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from trueline.adapters.lab.call import Answer, Call
from trueline.kernel.array import Array

_MOST: Final = 160


def call_text(call: Call, arrays: Sequence[Array]) -> str:
    """A call as Python."""
    args = [_text(spec, arrays, call) for spec in call.args]
    args += [f"{name}={_text(spec, arrays, call)}" for name, spec in call.kwargs.items()]
    built = ", ".join(f"{name}={_text(spec, arrays, call)}" for name, spec in call.build.items())
    if call.kind == "method" and args:
        return f"{args[0]}.{call.name.rpartition('.')[2]}({', '.join(args[1:])})"
    if call.kind in ("function", "convention"):
        return f"{call.name}({', '.join(args)})"
    return f"{call.name}({built})" + (f"({', '.join(args)})" if args else "")


def _text(spec: Any, arrays: Sequence[Array], call: Call) -> str:
    framework = "mindspore" if call.name.startswith("mindspore.") else "torch"
    if isinstance(spec, list):
        return "[" + ", ".join(_text(element, arrays, call) for element in spec) + "]"
    if not isinstance(spec, dict):
        return repr(spec)
    if "array" in spec:
        return _tensor(arrays[spec["array"]], framework, strided=bool(spec.get("strided")))
    if "dtype" in spec:
        return f"{framework}.{spec['dtype']}"
    if "tuple" in spec:
        inner = ", ".join(_text(element, arrays, call) for element in spec["tuple"])
        return f"({inner},)" if len(spec["tuple"]) == 1 else f"({inner})"
    if "slice" in spec:
        return f"slice({', '.join(map(repr, spec['slice']))})"
    if "special" in spec:
        return f"float('{spec['special']}')"
    return str(spec["module"]["name"]) + "()"


def _tensor(array: Array, framework: str, *, strided: bool) -> str:
    values = numbers(array)
    make = "torch.tensor" if framework == "torch" else "mindspore.Tensor"
    usual = array.dtype.name in ("float32", "int64", "bool")
    if array.size == 0:
        make_empty = "torch.zeros" if framework == "torch" else "mindspore.ops.zeros"
        return f"{make_empty}({tuple(array.shape)}, dtype={framework}.{array.dtype.name})"
    text = f"{make}({values})" if usual else f"{make}({values}, dtype={framework}.{array.dtype.name})"
    return text + (".T.contiguous().T" if strided and framework == "torch" else "")


def numbers(array: Array) -> str:
    """The values of an array as nested lists; cut where it is long."""
    if array.dtype.kind in "fc" or array.dtype.name == "bfloat16":
        wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
        listed = _rounded(wide.tolist())
    else:
        listed = array.tolist()
    text = str(listed).replace("'", "")
    return text if len(text) <= _MOST else text[: _MOST - 1] + "…"


def _rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [_rounded(element) for element in value]
    if isinstance(value, complex):
        return value
    if not np.isfinite(value):
        return str(value)
    return float(f"{value:.6g}")


def answer_text(answer: Answer, place: int = 0, *, gradient: bool = False) -> str:
    """What a call gave, in short."""
    if answer.error is not None:
        lines = [line.strip() for line in answer.error[1].splitlines()]
        # MindSpore frames what it says with rulers and headings.
        told = [line for line in lines if line and not line.startswith("-")] or [""]
        return f"{answer.error[0]}: {told[0][:140]}"
    if gradient:
        names = sorted(answer.gradients)
        if not names:
            return "no gradient"
        name = names[min(place, len(names) - 1)]
        return f"gradient {int(name) + 1 if name.isdigit() else name}: {numbers(answer.gradients[name])}"
    if not answer.outputs:
        return "nothing"
    array = answer.outputs[min(place, len(answer.outputs) - 1)]
    form = answer.forms[min(place, len(answer.forms) - 1)] if answer.forms else "tensor"
    if form == "none":
        return "None"
    return (
        f"{numbers(array)} {array.dtype.name}{list(array.shape) if array.size > 8 or array.size == 0 else ''}".strip()
    )
