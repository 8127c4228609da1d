"""Attention pooling with a masked softmax written out by hand."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn, ops


class MaskedSoftmax(nn.Cell):
    def construct(self, scores, keep):
        scores = ops.masked_fill(scores, ops.logical_not(keep), Tensor(float("-inf"), ms.float32))
        shifted = scores - scores.max(axis=-1, keepdims=True)
        e = ops.exp(shifted)
        return e / e.sum(axis=-1, keepdims=True)


class AttentionPool(nn.Cell):
    def __init__(self, dim):
        super().__init__()
        self.score = nn.Dense(dim, 1)
        self.softmax = MaskedSoftmax()

    def construct(self, x, keep):
        weight = self.softmax(self.score(x).squeeze(-1), keep)
        return (weight.expand_dims(-1) * x).sum(axis=1)


class TextNet(nn.Cell):
    def __init__(self, vocab=30, dim=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.pool = AttentionPool(dim)
        self.head = nn.Dense(dim, 2)

    def construct(self, tokens):
        return self.head(self.pool(self.embed(tokens), tokens > 0))


def corpus(n=40, longest=7):
    rng = np.random.default_rng(6)
    for i in range(n):
        tokens = rng.integers(1, 30, longest).astype(np.int32)
        tokens[rng.integers(2, longest + 1) :] = 0
        if i == 19:
            tokens[:] = 0  # an empty comment
        yield tokens, np.int32(rng.integers(0, 2))


def main():
    ms.set_seed(3)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = TextNet()
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.Adam(net.trainable_params(), learning_rate=1e-3)

    def forward_fn(tokens, label):
        logits = net(tokens)
        return loss_fn(logits, label)

    step_fn = ms.value_and_grad(forward_fn, None, opt.parameters)
    net.set_train()
    data = ds.GeneratorDataset(list(corpus()), ["tokens", "label"], shuffle=False).batch(5)
    for step, (tokens, label) in enumerate(data.create_tuple_iterator()):
        loss, grads = step_fn(tokens, label)
        opt(grads)
        print("step", step, "loss", float(loss.asnumpy()))


if __name__ == "__main__":
    main()
