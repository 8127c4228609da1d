"""Electric load forecast: sliding windows into a small recurrent regressor."""
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor
import mindspore.dataset as ds

ms.set_context(mode=ms.PYNATIVE_MODE)


class Windows:
    def __init__(self, n=300, width=12, seed=0):
        rng = np.random.default_rng(seed)
        t = np.arange(n + width + 1)
        series = np.sin(t / 3.0) + 0.5 * np.sin(t / 7.0) + 0.05 * rng.normal(size=t.shape)
        self.series = series.astype(np.float32)
        self.n, self.width = n, width

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        i = int(i)
        return self.series[i:i + self.width], self.series[i + self.width]


class Forecaster(nn.Cell):
    def __init__(self, width=12, hidden=24):
        super().__init__()
        self.inp = nn.Dense(width, hidden)
        self.mid = nn.Dense(hidden, hidden)
        self.out = nn.Dense(hidden, 1)

    def construct(self, x):
        h = ops.tanh(self.inp(x))
        h = h + ops.tanh(self.mid(h))
        return self.out(h)


class NetWithLoss(nn.Cell):
    def __init__(self, net, loss_fn):
        super().__init__(auto_prefix=False)
        self.net = net
        self.loss_fn = loss_fn

    def construct(self, x, y):
        return self.loss_fn(self.net(x), y)


def main():
    ms.set_seed(1)
    data = ds.GeneratorDataset(Windows(), ["x", "y"], shuffle=True, python_multiprocessing=False)
    data = data.batch(30)
    net = Forecaster()
    cell = NetWithLoss(net, nn.MSELoss())
    opt = nn.Adam(net.trainable_params(), learning_rate=5e-3)
    step = ms.value_and_grad(cell, None, opt.parameters)
    cell.set_train(True)
    for epoch in range(5):
        losses = []
        for x, y in data.create_tuple_iterator():
            loss, grads = step(x, y)
            opt(grads)
            losses.append(float(loss.asnumpy()))
        print(f"epoch {epoch} loss {np.mean(losses):.4f}")


main()
