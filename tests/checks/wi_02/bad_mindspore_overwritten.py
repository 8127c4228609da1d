"""The weights are loaded first and drawn anew afterwards."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.common.initializer import HeNormal, initializer


def pipelines(seed=0, size=16):
    draw = np.random.default_rng(seed)
    x = draw.standard_normal((96, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
    train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(size)
    return train, ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(size)


def draw_weights(net):
    for _, cell in net.cells_and_names():
        if isinstance(cell, nn.Dense):
            cell.weight.set_data(initializer(HeNormal(), cell.weight.shape, cell.weight.dtype))


ms.set_seed(0)
train, _ = pipelines()
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
source = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2)).parameters_dict()
ms.load_param_into_net(net, source, strict_load=True)
draw_weights(net)  # expect: wi.02
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
for inputs, labels in train.create_tuple_iterator():
    loss, gradients = step(inputs, labels)
    optimizer(gradients)
