"""The port with one fault in the gradients of each block."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops


class Block(nn.Cell):
    """Two layers, and code between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Dense(6, 6)
        self.second = nn.Dense(6, 6)
        self.scale = ms.Parameter(ms.Tensor(np.full(6, 0.5, np.float32)))

    def construct(self, x: Any) -> Any:
        return x + self.second(self.between(ops.tanh(self.first(x))) * self.scale)  # expect: taken

    def between(self, hidden: Any) -> Any:
        return hidden


class Stopped(Block):
    def between(self, hidden: Any) -> Any:
        return ops.stop_gradient(hidden)  # expect: stopped


class Ungraded(Block):
    def between(self, hidden: Any) -> Any:
        with ms.common._no_grad():  # expect: ungraded
            return hidden * 1.0


class ThroughNumPy(Block):
    def between(self, hidden: Any) -> Any:
        return ms.Tensor(hidden.asnumpy())


class HalfStopped(Block):
    def between(self, hidden: Any) -> Any:
        kept = ops.stop_gradient(hidden)
        return hidden * 0.5 + kept * 0.5


class TwiceStopped(HalfStopped):
    """Stops one gradient as the benchmark does, and another one."""

    def construct(self, x: Any) -> Any:
        return super().construct(x) - x + ops.stop_gradient(x)  # expect: another stop


class OneOfTwo(Block):
    def between(self, hidden: Any) -> Any:
        return ops.stop_gradient(hidden) * 0.5 + ops.sin(hidden)  # expect: one stop


class Ties(Block):
    """Several of the largest, of which frameworks choose as they like."""

    def between(self, hidden: Any) -> Any:
        return hidden * ops.clamp(hidden, -0.2, 0.2).max(1, keepdims=True)


class Turn(nn.Cell):
    """The value as it is, its gradient turned round."""

    def construct(self, x: Any) -> Any:
        return x * 1.0

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:
        return (-dout,)


class Turning(Block):
    def __init__(self) -> None:
        super().__init__()
        self.turn = Turn()

    def between(self, hidden: Any) -> Any:
        return self.turn(hidden)


class Cube(nn.Cell):
    """A layer with a backward of its own."""

    def __init__(self, factor: float = 3.0) -> None:
        super().__init__()
        self.factor = factor

    def construct(self, x: Any) -> Any:
        return x**3

    def bprop(self, x: Any, out: Any, dout: Any) -> Any:  # expect: wrong backward
        return (dout * self.factor * x**2,)


class Keep(nn.Cell):
    def construct(self, x: Any) -> Any:
        return x * 1.0


class Writing(Block):
    """Writes into its tensors."""

    def construct(self, x: Any) -> Any:
        hidden = ops.relu(self.first(x))
        hidden[:, 0] = 0.25
        return ops.cat((x, self.second(hidden)), 1).mean(1)


class Net(nn.Cell):
    def __init__(self, **blocks: nn.Cell) -> None:
        super().__init__()
        self.names = tuple(blocks)
        for name, block in blocks.items():
            setattr(self, name, block)

    def construct(self, x: Any) -> Any:
        for name in self.names:
            if name != "writing":
                x = ops.tanh(getattr(self, name)(x))
        return x + self.writing(x)[:, None]


def port() -> nn.Cell:
    return Net(
        plain=Block(),
        stopped=Stopped(),
        ungraded=Ungraded(),
        numpy=ThroughNumPy(),
        half=HalfStopped(),
        turning=Turning(),
        twice=TwiceStopped(),
        line=OneOfTwo(),
        ties=Ties(),
        wanted=Block(),
        cube=Cube(1.5),
        turn=Keep(),
        purpose=Turn(),
        right=Cube(),
        writing=Writing(),
    )
