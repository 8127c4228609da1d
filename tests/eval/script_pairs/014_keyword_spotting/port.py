"""Keyword spotting on log-mel patches; big effective batch by gradient accumulation (MindSpore)."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops


class Config:
    classes = 8
    mels = 20
    frames = 24
    micro_batch = 8
    accumulate = 4
    epochs = 3
    lr = 0.1
    momentum = 0.9


def keywords(n, seed):
    rng = np.random.RandomState(seed)
    base = np.random.RandomState(31).standard_normal((Config.classes, 1, Config.mels, Config.frames))
    y = rng.randint(0, Config.classes, n)
    x = base[y] + rng.standard_normal((n, 1, Config.mels, Config.frames))
    return x.astype(np.float32), y.astype(np.int32)


class KWSNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, (5, 3), stride=(2, 1), pad_mode="pad", padding=(2, 2, 1, 1), has_bias=True)
        self.conv2 = nn.Conv2d(8, 16, 3, pad_mode="pad", padding=1, has_bias=True)
        self.pool = nn.AvgPool2d(2, stride=2)
        self.fc = nn.Dense(16 * 5 * 12, Config.classes)

    def construct(self, x):
        x = ops.relu(self.conv1(x))
        x = ops.relu(self.conv2(x))
        return self.fc(ops.flatten(self.pool(x)))


class Trainer:
    def __init__(self):
        ms.set_seed(10)
        self.model = KWSNet()
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = nn.SGD(self.model.trainable_params(), Config.lr, momentum=Config.momentum)
        self.grad_fn = ms.value_and_grad(self.forward, None, self.optimizer.parameters)
        self.rng = np.random.RandomState(21)

    def forward(self, x, y):
        return self.criterion(self.model(x), y)

    def train_epoch(self, x, y):
        self.model.set_train()
        order = self.rng.permutation(len(x))
        summed = None
        losses = []
        for step, s in enumerate(range(0, len(x), Config.micro_batch), 1):
            j = order[s:s + Config.micro_batch]
            loss, grads = self.grad_fn(Tensor(x[j]), Tensor(y[j]))
            summed = grads if summed is None else tuple(a + b for a, b in zip(summed, grads))
            losses.append(float(loss))
            if step % Config.accumulate == 0:
                self.optimizer(summed)
                summed = None
        return np.mean(losses)

    def evaluate(self, x, y):
        self.model.set_train(False)
        out = self.model(Tensor(x)).argmax(axis=1).asnumpy()
        return (out == y).mean()


if __name__ == "__main__":
    trainer = Trainer()
    x, y = keywords(320, 0)
    xv, yv = keywords(80, 1)
    for epoch in range(Config.epochs):
        loss = trainer.train_epoch(x, y)
        print(f"epoch={epoch} loss={loss:.4f} acc={trainer.evaluate(xv, yv):.4f}")
