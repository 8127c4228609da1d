"""The class is chosen over axis 0."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = x[:, :4].argmax(1).astype(np.int32)
train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(16)
test = ds.NumpySlicesDataset((x[64:], y[64:]), ["x", "y"], shuffle=False).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 4))
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.01)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
for epoch in range(2):
    net.set_train()
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
    net.set_train(False)
    hits = 0
    for inputs, labels in test.create_tuple_iterator():
        guess = net(inputs).argmax(axis=0)  # expect: tr.11
        hits += int((guess == labels[:4]).sum().asnumpy())
    print(epoch, hits / 32)
