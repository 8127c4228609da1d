"""The dropout of ``mindspore.mint``: its layers have another name than they are imported under, and no CPU kernel."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore import mint, nn

from trueline.adapters.mindspore import steady


class _Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.drop = mint.nn.Dropout(p=0.5)

    def construct(self, x: ms.Tensor) -> ms.Tensor:
        return self.drop(x) + mint.nn.functional.dropout(x, p=0.25, training=self.training)


def test_layers_and_functions_of_mint_drop_nothing_and_tell_how_much_they_would() -> None:
    network = _Net().set_train(True)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    heard: list[float] = []

    def share(own: float) -> float:
        heard.append(own)
        return 0.0

    with steady.without_dropout(network, share):
        output = network(ms.Tensor(x))

    assert np.array_equal(output.asnumpy(), 2 * x)
    assert heard == [0.5, 0.25]
