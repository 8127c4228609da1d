"""Training with periodic validation and best-checkpoint tracking (MindSpore)."""
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(50, 16)
        self.fc = nn.Dense(16, 32)
        self.relu = nn.ReLU()
        self.head = nn.Dense(32, 3)

    def construct(self, ids):
        return self.head(self.relu(self.fc(self.emb(ids).mean(1))))


def make(n, seed, **shard):
    rng = np.random.default_rng(seed)
    ids = rng.integers(0, 50, (n, 9)).astype(np.int32)
    label = (ids.sum(1) % 3).astype(np.int32)
    return ds.NumpySlicesDataset((ids, label), column_names=["ids", "label"], shuffle=False, **shard).batch(10)


class Trainer:
    def __init__(self):
        self.rank, self.world = get_rank(), get_group_size()
        self.net = Encoder()
        self.loss_fn = nn.CrossEntropyLoss()
        self.opt = nn.Adam(self.net.trainable_params(), 2e-3)
        self.reducer = nn.DistributedGradReducer(self.opt.parameters, mean=True, degree=self.world)
        self.grad_fn = ms.value_and_grad(self.forward, None, self.opt.parameters)
        self.all_gather = ops.AllGather()
        self.best = 0.0

    def forward(self, ids, label):
        return self.loss_fn(self.net(ids), label)

    def validate(self, data):
        self.net.set_train(False)
        hit = total = 0
        for ids, label in data.create_tuple_iterator(num_epochs=1):
            hit += int((self.net(ids).argmax(1) == label).sum().asnumpy())
            total += label.shape[0]
        counts = self.all_gather(Tensor(np.array([hit, total], np.float32))).asnumpy().reshape(-1, 2).sum(0)
        self.net.set_train(True)
        return counts[0] / counts[1]

    def fit(self, train, val, every=4):
        self.net.set_train(True)
        for step, (ids, label) in enumerate(train.create_tuple_iterator(num_epochs=1)):
            loss, grads = self.grad_fn(ids, label)
            self.opt(self.reducer(grads))
            if (step + 1) % every == 0 and self.rank == 0:
                acc = self.validate(val)
                self.best = max(self.best, acc)
                print(f"step {step} loss {float(loss.asnumpy()):.4f} acc {acc:.3f} best {self.best:.3f}", flush=True)


if __name__ == "__main__":
    ms.set_device("CPU")
    ms.set_context(mode=ms.PYNATIVE_MODE)
    init()
    ms.set_seed(8)
    trainer = Trainer()
    trainer.fit(make(240, 1, num_shards=trainer.world, shard_id=trainer.rank), make(40, 2))
