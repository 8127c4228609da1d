# run: hp.02
"""Few samples, many epochs: the validation loss rises from the beginning on."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((64, 10)).astype(np.float32)
y = draw.integers(0, 2, 64).astype(np.int32)
train = ds.NumpySlicesDataset((x[:16], y[:16]), ["x", "y"], shuffle=True).batch(16)
valid = ds.NumpySlicesDataset((x[16:], y[16:]), ["x", "y"], shuffle=False).batch(48)
net = nn.SequentialCell(nn.Dense(10, 64), nn.ReLU(), nn.Dense(64, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.05)
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
for epoch in range(10):
    net.set_train(True)
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
    net.set_train(False)
    losses = [float(loss_fn(net(inputs), labels).asnumpy()) for inputs, labels in valid.create_tuple_iterator()]
    print(epoch, sum(losses) / len(losses))
