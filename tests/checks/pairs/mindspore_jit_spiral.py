"""jit_spiral with a chain of layers, a class for the step, and its width as a setting."""

import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.dataset import NumpySlicesDataset


def arms(count, seed, kinds=3):
    rng = np.random.RandomState(seed)
    kind = rng.randint(0, kinds, count)
    far = np.sqrt(rng.uniform(0.02, 1.0, count))
    angle = 3.0 * far + kind * 2 * np.pi / kinds + 0.12 * rng.randn(count)
    radius = 1.8 * far
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    return points.astype(np.float32), kind.astype(np.int32)


def network(width=40, kinds=3):
    return nn.SequentialCell(nn.Dense(2, width), nn.ReLU(), nn.Dense(width, width), nn.ReLU(), nn.Dense(width, kinds))


class Step:
    def __init__(self, net, rate):
        self.net = net
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        self.optimizer = nn.Adam(params=net.trainable_params(), learning_rate=rate)
        self.gradients = ms.value_and_grad(self.forward, None, self.optimizer.parameters)

    def forward(self, x, y):
        return self.loss(self.net(x), y)

    def __call__(self, x, y):
        loss, grads = self.gradients(x, y)
        self.optimizer(grads)
        return loss


def accuracy(net, batches):
    net.set_train(False)
    right = count = 0
    for x, y in batches:
        right += int((net(x).argmax(1) == y).sum().asnumpy())
        count += y.shape[0]
    return right / count


def main(epochs=4):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(4)
    train = NumpySlicesDataset(arms(256, 0), ["x", "y"], shuffle=True).batch(32, True)
    held = NumpySlicesDataset(arms(90, 1), ["x", "y"], shuffle=False).batch(batch_size=45)
    net = network()
    step = Step(net, 8e-3)
    first, second = train.create_tuple_iterator(num_epochs=epochs), held.create_tuple_iterator(num_epochs=epochs)
    for epoch in range(epochs):
        net.set_train(True)
        losses = []
        for x, y in first:
            losses.append(float(step(x, y).asnumpy()))
        print(f"{epoch}: {np.mean(losses):.4f} {accuracy(net, second):.3f}")


if __name__ == "__main__":
    main()
