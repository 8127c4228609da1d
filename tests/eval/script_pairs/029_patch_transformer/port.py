"""Tiny ViT; MindSpore."""
import math

import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer
from mindspore.experimental import optim

CLASSES, SIZE = 6, 16


def pictures(n, seed):
    rng = np.random.RandomState(seed)
    proto = np.random.RandomState(44).standard_normal((CLASSES, 3, SIZE, SIZE))
    y = rng.randint(0, CLASSES, n)
    return (proto[y] + rng.standard_normal((n, 3, SIZE, SIZE))).astype(np.float32), y.astype(np.int32)


class SelfAttention(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.head_dim = heads, dim // heads
        self.to_q = nn.Dense(dim, dim)
        self.to_k = nn.Dense(dim, dim)
        self.to_v = nn.Dense(dim, dim)
        self.to_out = nn.Dense(dim, dim)

    def split(self, t):
        b, n, _ = t.shape
        return t.reshape(b, n, self.heads, self.head_dim).swapaxes(1, 2)

    def construct(self, tokens):
        q, k, v = self.split(self.to_q(tokens)), self.split(self.to_k(tokens)), self.split(self.to_v(tokens))
        weights = ops.softmax(ops.matmul(q, k.swapaxes(2, 3)) / math.sqrt(self.head_dim), axis=-1)
        mixed = ops.matmul(weights, v).swapaxes(1, 2)
        return self.to_out(mixed.reshape(tokens.shape))


class Layer(nn.Cell):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln_a = nn.LayerNorm([dim], epsilon=1e-6)
        self.attention = SelfAttention(dim, heads)
        self.ln_b = nn.LayerNorm([dim], epsilon=1e-6)
        self.up = nn.Dense(dim, 2 * dim)
        self.gelu = nn.GELU(approximate=False)
        self.down = nn.Dense(2 * dim, dim)

    def construct(self, tokens):
        tokens = tokens + self.attention(self.ln_a(tokens))
        return tokens + self.down(self.gelu(self.up(self.ln_b(tokens))))


class TinyViT(nn.Cell):
    def __init__(self, dim=32, heads=4, depth=2, patch=4):
        super().__init__()
        tokens = (SIZE // patch) ** 2 + 1
        self.embed = nn.Conv2d(3, dim, kernel_size=patch, stride=patch, pad_mode="valid", has_bias=True)
        self.class_token = Parameter(initializer(Normal(0.02), (1, 1, dim)), name="class_token")
        self.position = Parameter(initializer(Normal(0.02), (1, tokens, dim)), name="position")
        self.layers = nn.SequentialCell([Layer(dim, heads) for _ in range(depth)])
        self.ln = nn.LayerNorm([dim], epsilon=1e-6)
        self.classify = nn.Dense(dim, CLASSES)

    def construct(self, images):
        grid = self.embed(images)
        b, c, h, w = grid.shape
        tokens = grid.reshape(b, c, h * w).transpose(0, 2, 1)
        first = ops.broadcast_to(self.class_token, (b, 1, c))
        tokens = self.layers(ops.cat((first, tokens), 1) + self.position)
        return self.classify(self.ln(tokens[:, 0]))


def warmup_cosine(step, warmup, total):
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 + 0.5 * math.cos(math.pi * (step - warmup) / (total - warmup))


def main(epochs=2, batch=24, base_lr=1e-3, warmup=5):
    ms.set_seed(3)
    x, y = pictures(240, 0)
    xt, yt = pictures(60, 1)
    steps = len(x) // batch
    net = TinyViT()
    opt = optim.AdamW(net.trainable_params(), lr=base_lr, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.05)
    sched = optim.lr_scheduler.LambdaLR(opt, lambda s: warmup_cosine(s, warmup, epochs * steps))
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    grad_fn = ms.value_and_grad(lambda a, b: criterion(net(a), b), None, opt.parameters)
    rng = np.random.RandomState(1)
    for epoch in range(epochs):
        net.set_train()
        for rows in np.split(rng.permutation(len(x)), steps):
            loss, grads = grad_fn(Tensor(x[rows]), Tensor(y[rows]))
            opt(grads)
            sched.step()
        net.set_train(False)
        acc = np.mean(net(Tensor(xt)).asnumpy().argmax(-1) == yt)
        print(f"epoch {epoch} loss {loss.asnumpy():.4f} acc {acc:.4f}")


if __name__ == "__main__":
    main()
