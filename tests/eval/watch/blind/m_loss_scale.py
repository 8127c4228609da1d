"""float16 hidden layers with a loss scale that is doubled every step and never checked."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.amp import StaticLossScaler


class HalfNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(10, 20).to_float(ms.float16)
        self.fc2 = nn.Dense(20, 2).to_float(ms.float16)

    def construct(self, x):
        h = ops.tanh(self.fc1(x))
        out = self.fc2(h)
        return out.astype(ms.float32)


def main():
    ms.set_seed(0)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(72, 10)).astype(np.float32)
    y = x[:, :2] - x[:, 2:4]
    net = HalfNet()
    mse = nn.MSELoss()
    opt = nn.SGD(net.trainable_params(), learning_rate=0.02)

    def forward(xb, yb, scaler):
        return scaler.scale(mse(net(xb), yb))

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    for step in range(9):
        scaler = StaticLossScaler(2.0 ** (13 + step))
        b = slice(8 * step, 8 * step + 8)
        scaled, grads = grad_fn(Tensor(x[b]), Tensor(y[b]), scaler)
        opt(scaler.unscale(grads))
        print(step, scaler.unscale([scaled])[0])


if __name__ == "__main__":
    main()
