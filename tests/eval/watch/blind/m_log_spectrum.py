"""Machine-sound classifier: log power features inside the network, trained through Model.train."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops
from mindspore.train import Callback, Model


class LogPower(nn.Cell):
    def __init__(self, n_in, bands):
        super().__init__()
        self.bank = nn.Dense(n_in, bands, has_bias=False)

    def construct(self, x):
        power = ops.square(self.bank(x))
        return ops.log(power)


class SoundNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.front = LogPower(20, 8)
        self.fc1 = nn.Dense(8, 16)
        self.act = nn.Tanh()
        self.fc2 = nn.Dense(16, 3)

    def construct(self, x):
        feats = self.front(x)
        return self.fc2(self.act(self.fc1(feats)))


class Recordings:
    def __init__(self, n=48):
        rng = np.random.default_rng(2)
        self.x = rng.normal(0, 0.4, (n, 20)).astype(np.float32)
        self.x[26] = 0.0  # microphone unplugged
        self.y = rng.integers(0, 3, n).astype(np.int32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Progress(Callback):
    def on_train_step_end(self, run_context):
        args = run_context.original_args()
        print("step", args.cur_step_num - 1, "loss", float(args.net_outputs.asnumpy()))


def main():
    ms.set_seed(1)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = SoundNet()
    data = ds.GeneratorDataset(Recordings(), ["x", "y"], shuffle=False).batch(6)
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.SGD(net.trainable_params(), learning_rate=0.02)
    model = Model(net, loss_fn=loss_fn, optimizer=opt)
    model.train(1, data, callbacks=[Progress()], dataset_sink_mode=False)


if __name__ == "__main__":
    main()
