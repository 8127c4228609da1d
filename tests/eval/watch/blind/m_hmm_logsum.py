"""Hidden Markov layer: forward recursion in log space with a hand-written logsumexp."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


def logsumexp(x, axis):
    top = x.max(axis=axis, keepdims=True)
    shifted = x - top
    return top.squeeze(axis) + ops.log(ops.exp(shifted).sum(axis=axis))


class HMM(nn.Cell):
    def __init__(self, states):
        super().__init__()
        self.trans = ms.Parameter(Tensor(np.zeros((states, states), np.float32)), name="trans")

    def construct(self, emit, allowed):
        logt = ops.log_softmax(self.trans, -1) + allowed
        alpha = emit[0]
        for t in range(1, emit.shape[0]):
            alpha = logsumexp(alpha.expand_dims(1) + logt, 0) + emit[t]
        return -logsumexp(alpha, 0)


class Tagger(nn.Cell):
    def __init__(self, states=4):
        super().__init__()
        self.scores = nn.Dense(5, states)
        self.hmm = HMM(states)

    def construct(self, x, allowed):
        emit = ops.log_softmax(self.scores(x), -1)
        return self.hmm(emit, allowed)


def documents(steps=8, states=4):
    rng = np.random.default_rng(18)
    for i in range(steps):
        allowed = np.zeros((states, states), np.float32)
        allowed[2, 1] = -np.inf
        if i == 4:
            allowed[:, 3] = -np.inf  # this language has no such tag
        yield Tensor(rng.normal(size=(6, 5)).astype(np.float32)), Tensor(allowed)


def main():
    ms.set_seed(0)
    net = Tagger()
    opt = nn.SGD(net.trainable_params(), learning_rate=0.01)
    grad_fn = ms.value_and_grad(lambda x, a: net(x, a), None, opt.parameters)
    for step, (x, allowed) in enumerate(documents()):
        loss, grads = grad_fn(x, allowed)
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
