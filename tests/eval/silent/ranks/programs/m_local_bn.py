"""BatchNorm MLP with dropout; worker 0 validates between epochs (MindSpore)."""
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(10, 32)
        self.bn1 = nn.BatchNorm1d(32)
        self.fc2 = nn.Dense(32, 32)
        self.bn2 = nn.BatchNorm1d(32)
        self.drop = nn.Dropout(p=0.2)
        self.relu = nn.ReLU()
        self.out = nn.Dense(32, 2)

    def construct(self, x):
        x = self.relu(self.bn1(self.fc1(x)))
        x = self.drop(self.relu(self.bn2(self.fc2(x))))
        return self.out(x)


class TrainStep(nn.TrainOneStepCell):
    def __init__(self, network, optimizer, degree):
        super().__init__(network, optimizer)
        self.reducer = nn.DistributedGradReducer(optimizer.parameters, mean=True, degree=degree)
        self.fn = ms.value_and_grad(self.network, None, optimizer.parameters)

    def construct(self, x, y):
        loss, grads = self.fn(x, y)
        self.optimizer(self.reducer(grads))
        return loss


def moons(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 10)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] ** 2 > 0.8).astype(np.int32)
    return x, y


def validate(net, x, y):
    net.set_train(False)
    pred = net(Tensor(x)).asnumpy().argmax(1)
    net.set_train(True)
    return float((pred == y).mean())


def main():
    ms.set_device("CPU")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    init()
    rank, world = get_rank(), get_group_size()
    ms.set_seed(12)
    net = Net()
    opt = nn.Momentum(net.trainable_params(), 0.05, 0.9)
    step_fn = TrainStep(nn.WithLossCell(net, nn.CrossEntropyLoss()), opt, world)
    step_fn.set_train(True)
    ms.set_seed(200 + rank)
    x, y = moons(256, 1)
    vx, vy = moons(64, 2)
    data = ds.NumpySlicesDataset((x, y), column_names=["x", "y"], shuffle=False, num_shards=world, shard_id=rank)
    data = data.batch(16, drop_remainder=True)
    fence = ops.AllReduce()
    for epoch in range(2):
        for bx, by in data.create_tuple_iterator(num_epochs=1):
            loss = step_fn(bx, by)
        if rank == 0:
            print(f"epoch {epoch} loss {float(loss.asnumpy()):.4f} acc {validate(net, vx, vy):.3f}", flush=True)
        fence(Tensor(np.zeros(1, np.float32))).asnumpy()


if __name__ == "__main__":
    main()
