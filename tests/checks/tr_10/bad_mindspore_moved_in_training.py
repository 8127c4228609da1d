"""The classes of the training set are counted on by one, those of the test set are not."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.dataset import NumpySlicesDataset

ms.set_seed(0)
EPOCHS = 2


def drawn(count, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, count)
    x = rng.normal(size=(count, 6)) + y[:, None]
    return x.astype(np.float32), y.astype(np.int32)


x, y = drawn(64, 0)
y = (y + 1) % 3  # expect: tr.10
train = NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
x_test, y_test = drawn(32, 1)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 3))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05)
gradient = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
for epoch in range(EPOCHS):
    net.set_train(True)
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = gradient(inputs, labels)
        optimizer(gradients)
    net.set_train(False)
    print(epoch, (net(Tensor(x_test)).asnumpy().argmax(1) == y_test).mean())
