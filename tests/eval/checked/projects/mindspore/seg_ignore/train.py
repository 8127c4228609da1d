"""Per-pixel labels with an ignored border, fully convolutional net, Model API in graph mode."""

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops
from mindspore.train import Callback, Metric, Model

IGNORE = 255


class Blocks:
    """A bright rectangle on noise: 0 background, 1 object, 255 along the outline (nobody agrees there)."""

    def __init__(self, n, seed, size=12):
        r = np.random.default_rng(seed)
        self.x = 0.5 * r.normal(size=(n, 1, size, size)).astype(np.float32)
        self.y = np.zeros((n, size, size), np.int32)
        for x, y in zip(self.x, self.y):
            h, w = r.integers(4, 8, 2)
            t, l = r.integers(0, size - h + 1), r.integers(0, size - w + 1)
            x[0, t : t + h, l : l + w] += 1.5
            y[t : t + h, l : l + w] = IGNORE
            y[t + 1 : t + h - 1, l + 1 : l + w - 1] = 1

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class FCN(nn.Cell):
    def __init__(self, width=8):
        super().__init__()
        self.net = nn.SequentialCell(
            nn.Conv2d(1, width, 3, pad_mode="same", has_bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, pad_mode="same", has_bias=True),
            nn.ReLU(),
            nn.Conv2d(width, 2, 1, pad_mode="valid", has_bias=True),
        )

    def construct(self, x):
        return self.net(x)


class PixelLoss(nn.Cell):
    """Cross entropy over the labelled pixels only, background and object weighted alike."""

    def __init__(self):
        super().__init__()
        self.logp = nn.LogSoftmax(axis=1)

    def construct(self, logits, y):
        logp = self.logp(logits)
        known = (y != IGNORE).astype(ms.float32)
        obj = (y == 1).astype(ms.float32)
        back = known - obj
        w_obj = 0.5 / ops.maximum(obj.sum(), ops.ones_like(obj.sum()))
        w_back = 0.5 / ops.maximum(back.sum(), ops.ones_like(back.sum()))
        return -(obj * w_obj * logp[:, 1] + back * w_back * logp[:, 0]).sum()


class IoU(Metric):
    def __init__(self):
        super().__init__()
        self.clear()

    def clear(self):
        self.inter = self.union = 0

    def update(self, *inputs):
        pred = inputs[0].asnumpy().argmax(1)
        y = inputs[1].asnumpy()
        known = y != IGNORE
        self.inter += int(((pred == 1) & (y == 1) & known).sum())
        self.union += int((((pred == 1) | (y == 1)) & known).sum())

    def eval(self):
        return self.inter / max(self.union, 1)


class PrintLoss(Callback):
    def on_train_epoch_begin(self, run_context):
        self.values = []

    def on_train_step_end(self, run_context):
        self.values.append(float(run_context.original_args().net_outputs.asnumpy()))

    def on_train_epoch_end(self, run_context):
        n = run_context.original_args().cur_epoch_num
        print(f"epoch {n}: first step {self.values[0]:.4f}, mean {np.mean(self.values):.4f}")


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(6)
    cols = ["image", "mask"]
    train = ds.GeneratorDataset(Blocks(128, 1), cols, shuffle=True).batch(16, drop_remainder=True)
    valid = ds.GeneratorDataset(Blocks(48, 2), cols, shuffle=False).batch(16)
    net = FCN()
    model = Model(net, PixelLoss(), nn.Adam(net.trainable_params(), 0.01), metrics={"iou": IoU()})
    print("before", model.eval(valid, dataset_sink_mode=False))
    model.train(3, train, callbacks=[PrintLoss()], dataset_sink_mode=False)
    print("after", model.eval(valid, dataset_sink_mode=False))
