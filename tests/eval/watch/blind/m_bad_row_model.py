"""Tabular regression through the high-level Model interface."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Callback, Model


class Table:
    def __init__(self, n=64, columns=6):
        rng = np.random.default_rng(31)
        self.x = rng.normal(size=(n, columns)).astype(np.float32)
        self.y = self.x[:, :1] - self.x[:, 1:2]
        self.x[42, 5] = np.nan

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(6, 24), nn.ReLU(), nn.Dense(24, 24), nn.ReLU(), nn.Dense(24, 1))

    def construct(self, x):
        return self.layers(x)


class Report(Callback):
    def on_train_step_end(self, run_context):
        args = run_context.original_args()
        print(args.cur_step_num, args.net_outputs)


def main():
    ms.set_seed(0)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    data = ds.GeneratorDataset(Table(), ["x", "y"], shuffle=False).batch(8)
    net = Net()
    model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 1e-3))
    model.train(1, data, callbacks=[Report()], dataset_sink_mode=False)


if __name__ == "__main__":
    main()
