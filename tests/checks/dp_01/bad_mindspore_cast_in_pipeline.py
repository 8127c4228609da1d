"""The pipeline turns the picture round and casts it; Rescale was left out."""

import mindspore as ms
import mindspore.dataset as ds
import mindspore.dataset.transforms as T
import mindspore.dataset.vision as V
import numpy as np
from mindspore import nn
from mindspore.train import Model


class Drawings:
    def __init__(self, count):
        draw = np.random.default_rng(0)
        self.labels = (np.arange(count) % 2).astype(np.int32)
        self.images = [
            np.clip(60 + 90 * k + draw.normal(0, 20, (8, 8, 1)), 0, 255).astype(np.uint8) for k in self.labels
        ]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


def pipeline(count):
    data = ds.GeneratorDataset(Drawings(count), ["image", "label"], shuffle=True)
    steps = [V.HWC2CHW(), T.TypeCast(ms.float32)]  # expect: dp.01
    return data.map(steps, input_columns="image").batch(16)


ms.set_seed(0)
net = nn.SequentialCell(nn.Conv2d(1, 4, 3, pad_mode="valid"), nn.ReLU(), nn.Flatten(), nn.Dense(144, 2))
model = Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.001))
model.train(2, pipeline(64), dataset_sink_mode=False)
