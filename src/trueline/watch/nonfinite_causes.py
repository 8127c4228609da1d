"""Why an operator most likely made NaN or Inf: from its kind and the numbers that it took and gave."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from trueline.apitable.opkinds import op_kind, op_kinds
from trueline.model.message import Message, message
from trueline.model.summary import Summary

_LOGS: Final = frozenset(("log", "log2", "log10"))
_EXPONENTS: Final = frozenset(("exp", "exp2", "expm1", "sinh", "cosh"))
_DIVISIONS: Final = frozenset(("div", "floor_div", "mod", "addcdiv"))
_NORMALISATIONS: Final = frozenset(
    ("batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm", "l2_normalise", "std", "var")
)
_PRODUCTS: Final = frozenset(
    ("mul", "matmul", "linear", "conv", "conv_transpose", "outer", "einsum", "addcmul", "square", "prod", "lerp")
)
_SUMS: Final = frozenset(("add", "sub", "sum", "mean", "cumsum", "mse_loss", "l1_loss", *_PRODUCTS, *_NORMALISATIONS))
_SOFTMAXES: Final = frozenset(("softmax", "log_softmax", "logsumexp", "cross_entropy", "attention"))
_MEANS: Final = frozenset(
    ("mean", "nll_loss", "cross_entropy", "mse_loss", "l1_loss", "smooth_l1_loss", "kl_div", "bce")
)
_ARCS: Final = frozenset(("acos", "asin"))
_INVERSES: Final = frozenset((*_ARCS, "acosh", "atanh", "erfinv"))
_NORMS: Final = frozenset(("norm", "cdist", "l2_normalise", "hypot"))
# These put a number of the user's into a tensor, -inf above all, or hand on what they are given.
_MASKING: Final = frozenset(
    ("full", "masked_fill", "where", "assign", "fill", "constant", "fills", "select", "triu", "tril")
)
_BACKWARD_ENDINGS: Final = ("_backward", "backward", "_grad", "grad", "gradv2", "gradgrad")
_LARGEST: Final = {"float16": 65504.0, "bfloat16": 3.39e38, "float32": 3.40282347e38, "float64": 1.79769313e308}


class Cause(NamedTuple):
    """The likely cause: its id, a clause that says it with numbers, and what to do."""

    id: str
    message: Message
    advice: Message


@dataclass(frozen=True, slots=True)
class _Op:
    """One operator's call, as the rules see it."""

    kind: str
    inputs: Sequence[Summary]
    outputs: Sequence[Summary]
    dtypes: Sequence[str]

    @property
    def nan(self) -> bool:
        return any(output.nan for output in self.outputs)

    @property
    def inf(self) -> bool:
        return any(output.pos_inf or output.neg_inf for output in self.outputs)

    @property
    def first(self) -> Summary | None:
        return self.inputs[0] if self.inputs else None

    @property
    def low(self) -> float:
        return min((summary.minimum for summary in self.inputs), default=0.0)

    @property
    def largest(self) -> float:
        return max((max(abs(summary.minimum), abs(summary.maximum)) for summary in self.inputs), default=0.0)

    @property
    def dtype(self) -> str:
        """The dtype of what it gave; without that the shortest float that it took."""
        floats = [one for one in self.dtypes[len(self.inputs) :] or self.dtypes if one in _LARGEST]
        return min(floats, key=lambda one: _LARGEST[one], default="float32")

    def has_zeros(self) -> bool:
        return any(summary.zeros for summary in self.inputs)


def kind_of(name: str, frameworks: Sequence[str] = ("mindspore", "torch")) -> tuple[str, bool]:
    """An operator's kind by its name in a framework, and whether the name is that of a backward pass."""
    lower = name.lower().strip("_").rstrip("0123456789") if name.lower().endswith("backward0") else name.lower()
    plain = _known(lower, frameworks)
    if plain is not None:
        return plain, False
    for ending in _BACKWARD_ENDINGS:
        if lower.endswith(ending) and lower != ending:
            base = lower.removesuffix(ending)
            return _known(base, frameworks) or base, True
    return lower, False


def _known(name: str, frameworks: Sequence[str]) -> str | None:
    if name in op_kinds():
        return name
    tried = (op_kind(framework, one) for one in (name, name.strip("_")) for framework in frameworks)
    return next((one for one in tried if one in op_kinds()), None)


def is_mask(kind: str, inputs: Sequence[Summary], outputs: Sequence[Summary]) -> bool:
    """Whether all that is not finite is a -inf that someone has put there or that was handed on, as masks are."""
    if any(summary.nan or summary.pos_inf for summary in (*inputs, *outputs)) or not any(
        output.neg_inf for output in outputs
    ):
        return False
    return kind in _MASKING or any(summary.neg_inf for summary in inputs)


def likely(
    op_kind: str,
    inputs: Sequence[Summary],
    outputs: Sequence[Summary],
    dtypes: Sequence[str],
    *,
    backward: bool = False,
) -> Cause:
    """The likely cause of what is not finite in the outputs.

    ``op_kind`` is a kind of the table of operators, ``dtypes`` those of the inputs and after them those of the outputs.
    For a backward pass the inputs are what the forward operator took and the gradient that came in, as far as known.
    """
    kind, named_backward = kind_of(op_kind)
    op = _Op(kind, inputs, outputs, dtypes)
    rules = _BACKWARD if backward or named_backward else _FORWARD
    if any(summary.non_finite for summary in inputs):
        rules = _ON_BAD_INPUTS
    return next((found for rule in rules if (found := rule(op)) is not None), None) or _cause("other", op=op.kind)


def _cause(id: str, said: str | None = None, **params: object) -> Cause:
    said = said or id
    return Cause(id, Message(f"nonfinite.{said}", params), message(f"nonfinite.advice_{said}"))


def _zero_times_inf(op: _Op) -> Cause | None:
    if op.kind not in _PRODUCTS or not op.nan or any(summary.nan for summary in op.inputs):
        return None
    infinite = [place for place, summary in enumerate(op.inputs) if summary.non_finite]
    other = any(summary.zeros for place, summary in enumerate(op.inputs) if [place] != infinite)
    return _cause("zero_times_inf") if other else None


def _all_masked(op: _Op) -> Cause | None:
    masked = any(summary.neg_inf for summary in op.inputs) and not any(
        summary.nan or summary.pos_inf for summary in op.inputs
    )
    return _cause("all_masked_softmax") if op.kind in _SOFTMAXES and op.nan and masked else None


def _inf_minus_inf(op: _Op) -> Cause | None:
    if not op.nan or any(summary.nan for summary in op.inputs):
        return None
    plus, minus = sum(summary.pos_inf for summary in op.inputs), sum(summary.neg_inf for summary in op.inputs)
    if op.kind in _SOFTMAXES | _NORMALISATIONS:
        return _cause("inf_minus_inf") if plus else None
    both = plus + minus > 1 if op.kind in ("sub", "mse_loss", "l1_loss") else bool(plus and minus)
    # A product of matrices meets both signs as soon as the other factor has both.
    mixed = (
        op.kind in _PRODUCTS
        and bool(plus or minus)
        and any(summary.minimum < 0 < summary.maximum for summary in op.inputs)
    )
    return _cause("inf_minus_inf") if op.kind in _SUMS and (both or mixed) else None


def _bad_input(op: _Op) -> Cause | None:
    return _cause("bad_input") if any(summary.non_finite for summary in op.inputs) else None


def _logarithm(op: _Op) -> Cause | None:
    first, shift = op.first, 0.0
    if op.kind == "log1p":
        shift = -1.0
    elif op.kind not in _LOGS:
        return None
    if first is None:
        return None
    if first.minimum < shift:
        return _cause("log_of_negative", low=first.minimum)
    zeros = first.zeros if not shift else sum(output.neg_inf for output in op.outputs)
    return _cause("log_of_zero", zeros=zeros, count=first.count) if zeros else None


def _division(op: _Op) -> Cause | None:
    if op.kind in _DIVISIONS:
        divisor = op.inputs[-1] if len(op.inputs) > 1 else None
        if divisor is None:
            # Divided by a plain number: by zero nothing finite is left.
            whole = op.outputs and all(output.count and output.non_finite == output.count for output in op.outputs)
            return _cause("division_by_zero", zeros=1, count=1) if whole else None
    elif op.kind in ("reciprocal", "rsqrt") or (op.kind == "pow" and op.inf):
        divisor = op.first
    else:
        return None
    if divisor is None or not divisor.zeros:
        return None
    return _cause("division_by_zero", zeros=divisor.zeros, count=divisor.count)


def _nothing(op: _Op) -> Cause | None:
    """A mean of no elements, or of labels that are all ignored."""
    if op.kind not in _MEANS or not op.nan:
        return None
    empty = op.first is not None and not op.first.count
    ignored = op.kind in ("nll_loss", "cross_entropy") and all(output.count == 1 for output in op.outputs)
    return _cause("division_by_zero", "division_by_count") if empty or ignored else None


def _normalisation(op: _Op) -> Cause | None:
    return _cause("division_by_zero", "division_by_variance") if op.kind in _NORMALISATIONS and op.nan else None


def _exponential(op: _Op) -> Cause | None:
    if op.kind not in _EXPONENTS or not op.inf or op.first is None:
        return None
    high = op.largest if op.kind in ("sinh", "cosh") else op.first.maximum
    return _cause("exp_overflow", high=high, dtype=op.dtype)


def _domain(op: _Op) -> Cause | None:
    """Roots, powers and arcs outside of where they are defined."""
    if not op.nan or op.first is None:
        return None
    low, high = op.first.minimum, op.first.maximum
    if op.kind in ("sqrt", "rsqrt") and low < 0:
        return _cause("other", "root_of_negative", low=low)
    if op.kind == "pow" and low < 0:
        return _cause("other", "power_of_negative", low=low)
    if op.kind in _INVERSES:
        return _cause("other", "outside_domain", low=low, high=high)
    return None


def _half(op: _Op) -> Cause | None:
    if op.dtype != "float16" or not op.inf:
        return None
    return _cause("half_overflow", high=op.largest)


def _too_large(op: _Op) -> Cause | None:
    if op.inf or (op.nan and op.largest > math.sqrt(_LARGEST[op.dtype])):
        return _cause("overflow", high=op.largest, dtype=op.dtype)
    return None


def _unwritten(op: _Op) -> Cause | None:
    return _cause("other", "unwritten") if op.kind == "zeros" else None


def _root_slope(op: _Op) -> Cause | None:
    return _cause("sqrt_gradient_at_zero") if op.kind in ("sqrt", "std") and (op.has_zeros() or not op.inputs) else None


def _norm_slope(op: _Op) -> Cause | None:
    return _cause("norm_gradient_at_zero") if op.kind in _NORMS and (op.has_zeros() or not op.inputs) else None


def _power_slope(op: _Op) -> Cause | None:
    return _cause("power_gradient") if op.kind == "pow" and (op.has_zeros() or not op.inputs) else None


def _arc_slope(op: _Op) -> Cause | None:
    # Ones need not be the outermost numbers: the incoming gradient may be larger.
    return _cause("acos_gradient") if op.kind in _ARCS and (op.largest >= 1 - 1e-6 or not op.inputs) else None


def _log_slope(op: _Op) -> Cause | None:
    if op.kind not in _LOGS or not op.has_zeros():
        return None
    zeros = next(summary for summary in op.inputs if summary.zeros)
    return _cause("log_of_zero", zeros=zeros.zeros, count=zeros.count)


def _division_slope(op: _Op) -> Cause | None:
    if op.kind not in (*_DIVISIONS, "reciprocal", "rsqrt", "atan2") or not op.has_zeros():
        return None
    zeros = next(summary for summary in reversed(op.inputs) if summary.zeros)
    return _cause("division_by_zero", zeros=zeros.zeros, count=zeros.count)


_Rule = Callable[[_Op], Cause | None]
_ON_BAD_INPUTS: Final[tuple[_Rule, ...]] = (_all_masked, _zero_times_inf, _inf_minus_inf, _bad_input)
_ANY: Final[tuple[_Rule, ...]] = (_exponential, _normalisation, _half, _too_large, _unwritten)
_FORWARD: Final[tuple[_Rule, ...]] = (_logarithm, _domain, _division, _nothing, *_ANY)
_BACKWARD: Final[tuple[_Rule, ...]] = (
    *(_root_slope, _norm_slope, _power_slope, _arc_slope, _log_slope, _division_slope),
    *_ANY,
)
