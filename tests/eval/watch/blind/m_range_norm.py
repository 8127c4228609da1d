"""Min-max scaling per sample inside the network."""

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops


class RangeNorm(nn.Cell):
    def construct(self, x):
        low = x.min(axis=1, keepdims=True)
        high = x.max(axis=1, keepdims=True)
        return (x - low) / (high - low)


class ImageNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.norm = RangeNorm()
        self.conv = nn.Conv2d(1, 4, 3)
        self.pool = nn.AvgPool2d(2, 2)
        self.flat = nn.Flatten()
        self.fc = nn.Dense(4 * 16, 3)

    def construct(self, img):
        b = img.shape[0]
        x = self.norm(img.reshape(b, -1)).reshape(b, 1, 8, 8)
        x = self.pool(ops.tanh(self.conv(x)))
        return self.fc(self.flat(x))


class Loader:
    def __init__(self, n=40, size=5):
        rng = np.random.default_rng(0)
        self.img = rng.uniform(0, 255, (n, 8, 8)).astype(np.float32)
        self.img[32] = 255.0  # over-exposed
        self.label = rng.integers(0, 3, n).astype(np.int32)
        self.size = size

    def __iter__(self):
        for i in range(0, len(self.label), self.size):
            yield Tensor(self.img[i : i + self.size]), Tensor(self.label[i : i + self.size])


def main():
    ms.set_seed(0)
    net = ImageNet()
    criterion = nn.CrossEntropyLoss()
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    grad_fn = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, net.trainable_params())
    net.set_train(True)
    for step, (img, label) in enumerate(Loader()):
        loss, grads = grad_fn(img, label)
        optimizer(grads)
        print(step, loss)


if __name__ == "__main__":
    main()
