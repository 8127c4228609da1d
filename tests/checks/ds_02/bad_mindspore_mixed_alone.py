"""The labels are permuted and the pictures are not."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)
order = draw.permutation(96)  # expect: ds.02
train = ds.NumpySlicesDataset((x, y[order]), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2))
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
batches = train.create_tuple_iterator(num_epochs=2)
for _ in range(2):
    for inputs, labels in batches:
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
