# run:
import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn

ms.set_seed(1)
x = np.random.default_rng(1).normal(size=(48, 4)).astype(np.float32)
y = (x[:, 0] > 0).astype(np.int32)


class Counting(nn.Cell):
    def __init__(self, network):
        super().__init__()
        self.network = network
        self.seen = Parameter(Tensor(0.0, ms.float32), name="seen", requires_grad=False)

    def count(self):
        self.seen += 1

    def construct(self, a):
        return self.network(a)


net = Counting(nn.SequentialCell(nn.Dense(4, 8), nn.ReLU(), nn.Dense(8, 2)))
optimizer = nn.SGD(net.trainable_params(), 0.1)
loss_of = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda a, b: loss_of(net(a), b), None, optimizer.parameters)
net.set_train()
data = ms.dataset.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True).batch(8)
for a, b in data.create_tuple_iterator(num_epochs=1):
    loss, gradients = step(a, b)
    optimizer(gradients)
    net.count()
