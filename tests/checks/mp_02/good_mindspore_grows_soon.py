# run:
"""A dynamic scale begins low and doubles every few updates."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import amp, nn

ms.set_seed(0)
draw = np.random.default_rng(0)
x = draw.standard_normal((96, 6)).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(np.int32)
train = ds.NumpySlicesDataset((x[:64], y[:64]), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dense(16, 2)).to_float(ms.float16)
optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
loss_fn = nn.CrossEntropyLoss()
scaler = amp.DynamicLossScaler(scale_value=4, scale_factor=2, scale_window=8)


def forward(inputs, labels):
    return scaler.scale(loss_fn(net(inputs).astype(ms.float32), labels))


step = ms.value_and_grad(forward, None, optimizer.parameters)
net.set_train()
for _ in range(2):
    for inputs, labels in train.create_tuple_iterator():
        loss, gradients = step(inputs, labels)
        gradients = scaler.unscale(gradients)
        finite = amp.all_finite(gradients)
        if finite:
            optimizer(gradients)
        scaler.adjust(finite)
