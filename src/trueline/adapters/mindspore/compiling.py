"""Running a network as compiled: whether it is, and its results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import mindspore as ms
from mindspore import context, nn, ops

from trueline.adapters.mindspore import build, values
from trueline.adapters.mindspore.internals import is_jitted
from trueline.adapters.nouns import Network, Passed, Value
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array


def how(root: Network) -> str:
    """How the network or a part of it is compiled; empty where it is not."""
    if context.get_context("mode") == ms.GRAPH_MODE:
        return "GRAPH_MODE"
    cells = (cell for _, cell in values.modules(root))
    return "jit" if any(map(is_jitted, cells)) else ""


def run(root: Network, module: Network, inputs: Sequence[Array], *, gout: Sequence[Array] | None = None) -> Passed:  # noqa: ARG001
    """Forward pass of one cell in evaluation mode as one graph, with ``gout`` also backward."""
    given = [values.from_numpy(array) for array in inputs]
    with build.modes_kept(module, train=False), _whole_graphs():
        result = module(*given)
        outputs = [values.to_numpy(tensor, copy=True) for _, tensor in leaves(result, values.is_tensor)]
        named = {
            tensor.name: tensor.value for tensor in values.tensors(module) if tensor.trainable and not tensor.buffer
        }
        if gout is None or not named or not values.is_tensor(result):
            return Passed(outputs)
        pulled = _Pulled(module, list(named.values()))(*given, values.from_numpy(gout[0], like=result))
        grads = dict(zip(named, (values.to_numpy(gradient) for gradient in pulled), strict=True))
    return Passed(outputs, grads=grads)


class _Pulled(nn.Cell):  # type: ignore[misc]
    """Gradients at a cell's parameters; the last input is the output gradient."""

    def __init__(self, network: Network, weights: Sequence[Value]) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.weights = ms.ParameterTuple(weights)
        self.pull = ops.GradOperation(get_by_list=True, sens_param=True)

    def construct(self, *given):  # type: ignore[no-untyped-def]
        """The gradients in parameter order."""
        return self.pull(self.network, self.weights)(*given)


@contextmanager
def _whole_graphs() -> Iterator[None]:
    before = context.get_context("mode")
    context.set_context(mode=ms.GRAPH_MODE)
    try:
        yield
    finally:
        context.set_context(mode=before)
