"""Model.train with a callback that keeps the best loss, starting from infinity."""

import math

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.train import Callback, Model


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(5, 16), nn.ReLU(), nn.Dense(16, 1))

    def construct(self, x):
        return self.layers(x)


class KeepBest(Callback):
    def __init__(self):
        super().__init__()
        self.best = math.inf
        self.best_tensor = Tensor(np.inf, ms.float32)
        self.curve = np.full(16, np.inf)

    def on_train_step_end(self, run_context):
        args = run_context.original_args()
        loss = args.net_outputs
        self.best_tensor = ops.minimum(self.best_tensor, loss)
        self.best = min(self.best, float(loss.asnumpy()))
        self.curve[args.cur_step_num - 1] = float(loss.asnumpy())
        print(args.cur_step_num, loss, self.best, self.best_tensor, self.curve.min())


def rows():
    rng = np.random.default_rng(0)
    for _ in range(40):
        x = rng.normal(size=5).astype(np.float32)
        yield x, x[:1] * 2


def main():
    ms.set_seed(0)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    data = ds.GeneratorDataset(list(rows()), ["x", "y"], shuffle=False).batch(5)
    net = Net()
    model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 1e-2))
    model.train(1, data, callbacks=[KeepBest()], dataset_sink_mode=False)


if __name__ == "__main__":
    main()
