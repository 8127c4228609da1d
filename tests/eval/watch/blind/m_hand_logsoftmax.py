"""Language identification; the logit temperature is sharpened while training."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from seq_losses import nll


class Encoder(nn.Cell):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.fc1 = nn.Dense(n_in, 32, activation="relu")
        self.fc2 = nn.Dense(32, n_out)

    def construct(self, x):
        return ops.sigmoid(self.fc2(self.fc1(x)))


class LanguageNet(nn.Cell):
    def __init__(self, classes=4):
        super().__init__()
        self.encoder = Encoder(12, 6)
        self.proto = Parameter(Tensor(np.full((6, classes), 0.2, np.float32)), name="proto")

    def construct(self, x, sharpness):
        return sharpness * ops.matmul(self.encoder(x), self.proto)


def batches(steps=8, size=6):
    rng = np.random.default_rng(10)
    for _ in range(steps):
        x = rng.normal(size=(size, 12)).astype(np.float32)
        y = rng.integers(0, 4, size).astype(np.int32)
        yield Tensor(x), Tensor(y)


def main():
    ms.set_seed(0)
    net = LanguageNet()
    opt = nn.SGD(net.trainable_params(), learning_rate=0.001)

    def forward(x, y, sharpness):
        logits = net(x, sharpness)
        return nll(logits, y, 4)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    for step, (x, y) in enumerate(batches()):
        loss, grads = grad_fn(x, y, 10.0 * 2**step)
        opt(grads)
        print(step, loss.asnumpy())


if __name__ == "__main__":
    main()
