# run: dp.02
"""The test set was decoded to 0..255 and never divided."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


def scaled(pixels):
    return (pixels / 255.0).astype(np.float32)


ms.set_seed(0)
draw = np.random.default_rng(0)
pixels = draw.integers(0, 256, (32, 3, 8, 8)).astype(np.uint8)
y = (pixels[:, 0].mean((1, 2)) > 127).astype(np.int32)
train = ds.NumpySlicesDataset((pixels[:16], y[:16]), ["x", "y"], shuffle=True).map(scaled, "x").batch(16)
test = ds.NumpySlicesDataset((pixels[16:].astype(np.float32), y[16:]), ["x", "y"], shuffle=False).batch(16)
net = nn.SequentialCell(nn.Conv2d(3, 4, 3, pad_mode="valid"), nn.ReLU(), nn.Flatten(), nn.Dense(144, 2))
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.01)
loss_fn = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
for _ in range(2):
    net.set_train(True)
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
    net.set_train(False)
    hits = 0
    for inputs, labels in test.create_tuple_iterator():
        hits += int((net(inputs).asnumpy().argmax(1) == labels.asnumpy()).sum())
    print(hits)
