"""Two tasks in a row: the trunk is kept, each task gets its own output layer."""
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor

ms.set_context(mode=ms.PYNATIVE_MODE)


class TaskNet(nn.Cell):
    def __init__(self, n_in=8, width=32, classes=3):
        super().__init__()
        self.trunk = nn.SequentialCell(nn.Dense(n_in, width), nn.ReLU(), nn.Dense(width, width), nn.Tanh())
        self.head = nn.Dense(width, classes)
        self.width, self.classes = width, classes

    def new_head(self):
        self.head = nn.Dense(self.width, self.classes)

    def construct(self, x):
        return self.head(self.trunk(x))


class Learner:
    def __init__(self, net, lr):
        self.net = net
        self.loss_fn = nn.CrossEntropyLoss()
        self.optimizer = nn.Momentum(net.trainable_params(), learning_rate=lr, momentum=0.9)

    def forward(self, x, y):
        return self.loss_fn(self.net(x), y)

    def learn(self, x, y, epochs, batch, rng):
        step = ms.value_and_grad(self.forward, None, self.net.trainable_params())
        self.net.set_train()
        for epoch in range(epochs):
            order = rng.permutation(len(x))
            losses = []
            for start in range(0, len(x), batch):
                idx = order[start:start + batch]
                loss, grads = step(Tensor(x[idx]), Tensor(y[idx]))
                self.optimizer(grads)
                losses.append(float(loss.asnumpy()))
            print(f"  epoch {epoch} loss {np.mean(losses):.4f}")


def task(rng, n=256):
    x = rng.normal(size=(n, 8)).astype(np.float32)
    w = rng.normal(size=(8, 3))
    return x, np.argmax(x @ w, axis=1).astype(np.int32)


def main():
    ms.set_seed(4)
    rng = np.random.default_rng(4)
    net = TaskNet()
    learner = Learner(net, lr=0.05)
    for number in range(2):
        if number > 0:
            net.new_head()
        print("task", number)
        x, y = task(rng)
        learner.learn(x, y, epochs=3, batch=32, rng=rng)


main()
