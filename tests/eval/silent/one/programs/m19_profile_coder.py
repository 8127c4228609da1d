"""Profile auto-encoder, float16 layers, scaled loss."""
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor, Parameter
from mindspore.common.initializer import initializer, Normal
from mindspore.amp import StaticLossScaler

ms.set_context(mode=ms.PYNATIVE_MODE)


class ProfileCoder(nn.Cell):
    def __init__(self, size=256, width=32):
        super().__init__()
        self.enc1 = nn.Dense(size, width).to_float(ms.float16)
        self.enc2 = nn.Dense(width, width).to_float(ms.float16)
        self.dec1 = nn.Dense(width, width, weight_init=Normal(0.02)).to_float(ms.float16)
        self.dec2 = nn.Dense(width, size, weight_init=Normal(0.02)).to_float(ms.float16)

    def construct(self, x):
        h = ops.relu(self.enc2(ops.relu(self.enc1(x))))
        return self.dec2(ops.relu(self.dec1(h))).astype(ms.float32)


def profiles(rng, batch, size):
    centre = rng.uniform(20, size - 20, size=(batch, 1))
    axis = np.arange(size)[None]
    return (0.2 * np.exp(-((axis - centre) ** 2) / 50.0)).astype(np.float32)


class Step:
    def __init__(self, net, lr, accumulate):
        self.net = net
        self.accumulate = accumulate
        self.opt = nn.Adam(net.trainable_params(), learning_rate=lr)
        self.loss_fn = nn.MSELoss()
        self.scaler = StaticLossScaler(2.0 ** 14)
        self.grad_fn = ms.value_and_grad(self.forward, None, self.opt.parameters)

    def forward(self, x):
        return self.scaler.scale(self.loss_fn(self.net(x), x) / self.accumulate)

    def __call__(self, micro):
        total, shown = None, 0.0
        for x in micro:
            loss, grads = self.grad_fn(Tensor(x))
            shown += float(self.scaler.unscale(loss).asnumpy())
            grads = self.scaler.unscale(grads)
            total = grads if total is None else tuple(a + b for a, b in zip(total, grads))
        self.opt(total)
        return shown


def main(size=192, batch=64, accumulate=4, updates=10):
    ms.set_seed(0)
    rng = np.random.default_rng(0)
    net = ProfileCoder(size)
    step = Step(net, 2e-3, accumulate)
    net.set_train(True)
    for i in range(updates):
        loss = step([profiles(rng, batch, size) for _ in range(accumulate)])
        if i % 4 == 3:
            print(f"update {i + 1} loss {loss:.6f}")


main()
