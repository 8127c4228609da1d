"""One call of a framework's API, as the lab describes it and a framework's ``lab`` package carries it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trueline.kernel.array import Array

# A value of a call, as JSON: a number, text, None, a list; or an object with one of these keys:
#   {"array": 3}                     the fourth array of the call, as a tensor; with "strided": true not contiguous;
#                                    with "dtype": "bfloat16" cast to a type that NumPy does not have
#   {"dtype": "float32"}             a type of the framework
#   {"tuple": [...]}                 a tuple (a list is a list)
#   {"slice": [start, stop, step]}   a slice
#   {"special": "nan" | "inf" | "-inf"}
#   {"module": {"name", "build"}}    a layer, function or initialiser as an argument
Spec = Any


@dataclass(frozen=True, slots=True)
class Call:
    """What to call and with what.

    ``build`` is what a class is constructed with, ``args`` and ``kwargs`` what is called afterwards (a function takes
    these only; a method's object is its first argument). ``more`` is what one kind of call needs beside: see the
    module of that kind in ``adapters/<framework>/lab``.
    """

    kind: str
    name: str
    args: Sequence[Spec] = ()
    kwargs: Mapping[str, Spec] = field(default_factory=dict)
    build: Mapping[str, Spec] = field(default_factory=dict)
    gradient: bool = False
    double: bool = False  # in float64: what rounding explains is measured against it
    more: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call gave: its tensors in order (numbers as 0-d arrays), gradients by argument, or an error.

    ``forms`` says what each output was: "tensor", "number", "bool", "text", "none", "tuple" …; ``error`` is the
    exception's type and first lines.
    """

    outputs: Sequence[Array] = ()
    forms: Sequence[str] = ()
    gradients: Mapping[str, Array] = field(default_factory=dict)
    error: tuple[str, str] | None = None
