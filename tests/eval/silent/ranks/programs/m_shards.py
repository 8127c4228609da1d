"""Tabular classifier on two workers with a sharded MindSpore dataset."""
import os

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops
from mindspore.communication import get_group_size, get_rank, init


class Rows:
    def __init__(self, n=240):
        rng = np.random.RandomState(5)
        self.x = rng.randn(n, 14).astype(np.float32)
        self.y = (self.x[:, :4].argmax(1)).astype(np.int32)

    def __getitem__(self, i):
        return self.x[i], self.y[i]

    def __len__(self):
        return len(self.x)


class Classifier(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(14, 40)
        self.act = nn.ReLU()
        self.fc2 = nn.Dense(40, 4)

    def construct(self, x):
        return self.fc2(self.act(self.fc1(x)))


def create_dataset(batch_size, device_num):
    shard = int(os.environ.get("LOCAL_RANK", "0"))
    data = ds.GeneratorDataset(Rows(), ["x", "y"], shuffle=True, num_shards=device_num, shard_id=shard)
    return data.batch(batch_size, drop_remainder=True)


def broadcast(net):
    op = ops.Broadcast(0)
    for p in net.get_parameters():
        p.set_data(op((p.value(),))[0])


def train():
    ms.set_device("CPU")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    init()
    rank, device_num = get_rank(), get_group_size()
    ms.set_seed(1)
    ds.config.set_seed(1)
    net = Classifier()
    broadcast(net)
    data = create_dataset(12, device_num)
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    reducer = nn.DistributedGradReducer(opt.parameters, mean=True, degree=device_num)
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, opt.parameters)
    mean = ops.AllReduce()
    for epoch in range(2):
        for step, (x, y) in enumerate(data.create_tuple_iterator()):
            loss, grads = grad_fn(x, y)
            opt(reducer(grads))
        avg = mean(loss) / device_num
        if rank == 0:
            print(f"epoch {epoch} step {step} loss {float(avg.asnumpy()):.4f}", flush=True)


if __name__ == "__main__":
    train()
