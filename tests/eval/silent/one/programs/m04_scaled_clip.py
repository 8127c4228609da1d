"""Static loss scaling with gradient clipping in a custom loop."""
import argparse

import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor
from mindspore.amp import StaticLossScaler, all_finite

ms.set_context(mode=ms.PYNATIVE_MODE)


class GatedNet(nn.Cell):
    def __init__(self, n_in, hidden, n_out):
        super().__init__()
        self.value = nn.Dense(n_in, hidden)
        self.gate = nn.Dense(n_in, hidden)
        self.out = nn.Dense(hidden, n_out)

    def construct(self, x):
        return self.out(ops.tanh(self.value(x)) * ops.sigmoid(self.gate(x)))


class ScaledTrainer:
    def __init__(self, net, loss_fn, optimizer, scale, clip_norm):
        self.net = net
        self.loss_fn = loss_fn
        self.optimizer = optimizer
        self.scaler = StaticLossScaler(scale)
        self.clip_norm = clip_norm
        self.grad_fn = ms.value_and_grad(self.forward, None, optimizer.parameters)

    def forward(self, x, y):
        return self.scaler.scale(self.loss_fn(self.net(x), y))

    def step(self, x, y):
        loss, grads = self.grad_fn(x, y)
        grads = ops.clip_by_global_norm(grads, self.clip_norm)
        grads = self.scaler.unscale(grads)
        if all_finite(grads):
            self.optimizer(grads)
        return self.scaler.unscale(loss)


def batches(rng, count, size):
    for _ in range(count):
        x = rng.uniform(-1, 1, size=(size, 5)).astype(np.float32)
        y = np.stack([x[:, 0] * x[:, 1], np.sin(3 * x[:, 2])], axis=1)
        yield Tensor(x), Tensor(y.astype(np.float32))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loss_scale", type=float, default=512.0)
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    ms.set_seed(0)
    rng = np.random.default_rng(0)
    net = GatedNet(5, 32, 2)
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.2, momentum=0.9)
    trainer = ScaledTrainer(net, nn.MSELoss(), optimizer, args.loss_scale, args.clip)
    net.set_train(True)
    for epoch in range(args.epochs):
        losses = [float(trainer.step(x, y).asnumpy()) for x, y in batches(rng, 12, 32)]
        print(f"epoch {epoch} loss {np.mean(losses):.5f}")


if __name__ == "__main__":
    main()
