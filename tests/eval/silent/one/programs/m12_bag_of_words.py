"""Bag-of-words model; train and validation loss per epoch."""
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor

ms.set_context(mode=ms.PYNATIVE_MODE)


class BagClassifier(nn.Cell):
    def __init__(self, vocab=50, dim=24, classes=4, p=0.25):
        super().__init__()
        self.table = nn.Embedding(vocab, dim)
        self.hidden = nn.Dense(dim, dim)
        self.out = nn.Dense(dim, classes)
        self.p = p

    def construct(self, ids):
        x = self.table(ids).mean(axis=1)
        x = ops.relu(self.hidden(x))
        x = ops.dropout(x, p=self.p, training=self.training)
        return self.out(x)


def corpus(n, seed, vocab=50):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 4, size=n)
    ids = rng.integers(0, vocab, size=(n, 10))
    ids[:, :5] = (y[:, None] * 12 + rng.integers(0, 12, size=(n, 5)))
    return ids.astype(np.int32), y.astype(np.int32)


def evaluate(net, loss_fn, ids, y, batch=50):
    net.set_train(False)
    losses = []
    for s in range(0, len(y), batch):
        losses.append(float(loss_fn(net(Tensor(ids[s:s + batch])), Tensor(y[s:s + batch])).asnumpy()))
    net.set_train(True)
    return np.mean(losses)


def main():
    ms.set_seed(9)
    rng = np.random.default_rng(8)
    ids, y = corpus(320, 0)
    vids, vy = corpus(100, 1)
    net = BagClassifier()
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.Adam(net.trainable_params(), learning_rate=2e-2)
    grad_fn = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, opt.parameters)
    net.set_train(True)
    for epoch in range(4):
        order = rng.permutation(len(y))
        losses = []
        for s in range(0, len(y), 32):
            idx = order[s:s + 32]
            loss, grads = grad_fn(Tensor(ids[idx]), Tensor(y[idx]))
            opt(grads)
            losses.append(float(loss.asnumpy()))
        print(f"epoch {epoch} train {np.mean(losses):.4f} valid {evaluate(net, loss_fn, vids, vy):.4f}")


main()
