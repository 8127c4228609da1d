# run: hp.02
"""The training ends while the validation loss still falls."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = (x @ draw.standard_normal((6, 1))).astype(np.float32)
train = ds.NumpySlicesDataset((x[:32], y[:32]), ["x", "y"], shuffle=True).batch(16)
valid = ds.NumpySlicesDataset((x[32:], y[32:]), ["x", "y"], shuffle=False).batch(64)
net = nn.Dense(6, 1)
loss_fn = nn.MSELoss()
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.02)
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
for epoch in range(6):
    net.set_train(True)
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
    net.set_train(False)
    losses = [float(loss_fn(net(inputs), labels).asnumpy()) for inputs, labels in valid.create_tuple_iterator()]
    print(epoch, sum(losses) / len(losses))
