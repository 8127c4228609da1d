"""Regression with nn.TrainOneStepCell and a learning rate that is too bold."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class Regressor(nn.Cell):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Dense(8, 12)
        self.act = nn.Tanh()
        self.out = nn.Dense(12, 1)

    def construct(self, x):
        return self.out(self.act(self.hidden(x)))


class SquaredError(nn.Cell):
    def construct(self, pred, target):
        err = pred - target
        return ops.square(err).mean()


def main():
    ms.set_seed(2)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    rng = np.random.default_rng(2)
    x = rng.normal(size=(48, 8)).astype(np.float32)
    y = (x @ rng.normal(size=(8, 1))).astype(np.float32)
    net = Regressor()
    opt = nn.SGD(net.trainable_params(), learning_rate=6.0)
    train_step = nn.TrainOneStepCell(nn.WithLossCell(net, SquaredError()), opt)
    train_step.set_train()
    step = 0
    for epoch in range(4):
        for i in range(0, 48, 12):
            loss = train_step(Tensor(x[i : i + 12]), Tensor(y[i : i + 12]))
            print(epoch, step, loss)
            step += 1


if __name__ == "__main__":
    main()
