# port-of: bench_torch_plain.py
"""The defaults give the same here: no bias, one pixel around it, the same momentum told the other way round."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((48, 1, 8, 8)).astype(np.float32)
y = (np.arange(48) % 3).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Dense(512, 3))
cell = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.SGD(net.trainable_params(), 0.05))
cell.set_train()
batches = train.create_tuple_iterator(num_epochs=2)
for _ in range(2):
    for inputs, labels in batches:
        cell(inputs, labels)
