# port-of: bench_torch_picture.py
"""The first argument of MindSpore's Dropout is what is kept."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Model


def build(width=8):
    return nn.SequentialCell(
        nn.Conv2d(1, width, 3, stride=2, has_bias=True),  # expect: api.01
        nn.LeakyReLU(alpha=0.01),
        nn.MaxPool2d(kernel_size=2, stride=2),
        nn.Flatten(),
        nn.LayerNorm((32,), epsilon=1e-5),
        nn.Dropout(0.2),  # expect: api.01
        nn.Dense(32, 3),
    )


ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((48, 1, 8, 8)).astype(np.float32)
y = (np.arange(48) % 3).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = build()
model = Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), learning_rate=1e-3))
model.train(2, train, dataset_sink_mode=False)
