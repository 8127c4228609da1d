"""The likely cause of NaN and Inf, by what real arrays do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from trueline.kernel import summarise
from trueline.watch.nonfinite_causes import Cause, is_mask, kind_of, likely

NAN, INF = float("nan"), float("inf")


def _a(*values: float, dtype: Any = np.float32) -> Any:
    return np.array(values, dtype)


def _softmax(x: Any) -> Any:
    raised = np.exp(x - x.max())
    return raised / raised.sum()


def _cause(kind: str, inputs: Sequence[Any], output: Any, *, backward: bool = False) -> Cause:
    dtypes = [one.dtype.name for one in (*inputs, output)]
    return likely(kind, [summarise(one) for one in inputs], [summarise(output)], dtypes, backward=backward)


HALF = np.float16
FORWARD: list[tuple[str, str, Sequence[Any], Callable[..., Any]]] = [
    ("log_of_zero", "log", [_a(0, 1)], np.log),
    ("log_of_zero", "log1p", [_a(-1, 1)], np.log1p),
    ("log_of_negative", "log2", [_a(-1, 0, 1)], np.log2),
    ("division_by_zero", "div", [_a(1, 1), _a(0, 1)], np.divide),
    ("division_by_zero", "div", [_a(0, 1), _a(0, 1)], np.divide),
    ("division_by_zero", "div", [_a(1, 2)], lambda x: x / np.float32(0)),
    ("division_by_zero", "reciprocal", [_a(0, 1)], np.reciprocal),
    ("division_by_zero", "rsqrt", [_a(0, 1)], lambda x: 1 / np.sqrt(x)),
    ("division_by_zero", "pow", [_a(0, 1)], lambda x: x**-1.0),
    ("division_by_zero", "mean", [_a()], lambda x: np.float32(NAN)),
    ("division_by_zero", "cross_entropy", [_a(1, 2)], lambda x: np.float32(NAN)),
    ("division_by_zero", "layer_norm", [_a(1, 1)], lambda x: (x - x.mean()) / x.std()),
    ("exp_overflow", "exp", [_a(89, 1)], np.exp),
    ("exp_overflow", "exp", [_a(12, 1, dtype=HALF)], np.exp),
    ("exp_overflow", "cosh", [_a(-90, 1)], np.cosh),
    ("half_overflow", "mul", [_a(300, 1, dtype=HALF), _a(300, 1, dtype=HALF)], np.multiply),
    ("half_overflow", "cast", [_a(70000, 1)], lambda x: x.astype(HALF)),
    ("overflow", "mul", [_a(1e30, 1), _a(1e30, 1)], np.multiply),
    ("overflow", "div", [_a(1e30, 1), _a(1e-30, 1)], np.divide),
    ("zero_times_inf", "mul", [_a(0, 1), _a(INF, 1)], np.multiply),
    ("zero_times_inf", "matmul", [_a(0, 1), _a(INF, 1)], np.dot),
    ("inf_minus_inf", "sub", [_a(INF, 1), _a(INF, 1)], np.subtract),
    ("inf_minus_inf", "sum", [_a(INF, -INF)], np.sum),
    ("inf_minus_inf", "softmax", [_a(INF, 1)], _softmax),
    ("all_masked_softmax", "softmax", [_a(-INF, -INF)], _softmax),
    ("bad_input", "add", [_a(NAN, 1), _a(1, 1)], np.add),
    ("bad_input", "mul", [_a(INF, 1), _a(1, 1)], np.multiply),
    ("other", "sqrt", [_a(-1, 1)], np.sqrt),
    ("other", "acos", [_a(1.1, 0)], np.arccos),
    ("other", "pow", [_a(-1, 1)], lambda x: x**0.5),
    ("other", "mystery", [_a(1, 1)], lambda x: x * np.float32(NAN)),
    ("other", "zeros", [], lambda: _a(NAN, 1)),
]
BACKWARD: list[tuple[str, str, Sequence[Any]]] = [
    ("sqrt_gradient_at_zero", "sqrt", [_a(0, 1), _a(1, 1)]),
    ("sqrt_gradient_at_zero", "SqrtGrad", [_a(0, 1), _a(1, 1)]),
    ("norm_gradient_at_zero", "norm", [_a(0, 0)]),
    ("power_gradient", "pow", [_a(0, 1)]),
    ("acos_gradient", "acos", [_a(1, 0.5)]),
    ("acos_gradient", "AcosBackward0", [_a(-1, 0.5)]),
    ("log_of_zero", "log", [_a(0, 1)]),
    ("division_by_zero", "div", [_a(1, 1), _a(0, 1)]),
    ("half_overflow", "matmul", [_a(1000, 1, dtype=HALF)]),
    ("overflow", "conv", [_a(1e30, 1)]),
    ("bad_input", "sqrt", [_a(INF, 1)]),
]


@pytest.mark.parametrize(("id", "kind", "inputs", "function"), FORWARD)
def test_a_forward_operator_s_cause(id: str, kind: str, inputs: Sequence[Any], function: Callable[..., Any]) -> None:
    with np.errstate(all="ignore"):
        output = np.asarray(function(*inputs))
    assert not np.isfinite(output.astype(np.float32)).all()
    _is_told(_cause(kind, inputs, output), id)


@pytest.mark.parametrize(("id", "kind", "inputs"), BACKWARD)
def test_a_backward_operator_s_cause(id: str, kind: str, inputs: Sequence[Any]) -> None:
    _is_told(_cause(kind, inputs, _a(INF, 0, dtype=inputs[0].dtype), backward=True), id)


def _is_told(cause: Cause, id: str) -> None:
    assert cause.id == id
    for lang in ("en", "zh"):
        for said in (cause.message.text(lang), cause.advice.text(lang)):
            assert said and "{" not in said and "nonfinite." not in said


def test_names_of_both_frameworks_lead_to_a_kind() -> None:
    told = {name: kind_of(name) for name in ("RealDiv", "SqrtGrad", "SqrtBackward0", "log_softmax", "Mystery")}
    assert told == {
        "RealDiv": ("div", False),
        "SqrtGrad": ("sqrt", True),
        "SqrtBackward0": ("sqrt", True),
        "log_softmax": ("log_softmax", False),
        "Mystery": ("mystery", False),
    }


def test_masks_of_minus_infinity_are_no_fault() -> None:
    plain, masked, zero = summarise(_a(0, 1)), summarise(_a(0, -INF)), summarise(_a(NAN, -INF))
    assert is_mask("masked_fill", [plain], [masked])
    assert is_mask("add", [plain, masked], [masked])
    assert not is_mask("log", [plain], [masked])
    assert not is_mask("masked_fill", [plain], [zero])
    assert not is_mask("softmax", [masked], [plain])
