"""Curriculum: three stages of growing difficulty for one network."""
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor
from mindspore.common.initializer import initializer, HeUniform, Zero

ms.set_context(mode=ms.PYNATIVE_MODE)


class Net(nn.Cell):
    def __init__(self, n_in=6, width=40):
        super().__init__()
        self.fc1 = nn.Dense(n_in, width)
        self.fc2 = nn.Dense(width, width)
        self.fc3 = nn.Dense(width, 1)

    def construct(self, x):
        return self.fc3(ops.relu(self.fc2(ops.relu(self.fc1(x)))))


def prepare(net):
    for _, cell in net.cells_and_names():
        if isinstance(cell, nn.Dense):
            cell.weight.set_data(initializer(HeUniform(), cell.weight.shape, cell.weight.dtype))
            cell.bias.set_data(initializer(Zero(), cell.bias.shape, cell.bias.dtype))
    net.set_train(True)
    return net


class Curriculum:
    def __init__(self, rng):
        self.rng = rng

    def stage(self, level, n=256, batch=32):
        x = self.rng.normal(size=(n, 6)).astype(np.float32)
        y = x[:, :1] + level * 0.4 * x[:, 1:2] * x[:, 2:3]
        for s in range(0, n, batch):
            yield Tensor(x[s:s + batch]), Tensor(y[s:s + batch].astype(np.float32))


def main():
    ms.set_seed(12)
    curriculum = Curriculum(np.random.default_rng(12))
    net = Net()
    loss_fn = nn.MSELoss()
    opt = nn.Momentum(net.trainable_params(), learning_rate=0.03, momentum=0.9)
    grad_fn = ms.value_and_grad(lambda x, y: loss_fn(net(x), y), None, opt.parameters)
    for level in range(3):
        net = prepare(net)
        for repeat in range(2):
            losses = []
            for x, y in curriculum.stage(level):
                loss, grads = grad_fn(x, y)
                opt(grads)
                losses.append(float(loss.asnumpy()))
            print(f"level {level} pass {repeat} loss {np.mean(losses):.4f}")


main()
