"""Training columns are standardised, the held-out ones are used as they came."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn

ms.set_seed(0)
draw = np.random.default_rng(0)
table = (20 + 4 * draw.standard_normal((96, 5))).astype(np.float32)
price = table.sum(1, keepdims=True) / 50 - 2
x, held = table[:64], table[64:]
mean, deviation = x.mean(0), x.std(0)
train = ds.NumpySlicesDataset(((x - mean) / deviation, price[:64]), ["x", "y"], shuffle=True).batch(16)
net = nn.SequentialCell(nn.Dense(5, 8), nn.Tanh(), nn.Dense(8, 1))
cell = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Adam(net.trainable_params(), 0.01))
batches = train.create_tuple_iterator(num_epochs=2)
for _ in range(2):
    cell.set_train()
    for inputs, wanted in batches:
        cell(inputs, wanted)
    net.set_train(False)
    error = net(Tensor(held)).asnumpy() - price[64:]  # expect: dp.02
    print(float((error**2).mean()))
