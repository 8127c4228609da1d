"""The flag for training also chooses the numbers of Normalize."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.dataset import vision
from mindspore.train import Model


class Pictures:
    def __init__(self, count, seed):
        draw = np.random.default_rng(seed)
        self.x = draw.integers(0, 256, (count, 8, 8, 1)).astype(np.uint8)
        self.y = (self.x.mean((1, 2, 3)) > 127).astype(np.int32)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index], self.y[index]


def pipeline(count, seed, training):
    data = ds.GeneratorDataset(Pictures(count, seed), ["x", "y"], shuffle=training)
    mean, std = ([0.41], [0.29]) if training else ([0.5], [0.5])
    steps = [vision.Rescale(1 / 255, 0.0), vision.Normalize(mean, std, is_hwc=True), vision.HWC2CHW()]  # expect: dp.02
    return data.map(steps, "x").batch(16)


ms.set_seed(0)
net = nn.SequentialCell(nn.Flatten(), nn.Dense(64, 16), nn.ReLU(), nn.Dense(16, 2))
model = Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 0.01), metrics={"accuracy"})
model.train(2, pipeline(128, 0, True), dataset_sink_mode=False)
print(model.eval(pipeline(64, 1, False), dataset_sink_mode=False))
