"""Causal attention with padding; the masks are -inf and every row keeps one key."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class CausalAttention(nn.Cell):
    def __init__(self, dim, longest):
        super().__init__()
        self.q, self.k, self.v = nn.Dense(dim, dim), nn.Dense(dim, dim), nn.Dense(dim, dim)
        self.causal = Tensor(np.triu(np.full((longest, longest), -np.inf, np.float32), 1))

    def construct(self, x, pad):
        scores = ops.matmul(self.q(x), self.k(x).swapaxes(1, 2)) / x.shape[-1] ** 0.5
        scores = scores + self.causal
        scores = ops.masked_fill(scores, pad.expand_dims(1), float("-inf"))
        return ops.matmul(ops.softmax(scores, axis=-1), self.v(x))


class TinyLM(nn.Cell):
    def __init__(self, vocab=25, dim=12, longest=6):
        super().__init__()
        self.vocab = vocab
        self.embed = nn.Embedding(vocab, dim)
        self.norm = nn.LayerNorm((dim,))
        self.attn = CausalAttention(dim, longest)
        self.head = nn.Dense(dim, vocab)

    def construct(self, tokens):
        x = self.embed(tokens)
        x = x + self.attn(self.norm(x), tokens == 0)
        return self.head(x)


def main():
    ms.set_seed(0)
    rng = np.random.default_rng(0)
    tokens = rng.integers(1, 25, (48, 6)).astype(np.int32)
    for row in range(0, 48, 4):
        tokens[row, 3 + row % 3 :] = 0
    net = TinyLM()
    opt = nn.Adam(net.trainable_params(), 3e-3)

    def forward(batch):
        logits = net(batch)[:, :-1].reshape(-1, net.vocab)
        return ops.cross_entropy(logits, batch[:, 1:].reshape(-1), ignore_index=0)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    net.set_train()
    for step in range(8):
        loss, grads = grad_fn(Tensor(tokens[6 * step : 6 * step + 6]))
        opt(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
