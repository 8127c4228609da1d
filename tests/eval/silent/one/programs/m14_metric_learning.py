"""Embedding learning: all pairs of the batch are compared with each other."""
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor

ms.set_context(mode=ms.PYNATIVE_MODE)


class Embedder(nn.Cell):
    def __init__(self, n_in=6, width=24, dim=4):
        super().__init__()
        self.net = nn.SequentialCell(nn.Dense(n_in, width), nn.ReLU(), nn.Dense(width, dim))

    def construct(self, x):
        return self.net(x)


class PairLoss(nn.Cell):
    def __init__(self, margin=1.5):
        super().__init__()
        self.margin = margin

    def construct(self, z, label, weight):
        sq = ops.square(z).sum(axis=1, keepdims=True)
        gap = ops.relu(sq + sq.T - 2 * ops.matmul(z, z.T)) + 1e-6
        dist = ops.sqrt(gap)
        same = (label.expand_dims(1) == label).astype(ms.float32)
        each = same * gap + (1 - same) * ops.square(ops.relu(self.margin - dist))
        w = weight.expand_dims(1) * weight
        return (each * w).sum() / w.sum()


def main():
    ms.set_seed(2)
    rng = np.random.default_rng(2)
    label = rng.integers(0, 4, size=320).astype(np.int32)
    centre = rng.normal(size=(4, 6))
    x = (centre[label] + 0.7 * rng.normal(size=(320, 6))).astype(np.float32)
    weight = rng.uniform(0.5, 1.5, size=320).astype(np.float32)
    net, loss_fn = Embedder(), PairLoss()
    opt = nn.Adam(net.trainable_params(), learning_rate=6e-3)

    def forward(x, label, weight):
        return loss_fn(net(x), label, weight)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    net.set_train(True)
    for epoch in range(5):
        losses = []
        for idx in np.array_split(rng.permutation(320), 10):
            loss, grads = grad_fn(Tensor(x[idx]), Tensor(label[idx]), Tensor(weight[idx]))
            opt(grads)
            losses.append(float(loss.asnumpy()))
        print(f"epoch {epoch} loss {np.mean(losses):.4f}")


main()
