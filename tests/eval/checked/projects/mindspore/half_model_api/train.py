"""amp_level="O2" with a fixed loss scale, the way our Ascend jobs are set up, small enough for a laptop."""

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
import mindspore.dataset.transforms as transforms
from mindspore import nn
from mindspore.train import LossMonitor, Model
from mindspore.train.metrics import Accuracy

LOSS_SCALE = 1024.0
EPOCHS = 3


class Tones:
    """Power spectra of three chords, in decibel: roughly -40 .. 20."""

    NOTES = ((2, 5, 9), (3, 7, 12), (4, 8, 14))

    def __init__(self, n, seed):
        g = np.random.default_rng(seed)
        self.label = np.arange(n) % 3
        self.db = g.normal(-30, 4, (n, 16))
        for row, k in zip(self.db, self.label):
            row[list(self.NOTES[k])] += g.uniform(20, 35, 3)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return self.db[i].astype(np.float32), np.int32(self.label[i])


def to_unit(db):
    return ((db + 25.0) / 12.0).astype(np.float32)


def pipeline(n, seed, is_train):
    data = ds.GeneratorDataset(Tones(n, seed), ["spec", "label"], shuffle=is_train)
    data = data.map(to_unit, "spec").map(transforms.TypeCast(ms.int32), "label")
    return data.batch(32, drop_remainder=is_train)


class ChordNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(16, 32, has_bias=False)
        self.bn1 = nn.BatchNorm1d(32)
        self.fc2 = nn.Dense(32, 3)
        self.relu = nn.ReLU()

    def construct(self, spec):
        return self.fc2(self.relu(self.bn1(self.fc1(spec))))


def main():
    ms.set_seed(10)
    net = ChordNet()
    # drop_overflow_update=False leaves the division to the optimizer, so both get the same number
    manager = ms.FixedLossScaleManager(LOSS_SCALE, drop_overflow_update=False)
    opt = nn.Momentum(net.trainable_params(), learning_rate=0.05, momentum=0.9, loss_scale=LOSS_SCALE)
    model = Model(
        net,
        loss_fn=nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        optimizer=opt,
        metrics={"top1": Accuracy()},
        amp_level="O2",  # normalisation and the loss stay in float32
        loss_scale_manager=manager,
    )
    train, valid = pipeline(160, 1, True), pipeline(60, 2, False)
    model.fit(EPOCHS, train, valid, callbacks=[LossMonitor(5)], dataset_sink_mode=False, valid_dataset_sink_mode=False)
    print("final", model.eval(valid, dataset_sink_mode=False))


if __name__ == "__main__":
    main()
