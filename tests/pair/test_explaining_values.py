"""The values alone tell a fault too: each guess is computed, and only one that comes out right is said."""

from __future__ import annotations

import numpy as np
import pytest

from trueline.pair.blame import Cause
from trueline.pair.ops.explaining import explain_values
from trueline.pair.ops.forms import ACTIVATIONS
from trueline.pair.ops.same_values import level

RANDOM = np.random.default_rng(0)
X, U, Z = (1.5 * RANDOM.standard_normal((3, 2, 8, 6, 6))).astype(np.float32)
KNOWN = {"input 1": X, "conv": U, "norm": Z}


def act(name: str, value: np.ndarray) -> np.ndarray:
    return ACTIVATIONS[name](value.astype(np.float64))


def softmax(value: np.ndarray, axis: int) -> np.ndarray:
    return np.exp(value) / np.exp(value).sum(axis, keepdims=True)


CASES: dict[str, tuple[np.ndarray, np.ndarray, Cause]] = {
    **{f"no {name}": (act(name, U), U, Cause.ACTIVATION) for name in ("relu", "silu", "hardswish", "mish", "tanh")},
    "one ReLU too many": (U, act("relu", U), Cause.ACTIVATION),
    "GELU by tanh": (act("gelu", U), act("gelu_tanh", U), Cause.GELU_FORM),
    "another slope": (np.where(U < 0, 0.1 * U, U), np.where(U < 0, 0.2 * U, U), Cause.SLOPE),
    "no sum": (Z + X, Z, Cause.RESIDUAL),
    "no sum under a ReLU": (act("relu", Z + X), act("relu", Z), Cause.RESIDUAL),
    "a sum with another value": (Z + X, Z + U, Cause.RESIDUAL),
    "ReLU before the sum": (act("relu", Z + X), act("relu", Z) + X, Cause.ORDER),
    "SiLU under a sum": (act("relu", U) + X, act("silu", U) + X, Cause.ACTIVATION),
    "no scale": (U / np.sqrt(8), U, Cause.SCALE),
    "no offset": (U + 0.5, U, Cause.OFFSET),
    "axes in another order": (U.transpose(0, 1, 3, 2), U, Cause.TRANSPOSE),
    "another axis first": (U.transpose(0, 2, 3, 1), U, Cause.TRANSPOSE),
    "no reverse": (U[..., ::-1], U, Cause.TRANSPOSE),
    "concat in another order": (np.concatenate([U, Z], 1), np.concatenate([Z, U], 1), Cause.CONCAT_ORDER),
    "the maximum for the mean": (U.mean((2, 3)), U.max((2, 3)), Cause.POOLING),
    "the mean over another axis": (U.mean(2), U.mean(3), Cause.AXIS),
    "another row": (U[:, :, 0], U[:, :, 5], Cause.SLICE),
    "softmax over another axis": (softmax(U, 1), softmax(U, 3), Cause.AXIS),
    "a way through float16": (U, U.astype(np.float16), Cause.DTYPE),
    "no normalisation": ((U - U.mean(1, keepdims=True)) / U.std(1, keepdims=True), U, Cause.NORMALISATION),
    "padding on the other side": (
        np.pad(U, ((0, 0), (0, 0), (1, 0), (1, 0))),
        np.pad(U, ((0, 0), (0, 0), (0, 1), (0, 1))),
        Cause.PADDING,
    ),
    "no mask": (np.where(np.tri(6, dtype=bool), U, -np.inf), U, Cause.MASK),
    "no product": (U * Z, U, Cause.MISSING_OP),
    "no shift": (np.roll(U, (2, 2), (2, 3)), U, Cause.MISSING_OP),
}


@pytest.mark.parametrize("name", CASES)
def test_a_cause_is_read_off_two_values(name: str) -> None:
    bench, port, cause = CASES[name]
    found = explain_values(bench.astype(np.float32), np.asarray(port, np.float32), KNOWN, 1e-5, sink="fc")
    assert found.cause is cause
    assert found.confirmed
    assert "fc" in found.message.text("en")
    assert "{" not in found.message.text("zh") + found.edit.text("zh")


def test_what_nothing_explains_is_said_to_be_unknown() -> None:
    found = explain_values(U @ Z, U, KNOWN, 1e-5)
    assert found.cause is Cause.UNKNOWN
    assert not found.confirmed


@pytest.mark.parametrize("mode, corners", [("nearest", False), ("bilinear", False), ("bilinear", True)])
def test_interpolation_is_told_by_its_mode(mode: str, corners: bool) -> None:
    import torch

    small = torch.from_numpy(U)
    options = {} if mode == "nearest" else {"align_corners": corners}
    bench = torch.nn.functional.interpolate(small, size=(11, 11), mode=mode, **options).numpy()
    port = torch.nn.functional.interpolate(small, size=(11, 11), mode="bicubic", align_corners=False).numpy()
    found = explain_values(bench, port, KNOWN, 1e-5)
    assert found.cause is Cause.INTERPOLATION
    assert found.confirmed


def test_what_is_masked_away_is_no_scale_for_what_is_not() -> None:
    scores = np.array([0.5, -1e9, 2.0, -1e9])
    assert level(scores, scores) == 0.0
    assert level(np.array([0.25, -1e9, 1.0, -1e9]), scores) == 0.5
    assert level(np.array([0.5, 0.1, 2.0, -1e9]), scores) > 0.9
