"""Two stages: the word table is frozen at first, then gets an Adam of its own."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn

STAGE2 = 4


class Tagger(nn.Cell):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(25, 8)
        self.hidden = nn.Dense(8, 16, activation="tanh")
        self.tag = nn.Dense(16, 3)

    def construct(self, tokens):
        return self.tag(self.hidden(self.words(tokens).mean(axis=1)))


def sentences(steps=9, size=5):
    rng = np.random.default_rng(20)
    for _ in range(steps):
        yield (
            Tensor(rng.integers(0, 20, (size, 4)).astype(np.int32)),
            Tensor(rng.integers(0, 3, size).astype(np.int32)),
        )


def main():
    ms.set_seed(0)
    net = Tagger()
    loss_fn = nn.CrossEntropyLoss()
    table = list(net.words.trainable_params())
    rest = list(net.hidden.trainable_params()) + list(net.tag.trainable_params())
    opt_rest = nn.Momentum(rest, learning_rate=0.05, momentum=0.9)
    opt_table = nn.Adam(table, learning_rate=1e-3, eps=1e-40)
    grad_fn = ms.value_and_grad(lambda t, y: loss_fn(net(t), y), None, rest + table)
    for step, (tokens, tags) in enumerate(sentences()):
        loss, grads = grad_fn(tokens, tags)
        opt_rest(grads[: len(rest)])
        if step >= STAGE2:
            opt_table(grads[len(rest) :])
        print(step, loss.asnumpy())


if __name__ == "__main__":
    main()
