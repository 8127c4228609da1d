"""Transformer encoder for review polarity (MindSpore)."""
import math

import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.experimental import optim

VOCAB, LEN, DIM, HEADS, DEPTH = 200, 20, 32, 4, 2


def reviews(n, seed):
    rng = np.random.RandomState(seed)
    y = rng.randint(0, 2, n)
    ids = rng.randint(20, VOCAB, (n, LEN))
    for i in range(n):
        spots = rng.permutation(LEN)[:5]
        ids[i, spots] = rng.randint(1, 10, 5) + 10 * y[i]
        ids[i, rng.randint(12, LEN + 1):] = 0
    return ids.astype(np.int32), y.astype(np.int32)


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm((DIM,))
        self.qkv = nn.Dense(DIM, 3 * DIM)
        self.proj = nn.Dense(DIM, DIM)
        self.norm2 = nn.LayerNorm((DIM,))
        self.fc1 = nn.Dense(DIM, 4 * DIM)
        self.fc2 = nn.Dense(4 * DIM, DIM)
        self.act = nn.GELU()

    def attention(self, x, pad):
        b, t, _ = x.shape
        qkv = self.qkv(x).view(b, t, 3, HEADS, DIM // HEADS).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        score = ops.matmul(q, k.swapaxes(-2, -1)) / math.sqrt(DIM // HEADS)
        score = ops.masked_fill(score, pad[:, None, None, :], -1e4)
        out = ops.matmul(ops.softmax(score, axis=-1), v)
        return self.proj(out.swapaxes(1, 2).reshape(b, t, DIM))

    def construct(self, x, pad):
        x = x + self.attention(self.norm1(x), pad)
        return x + self.fc2(self.act(self.fc1(self.norm2(x))))


class Classifier(nn.Cell):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM, embedding_table=Normal(0.02))
        self.pos = Parameter(initializer(Normal(0.02), [1, LEN, DIM]), name="pos")
        self.blocks = nn.CellList([Block() for _ in range(DEPTH)])
        self.norm = nn.LayerNorm((DIM,), epsilon=1e-5)
        self.head = nn.Dense(DIM, 2)

    def construct(self, ids):
        pad = ids == 0
        x = self.tok(ids) + self.pos
        for blk in self.blocks:
            x = blk(x, pad)
        x = self.norm(x)
        keep = ops.logical_not(pad).astype(ms.float32).expand_dims(-1)
        return self.head((x * keep).sum(1) / keep.sum(1))


def main():
    ms.set_seed(0)
    x, y = reviews(256, 0)
    xt, yt = reviews(64, 1)
    net = Classifier()
    opt = optim.AdamW(net.trainable_params(), lr=2e-3, weight_decay=0.05)
    grad_fn = ms.value_and_grad(lambda a, b: ops.cross_entropy(net(a), b), None, opt.parameters)
    rng = np.random.RandomState(2)
    for epoch in range(3):
        net.set_train()
        perm = rng.permutation(len(x))
        for s in range(0, len(x), 32):
            j = perm[s:s + 32]
            loss, grads = grad_fn(Tensor(x[j]), Tensor(y[j]))
            opt(grads)
        net.set_train(False)
        acc = (net(Tensor(xt)).argmax(1).asnumpy() == yt).mean()
        print(f"epoch {epoch} loss {float(loss):.4f} acc {acc:.4f}")


if __name__ == "__main__":
    main()
