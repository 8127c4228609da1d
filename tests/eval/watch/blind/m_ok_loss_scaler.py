"""Dynamic loss scaling: the scale grows until a step overflows, that step is dropped."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.amp import DynamicLossScaler, all_finite


class HalfNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(8, 16).to_float(ms.float16)
        self.fc2 = nn.Dense(16, 1).to_float(ms.float16)

    def construct(self, x):
        return self.fc2(ops.tanh(self.fc1(x))).astype(ms.float32)


def main():
    ms.set_seed(0)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    rng = np.random.default_rng(4)
    x = rng.normal(size=(80, 8)).astype(np.float32)
    y = x[:, :1] - x[:, 1:2]
    net = HalfNet()
    mse = nn.MSELoss()
    opt = nn.SGD(net.trainable_params(), 0.02)
    scaler = DynamicLossScaler(scale_value=2.0**11, scale_factor=8, scale_window=3)

    def forward(xb, yb):
        return scaler.scale(mse(net(xb), yb))

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    for step in range(8):
        b = slice(8 * step, 8 * step + 8)
        scaled, grads = grad_fn(Tensor(x[b]), Tensor(y[b]))
        loss = scaler.unscale([scaled])[0]
        finite = all_finite(grads)
        if finite:
            opt(scaler.unscale(grads))
        scaler.adjust(finite)
        print(step, loss, bool(finite), scaler.scale_value.asnumpy())


if __name__ == "__main__":
    main()
