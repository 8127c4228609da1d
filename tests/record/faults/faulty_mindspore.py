"""The training in MindSpore."""

import mindspore as ms
import numpy as np
from mindspore import nn, ops

import __main__ as main

ms.set_seed(0)
np.random.seed(0)


class Part(nn.Cell):
    def __init__(self, odd=None):
        super().__init__()
        self.inner = nn.Dense(4, 4)

    def construct(self, x):
        return ops.relu(self.inner(x))


class Expanding(nn.Cell):
    def construct(self, x):
        return ops.broadcast_to(ops.zeros((1,), ms.float32), (2**30,))


class Nested(nn.Cell):
    def __init__(self, levels):
        super().__init__()
        # A parameter's name has all of them in it, and may have 1024 letters.
        self.i = Nested(levels - 1) if levels else nn.Dense(4, 4)

    def construct(self, x):
        return self.i(x)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Dense(8, 4), nn.Dense(4, 2)
        self.part = Part(main.Raises() if main.FAULT == "objects" else None)
        self.more = Expanding() if main.FAULT == "expanded" else nn.Identity()
        self.nested = Nested(LEVELS) if main.FAULT == "recursion" else nn.Identity()
        if main.FAULT == "buffers":
            self.part._buffers[0] = ms.Tensor(np.zeros(1, np.float32))

    def construct(self, x):
        self.more(x)
        return self.last(self.nested(self.part(self.first(x))))


LEVELS = 200


def train(net, told, before):
    draw = np.random.RandomState(1)
    x, y = ms.Tensor(draw.randn(16, 8).astype(np.float32)), ms.Tensor(draw.randint(0, 2, (16,)).astype(np.int32))
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    compute = ms.value_and_grad(lambda a, b: ops.cross_entropy(net(a), b), None, optimizer.parameters)
    net.set_train()
    for step in range(main.STEPS):
        before(step)
        loss, gradients = compute(x, y)
        optimizer(gradients)
        told(step, loss.asnumpy())
    return main.digest(one.asnumpy() for one in net.trainable_params())
