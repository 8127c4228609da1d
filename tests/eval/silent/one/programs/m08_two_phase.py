"""Warm phase on the head, then the whole network; StepLR from experimental.optim."""
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor
from mindspore.experimental import optim

ms.set_context(mode=ms.PYNATIVE_MODE)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.features = nn.SequentialCell(nn.Dense(6, 32), nn.Tanh(), nn.Dense(32, 16), nn.Tanh())
        self.head = nn.Dense(16, 1)

    def construct(self, x):
        return self.head(self.features(x))


class Session:
    def __init__(self, net, lr):
        self.net = net
        self.loss_fn = nn.MSELoss()
        self.use(net.head.trainable_params(), lr)
        self.scheduler = optim.lr_scheduler.StepLR(self.optimizer, step_size=1, gamma=0.7)

    def use(self, params, lr):
        self.optimizer = optim.Adam(params, lr=lr)
        self.grad_fn = ms.value_and_grad(self.forward, None, self.optimizer.parameters)

    def forward(self, x, y):
        return self.loss_fn(self.net(x), y)

    def run(self, data, epochs):
        for _ in range(epochs):
            self.net.set_train(True)
            losses = []
            for x, y in data():
                loss, grads = self.grad_fn(x, y)
                self.optimizer(grads)
                losses.append(float(loss.asnumpy()))
            self.scheduler.step()
            print(f"loss {np.mean(losses):.4f}")


def loader(seed=0, n=240, batch=30):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 6)).astype(np.float32)
    y = (np.sin(x[:, :1] * 2) + x[:, 1:2] * x[:, 2:3]).astype(np.float32)

    def batches():
        order = rng.permutation(n)
        for s in range(0, n, batch):
            yield Tensor(x[order[s:s + batch]]), Tensor(y[order[s:s + batch]])
    return batches


def main():
    ms.set_seed(7)
    session = Session(Net(), lr=1e-2)
    data = loader()
    session.run(data, epochs=2)
    session.use(session.net.trainable_params(), lr=5e-3)
    session.run(data, epochs=4)


main()
