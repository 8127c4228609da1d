# port-of: bench_torch_picture.py
"""A port that writes down everything the frameworks differ in."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 8, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.norm = nn.LayerNorm((32,), epsilon=1e-5)
        self.drop = nn.Dropout(p=0.2)
        self.act = nn.LeakyReLU(alpha=0.01)
        self.head = nn.Dense(32, 3)
        self.flatten = nn.Flatten()

    def construct(self, x):
        x = self.flatten(self.pool(self.act(self.stem(x))))
        return self.head(self.drop(self.norm(x)))


ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((48, 1, 8, 8)).astype(np.float32)
y = (np.arange(48) % 3).astype(np.int32)
train = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(16)
net = Net()
loss_fn = nn.CrossEntropyLoss()
optimizer = nn.Adam(net.trainable_params(), learning_rate=1e-3)
step = ms.value_and_grad(lambda inputs, labels: loss_fn(net(inputs), labels), None, optimizer.parameters)
net.set_train()
batches = train.create_tuple_iterator(num_epochs=2)
for _ in range(2):
    for inputs, labels in batches:
        loss, gradients = step(inputs, labels)
        optimizer(gradients)
