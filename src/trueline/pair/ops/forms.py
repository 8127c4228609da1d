"""What an elementwise operator may be: activations and other functions of one value, their constants fitted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

import ml_dtypes
import numpy as np

from trueline.kernel.array import Array, DType
from trueline.model.json_value import Json
from trueline.pair.ops.same_values import Floats, floats, level, sampled

Function = Callable[[Floats], Floats]

# Fewer values fit many functions.
_MIN_VALUES: Final = 8


@dataclass(frozen=True, slots=True)
class Form:
    """A function of one value that was recognised: its name, what family it is of, and its constants."""

    name: str
    family: str
    apply: Callable[[Array], Array]
    settings: Mapping[str, Json] = field(default_factory=dict)


def erf(x: Floats) -> Floats:
    """The error function."""
    return floats(np.frompyfunc(math.erf, 1, 1)(x))


def sigmoid(x: Floats) -> Floats:
    """The logistic function."""
    return floats(0.5 * (1.0 + np.tanh(0.5 * x)))


def softplus(x: Floats) -> Floats:
    """log(1 + e^x)."""
    return np.logaddexp(0.0, x)


def _gelu_tanh(x: Floats) -> Floats:
    return floats(0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x**3))))


def _selu(x: Floats) -> Floats:
    scale, alpha = 1.0507009873554805, 1.6732632423543772
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0)))


ACTIVATIONS: Final[Mapping[str, Function]] = {
    "relu": lambda x: np.maximum(x, 0.0),
    "relu6": lambda x: np.clip(x, 0.0, 6.0),
    "gelu": lambda x: 0.5 * x * (1.0 + erf(x / math.sqrt(2.0))),
    "gelu_tanh": _gelu_tanh,
    "gelu_quick": lambda x: x * sigmoid(1.702 * x),
    "silu": lambda x: x * sigmoid(x),
    "hardswish": lambda x: x * np.clip(x + 3.0, 0.0, 6.0) / 6.0,
    "hardsigmoid": lambda x: np.clip(x + 3.0, 0.0, 6.0) / 6.0,
    "hardtanh": lambda x: np.clip(x, -1.0, 1.0),
    "sigmoid": sigmoid,
    "tanh": np.tanh,
    "softplus": softplus,
    "softsign": lambda x: x / (1.0 + np.abs(x)),
    "mish": lambda x: x * np.tanh(softplus(x)),
    "selu": _selu,
    "logsigmoid": lambda x: -softplus(-x),
}
FUNCTIONS: Final[Mapping[str, Function]] = {
    "abs": np.abs,
    "neg": np.negative,
    "exp": np.exp,
    "square": np.square,
    "log": np.log,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1.0 / np.sqrt(x),
    "reciprocal": lambda x: 1.0 / x,
    "erf": erf,
    "sin": np.sin,
    "cos": np.cos,
    "sign": np.sign,
    "expm1": np.expm1,
    "floor": np.floor,
    "round": np.round,
}
_CASTS: Final = {"float16": np.dtype(np.float16), "bfloat16": np.dtype(ml_dtypes.bfloat16)}


def elementwise(given: Array, made: Array, floor: float, kind: str = "") -> Form | None:
    """The function that makes one value from another of the same size, element by element.

    ``kind`` is an operator's name: what it says is tried before anything else.
    """
    if given.size != made.size or not given.size:
        return None
    x, y = sampled(given), sampled(made)
    with np.errstate(all="ignore"):
        forms = list(_fixed(kind)) + [way for way in _fitted(x, y, floor) if way is not None]
        forms.sort(key=lambda form: form.name.removesuffix("_tanh") != kind)
        for form in forms:
            if level(form.apply(x), y) <= floor:
                return form
    return None


def affine(given: Array, made: Array, floor: float) -> Form | None:
    """A factor, an added constant, or both."""
    if given.size != made.size or given.size < 2:
        return None
    with np.errstate(all="ignore"):
        x, y = sampled(given), sampled(made)
        for form in (_scale(x, y), _offset(x, y), _both(x, y)):
            if form is not None and level(form.apply(x), y) <= floor:
                return form
    return None


def _fixed(kind: str) -> Iterator[Form]:
    yield Form("identity", "identity", floats)
    for name, function in ACTIVATIONS.items():
        yield Form(name, "activation", _in_floats(function))
    # These are hardly ever meant unless an operator says so.
    for name, function in FUNCTIONS.items():
        if name in ("abs", "neg", "exp", "square") or name == kind:
            yield Form(name, "function", _in_floats(function))


def _in_floats(function: Function) -> Callable[[Array], Array]:
    def apply(value: Array) -> Array:
        return function(floats(value))

    return apply


def _fitted(x: Floats, y: Floats, floor: float) -> Iterator[Form | None]:
    yield _leaky(x, y)
    yield _elu(x, y)
    yield _scale(x, y)
    yield _offset(x, y)
    yield _clamp(x, y, floor)
    yield _both(x, y)
    yield _power(x, y)


def _scale(x: Floats, y: Floats) -> Form | None:
    finite = np.isfinite(x) & np.isfinite(y)
    base = float(np.dot(x[finite], x[finite]))
    if not base:
        return None
    factor = float(np.dot(x[finite], y[finite])) / base
    return Form("scale", "scale", lambda value: factor * floats(value), {"factor": factor}) if factor else None


def _offset(x: Floats, y: Floats) -> Form | None:
    finite = np.isfinite(x) & np.isfinite(y)
    if not finite.any():
        return None
    added = float(np.mean(y[finite] - x[finite]))
    return Form("offset", "offset", lambda value: floats(value) + added, {"added": added})


def _both(x: Floats, y: Floats) -> Form | None:
    finite = np.isfinite(x) & np.isfinite(y)
    if finite.sum() < _MIN_VALUES:
        return None
    shifted = x[finite] - x[finite].mean()
    spread = float(np.dot(shifted, shifted))
    if not spread:
        return None
    factor = float(np.dot(shifted, y[finite])) / spread
    if not factor:
        return None
    added = float(y[finite].mean() - factor * x[finite].mean())
    settings = {"factor": factor, "added": added}
    return Form("affine", "affine", lambda value: factor * floats(value) + added, settings)


def _leaky(x: Floats, y: Floats) -> Form | None:
    below = x < 0
    if below.sum() < _MIN_VALUES or (~below).sum() < _MIN_VALUES:
        return None
    slope = float(np.dot(x[below], y[below]) / np.dot(x[below], x[below]))

    def apply(value: Array) -> Array:
        found = floats(value)
        return np.where(found < 0, slope * found, found)

    return Form("leaky_relu", "activation", apply, {"slope": slope})


def _elu(x: Floats, y: Floats) -> Form | None:
    below = x < 0
    if below.sum() < _MIN_VALUES or (~below).sum() < _MIN_VALUES:
        return None
    bent = np.expm1(x[below])
    alpha = float(np.dot(bent, y[below]) / np.dot(bent, bent))

    def apply(value: Array) -> Array:
        found = floats(value)
        return np.where(found < 0, alpha * np.expm1(np.minimum(found, 0.0)), found)

    return Form("elu", "activation", apply, {"alpha": alpha})


def _clamp(x: Floats, y: Floats, floor: float) -> Form | None:
    """Between the smallest and the largest that came out, where those came out of more than one value."""
    if not np.isfinite(y).all():
        return None
    near = floor * float(np.max(np.abs(y)))
    low = float(y.min()) if ((y <= y.min() + near) & (x < y.min() - near)).any() else -math.inf
    high = float(y.max()) if ((y >= y.max() - near) & (x > y.max() + near)).any() else math.inf
    if (low == -math.inf and high == math.inf) or low == high:
        return None
    return Form("clamp", "clamp", lambda value: np.clip(floats(value), low, high), {"low": low, "high": high})


def _power(x: Floats, y: Floats) -> Form | None:
    fit = (x > 0) & (y > 0) & (np.abs(np.log(np.abs(x))) > 1e-3)
    if fit.sum() < _MIN_VALUES:
        return None
    found = np.log(y[fit]) / np.log(x[fit])
    exponent = round(float(np.median(found)), 3)
    return Form("pow", "function", lambda value: np.power(floats(value), exponent), {"exponent": exponent})


def cast(given: Array, made: Array, floor: float) -> Form | None:
    """A way through a shorter dtype: the one whose rounding is what parts the two values."""
    if given.size != made.size or level(made, given) <= floor:
        return None
    x, y = sampled(given), sampled(made)
    # What only gets too large for it says nothing of roundings: it may be a mask of any kind.
    if not (x != y)[np.isfinite(y) & np.isfinite(x)].any():
        return None
    for name, short in _CASTS.items():
        with np.errstate(all="ignore"):
            if level(floats(x.astype(short)), y) <= floor:
                return Form(name, "cast", _through(short), {"dtype": name})
    return None


def _through(short: DType) -> Callable[[Array], Array]:
    def apply(value: Array) -> Array:
        return floats(floats(value).astype(short))

    return apply
