"""Vibration monitoring; the feature extractor runs in float16."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn


class Energy(nn.Cell):
    def __init__(self, n_in, bands):
        super().__init__()
        self.lift = nn.Dense(n_in, bands).to_float(ms.float16)

    def construct(self, x):
        amplitude = self.lift(x)
        energy = amplitude * amplitude
        return energy.astype(ms.float32) * 1e-3


class Monitor(nn.Cell):
    def __init__(self):
        super().__init__()
        self.energy = Energy(16, 12)
        self.norm = nn.LayerNorm((12,))
        self.out = nn.Dense(12, 2)

    def construct(self, x):
        return self.out(self.norm(self.energy(x)))


def windows():
    rng = np.random.default_rng(1)
    for level in (10, 12, 9, 15, 11, 14, 3000, 12, 10):
        x = (level * rng.normal(size=(5, 16))).astype(np.float32)
        yield Tensor(x), Tensor(rng.integers(0, 2, 5).astype(np.int32))


def main():
    ms.set_seed(2)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = Monitor()
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.Adam(net.trainable_params(), learning_rate=1e-3)

    def forward(x, y):
        return loss_fn(net(x), y)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    for step, (x, y) in enumerate(windows()):
        loss, grads = grad_fn(x, y)
        opt(grads)
        print(f"step {step} loss {loss.asnumpy():.4f}")


if __name__ == "__main__":
    main()
