"""Same glyph or not? One encoder looks at both pictures, contrastive loss on the distance."""

import numpy as np
import mindspore as ms
from mindspore import nn, ops
from mindspore.dataset import GeneratorDataset

SEED = 21
BATCH = 32
EPOCHS = 3
MARGIN = 1.5

GLYPHS = np.random.default_rng(1234).integers(0, 2, size=(6, 7, 7)).astype(np.float32)


class Pairs:
    """Even rows are matching pairs, odd rows are not. Fixed per seed, so validation never moves."""

    def __init__(self, n, seed):
        r = np.random.default_rng(seed)
        self.items = []
        for k in range(n):
            a = int(r.integers(6))
            same = k % 2 == 0
            b = a if same else (a + int(r.integers(1, 6))) % 6
            left, right = (self._noisy(GLYPHS[g], r) for g in (a, b))
            self.items.append((left, right, np.float32(same)))

    @staticmethod
    def _noisy(g, r):
        out = g * 2 - 1 + 0.4 * r.normal(size=g.shape)
        return out[None].astype(np.float32)

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


class Encoder(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 6, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.act = nn.ReLU()
        self.flat = nn.Flatten()
        self.fc = nn.Dense(6 * 4 * 4, 8, has_bias=False)  # an offset would cancel in the difference

    def construct(self, img):
        return self.fc(self.flat(self.act(self.conv(img))))


class Siamese(nn.Cell):
    def __init__(self, encoder):
        super().__init__()
        self.encoder = encoder

    def construct(self, left, right):
        diff = self.encoder(left) - self.encoder(right)
        # the small constant keeps the root differentiable for identical codes
        return ops.sqrt((diff * diff).sum(axis=1) + 1e-6)


def contrastive(dist, same):
    pull = same * dist * dist
    push = (1 - same) * ops.relu(MARGIN - dist) ** 2
    return (pull + push).mean()


def verify(net, it):
    net.set_train(False)
    ok = []
    for left, right, same in it:
        guess = net(left, right).asnumpy() < MARGIN / 2
        ok.append(guess == same.asnumpy().astype(bool))
    net.set_train(True)
    return np.concatenate(ok).mean()


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(SEED)
    cols = ["left", "right", "same"]
    train = GeneratorDataset(Pairs(192, 1), cols, shuffle=True).batch(BATCH)
    valid = GeneratorDataset(Pairs(64, 2), cols, shuffle=False).batch(BATCH)

    net = Siamese(Encoder())
    optimizer = nn.RMSProp(net.trainable_params(), learning_rate=5e-3, decay=0.99, epsilon=1e-8)

    def forward_fn(left, right, same):
        return contrastive(net(left, right), same)

    step_fn = ms.value_and_grad(forward_fn, grad_position=None, weights=optimizer.parameters)
    net.set_train(True)
    tr, va = (d.create_tuple_iterator(num_epochs=EPOCHS) for d in (train, valid))
    for epoch in range(EPOCHS):
        trace = []
        for batch in tr:
            loss, grads = step_fn(*batch)
            optimizer(grads)
            trace.append(loss.asnumpy().item())
        print("epoch {} | contrastive {:.3f} | verification {:.3f}".format(epoch, np.mean(trace), verify(net, va)))


if __name__ == "__main__":
    main()
