"""Model sets the modes by itself; a prediction afterwards is told to be one."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn
from mindspore.train import Model


def pipelines(seed=0, size=16):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((96, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
    train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(size)
    return train, ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(size)


ms.set_seed(0)
train, test = pipelines()
net = nn.SequentialCell(nn.Dense(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(p=0.1), nn.Dense(16, 2))
model = Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), learning_rate=0.01), metrics={"accuracy"})
model.train(2, train, dataset_sink_mode=False)
print(model.eval(test, dataset_sink_mode=False))
net.set_train(False)
print(net(Tensor(np.zeros((2, 6), np.float32))).argmax(1))
