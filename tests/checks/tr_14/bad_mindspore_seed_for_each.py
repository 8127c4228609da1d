"""Each sample is given a generator with the same seed: all get the same noise."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Model


def noisy(x):
    draw = np.random.default_rng(7)  # expect: tr.14
    return (x + draw.normal(0, 0.1, x.shape)).astype(np.float32)


ms.set_seed(0)
x = np.linspace(-1, 1, 64, dtype=np.float32)[:, None]
data = ds.NumpySlicesDataset((x, x**2), ["x", "y"], shuffle=True)
data = data.map(noisy, input_columns="x").batch(16)
net = nn.SequentialCell(nn.Dense(1, 16), nn.Tanh(), nn.Dense(16, 1))
model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.01))
model.train(2, data, dataset_sink_mode=False)
