"""The validation pipeline is built with training=True, and flips."""

import mindspore as ms
import mindspore.dataset as ds
import mindspore.dataset.vision as V
import numpy as np
from mindspore import nn
from mindspore.train import Model


class Pictures:
    def __init__(self, count, seed):
        draw = np.random.default_rng(seed)
        self.labels = (np.arange(count) % 2).astype(np.int32)
        self.images = draw.integers(0, 256, (count, 8, 8, 1)).astype(np.uint8)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


def build(count, seed, training):
    data = ds.GeneratorDataset(Pictures(count, seed), ["image", "label"], shuffle=training)
    steps = [V.Rescale(1 / 255, 0.0), V.Normalize([0.5], [0.29], is_hwc=True), V.HWC2CHW()]
    if training:
        steps.insert(0, V.RandomHorizontalFlip(0.5))
    return data.map(steps, "image").batch(16, drop_remainder=training)


ms.set_seed(0)
train = build(64, 1, training=True)
valid = build(32, 2, training=True)  # expect: dp.02
net = nn.SequentialCell(nn.Flatten(), nn.Dense(64, 2))
model = Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.001), metrics={"accuracy"})
model.train(2, train, dataset_sink_mode=False)
print(model.eval(valid, dataset_sink_mode=False))
