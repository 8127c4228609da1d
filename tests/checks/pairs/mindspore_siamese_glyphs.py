"""siamese_glyphs with a chain as its encoder, the distance in a method, and logs by batch."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops

SHAPES = np.random.default_rng(1234).integers(0, 2, size=(6, 7, 7)).astype(np.float32)


def noisy(shape, rng):
    return (shape * 2 - 1 + 0.4 * rng.normal(size=shape.shape))[None].astype(np.float32)


class Couples:
    def __init__(self, count, seed):
        rng = np.random.default_rng(seed)
        self.couples = []
        for at in range(count):
            first = int(rng.integers(6))
            same = at % 2 == 0
            second = first if same else (first + int(rng.integers(1, 6))) % 6
            left, right = (noisy(SHAPES[which], rng) for which in (first, second))
            self.couples.append((left, right, np.float32(same)))

    def __getitem__(self, at):
        return self.couples[at]

    def __len__(self):
        return len(self.couples)


class Twins(nn.Cell):
    def __init__(self):
        super().__init__()
        self.coder = nn.SequentialCell(
            nn.Conv2d(1, 6, 3, stride=2, padding=1, pad_mode="pad", has_bias=True),
            nn.ReLU(),
            nn.Flatten(),
            nn.Dense(6 * 4 * 4, 8, has_bias=False),
        )

    def construct(self, left, right):
        gap = self.coder(left) - self.coder(right)
        return ops.sqrt((gap * gap).sum(axis=1) + 1e-6)


def loss_of(distance, same, margin=1.5):
    return (same * distance * distance + (1 - same) * ops.relu(margin - distance) ** 2).mean()


def main(epochs=3, batch=32):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(5)
    names = ["left", "right", "same"]
    train = ds.GeneratorDataset(Couples(192, 1), names, shuffle=True).batch(batch)
    valid = ds.GeneratorDataset(Couples(64, 2), names, shuffle=False).batch(batch)
    twins = Twins()
    optimizer = nn.RMSProp(twins.trainable_params(), learning_rate=0.005, decay=0.99, epsilon=1e-8)
    gradients = ms.value_and_grad(lambda a, b, same: loss_of(twins(a, b), same), None, optimizer.parameters)
    batches = train.create_tuple_iterator(num_epochs=epochs)
    checked = valid.create_tuple_iterator(num_epochs=epochs)
    for epoch in range(epochs):
        twins.set_train(True)
        for left, right, same in batches:
            loss, grads = gradients(left, right, same)
            optimizer(grads)
            print(epoch, loss.asnumpy().item())
        twins.set_train(False)
        right_ones = []
        for left, right, same in checked:
            near = twins(left, right).asnumpy() < 1.5 / 2
            right_ones.append(near == same.asnumpy().astype(bool))
        print(epoch, np.concatenate(right_ones).mean())


if __name__ == "__main__":
    main()
