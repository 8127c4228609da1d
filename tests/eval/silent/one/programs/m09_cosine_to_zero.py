"""Rates from cosine_decay_lr, then a tail of steps at rate zero for averaging statistics."""
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor

ms.set_context(mode=ms.PYNATIVE_MODE)

STEPS_PER_EPOCH, DECAY_EPOCHS, TAIL_EPOCHS = 10, 4, 1


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Dense(6, 32)
        self.bn = nn.BatchNorm1d(32, momentum=0.8)
        self.fc2 = nn.Dense(32, 2)

    def construct(self, x):
        return self.fc2(ops.relu(self.bn(self.fc1(x))))


def rates(peak):
    decay = nn.cosine_decay_lr(0.0, peak, STEPS_PER_EPOCH * DECAY_EPOCHS, STEPS_PER_EPOCH, DECAY_EPOCHS)
    return decay + [0.0] * (STEPS_PER_EPOCH * TAIL_EPOCHS)


def data(rng):
    x = rng.normal(size=(320, 6)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int32)
    return x, y


def main():
    ms.set_seed(0)
    rng = np.random.default_rng(10)
    x, y = data(rng)
    net = Net()
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.Momentum(net.trainable_params(), learning_rate=rates(0.1), momentum=0.9)
    grad_fn = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, opt.parameters)
    for epoch in range(DECAY_EPOCHS + TAIL_EPOCHS):
        net.set_train(True)
        order = rng.permutation(len(x)).reshape(STEPS_PER_EPOCH, -1)
        losses = []
        for idx in order:
            loss, grads = grad_fn(Tensor(x[idx]), Tensor(y[idx]))
            opt(grads)
            losses.append(float(loss.asnumpy()))
        net.set_train(False)
        hit = (net(Tensor(x)).argmax(1).asnumpy() == y).mean()
        print(f"epoch {epoch} loss {np.mean(losses):.4f} acc {hit:.3f}")


main()
