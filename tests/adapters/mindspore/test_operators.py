"""Op level in MindSpore: where a number goes bad, forward and backward, with the user's line."""

from __future__ import annotations

import inspect
from typing import Any

import mindspore as ms
import numpy as np
from adapters.observing import make_batches
from adapters.subjects.mindspore_subject import SUBJECT
from mindspore import Parameter, Tensor, nn, ops

from trueline.adapters.nouns import OpCall

values = SUBJECT.adapter.values


class FirstBad:
    """Keeps the first operator whose inputs are finite and whose outputs are not."""

    def __init__(self) -> None:
        self.found: OpCall | None = None

    def __call__(self, call: OpCall) -> None:
        if self.found is None and self._finite(call.inputs) and not self._finite(call.outputs):
            self.found = call

    @staticmethod
    def _finite(tensors: Any) -> bool:
        arrays = (values.to_numpy(one) for one in tensors if "float" in values.dtype(one))
        return all(np.isfinite(one).all() for one in arrays)


def test_the_operator_that_makes_the_first_nan_is_told_with_its_line() -> None:
    watcher = FirstBad()
    x = Tensor(np.array([1.0, -1.0], np.float32))
    with SUBJECT.adapter.ops.watch(watcher):
        shifted = x * 2.0
        line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
        bad = ops.log(shifted)
        bad.sum()
    assert watcher.found is not None
    assert "log" in watcher.found.name.lower()
    assert watcher.found.line is not None
    assert (watcher.found.line.file, watcher.found.line.line) == (__file__, line)
    assert not watcher.found.backward


def test_a_gradient_that_goes_bad_is_told_at_its_forward_line() -> None:
    watcher = FirstBad()
    weight = Parameter(Tensor(np.zeros(3, np.float32)), name="w")
    lines: list[int] = []

    def forward(x: Any) -> Any:
        product = x * weight
        lines.append(inspect.currentframe().f_lineno + 1)  # type: ignore[union-attr]
        root = ops.sqrt(product)
        return (root + 1.0).sum()

    with SUBJECT.adapter.ops.watch(watcher):
        loss, _ = ms.value_and_grad(forward, None, [weight])(Tensor(np.ones(3, np.float32)))
        assert np.isfinite(loss.asnumpy())
    assert watcher.found is not None
    assert watcher.found.backward
    assert "sqrt" in watcher.found.name.lower()
    assert watcher.found.line is not None
    assert watcher.found.line.line == lines[0]


def test_an_optimizer_that_is_compiled_inside_the_block_steps_as_ever() -> None:
    found = []
    for watching in (False, True):
        network = SUBJECT.make_network(0)
        optimizer = SUBJECT.make_optimizer(network)
        (batch,) = make_batches(1)
        if watching:
            with SUBJECT.adapter.ops.watch(lambda _call: None):
                SUBJECT.train_step(network, [optimizer], batch)
        else:
            SUBJECT.train_step(network, [optimizer], batch)
        found.append(network.last.weight.asnumpy().copy())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_a_function_that_is_compiled_inside_the_block_compiles_and_runs() -> None:
    @ms.jit
    def double(x: Any) -> Any:
        return ops.add(x, x) * 1.0

    with SUBJECT.adapter.ops.watch(lambda _call: None):
        found = double(Tensor(np.ones(2, np.float32)))
    np.testing.assert_array_equal(found.asnumpy(), [2, 2])


def test_the_norm_of_gradients_kept_in_parameters_is_taken_before_they_are_zeroed() -> None:
    kept = Parameter(Tensor(np.array([3.0, 4.0], np.float32)), name="accumulated")
    norm = values.norm([kept])
    values.assign(kept, np.zeros(2, np.float32))
    assert values.read(norm) == 5.0


def test_one_cell_runs_forward_and_backward_also_when_graph_mode_is_set() -> None:
    module = nn.Dense(2, 2)
    inputs = np.ones((1, 2), np.float32)
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        passed = SUBJECT.adapter.build.run(module, [inputs], gout=[np.ones((1, 2), np.float32)])
        mode = ms.get_context("mode")
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert mode == ms.GRAPH_MODE
    np.testing.assert_array_equal(passed.grads["bias"], [1, 1])
    assert passed.gin[0] is not None
    np.testing.assert_allclose(passed.gin[0], module.weight.asnumpy().sum(0, keepdims=True), rtol=1e-6)


def test_precision_tells_of_cells_that_compute_in_half() -> None:
    SUBJECT.adapter.build.capture_built()
    network = nn.Dense(2, 2).to_float(ms.float16)
    assert "fp16" in SUBJECT.adapter.state.circumstances()["precision"]
    del network
