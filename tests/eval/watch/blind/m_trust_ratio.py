"""A layer-wise scaled optimizer written on top of nn.Optimizer."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class LayerwiseSGD(nn.Optimizer):
    def __init__(self, params, learning_rate, trust=0.05):
        super().__init__(learning_rate, params)
        self.trust = trust

    def construct(self, grads):
        for p, g in zip(self.parameters, grads, strict=True):
            ratio = ops.norm(p) / ops.norm(g)
            ops.assign_sub(p, self.trust * ratio * g)
        return True


class TwoHeads(nn.Cell):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Dense(7, 16, activation="tanh")
        self.cls = nn.Dense(16, 3)
        self.reg = nn.Dense(16, 1)

    def construct(self, x):
        h = self.trunk(x)
        return self.cls(h), self.reg(h)


def main():
    ms.set_seed(6)
    rng = np.random.default_rng(6)
    x = rng.normal(size=(54, 7)).astype(np.float32)
    label = rng.integers(0, 3, 54).astype(np.int32)
    value = x.sum(1, keepdims=True)
    net = TwoHeads()
    ce, mse = nn.CrossEntropyLoss(), nn.MSELoss()
    opt = LayerwiseSGD(net.trainable_params(), 1.0)

    def forward(xb, yb, rb, aux):
        logits, pred = net(xb)
        return ce(logits, yb) + aux * mse(pred, rb)

    grad_fn = ms.value_and_grad(forward, None, net.trainable_params())
    for step in range(9):
        aux = max(0.0, 0.5 - 0.125 * step)
        b = slice(6 * step, 6 * step + 6)
        loss, grads = grad_fn(Tensor(x[b]), Tensor(label[b]), Tensor(value[b]), aux)
        opt(grads)
        print(step, aux, loss)


if __name__ == "__main__":
    main()
