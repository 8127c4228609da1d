import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn

from mixed import HalfBody, Stepper

EPOCHS = 3
CLASSES = 4


def waves(n, seed, points=32):
    """noisy sine waves with 1..4 periods and a random phase; amplitude close to one"""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, n)
    t = np.linspace(0, 2 * np.pi, points, endpoint=False)
    phase = rng.uniform(-0.6, 0.6, (n, 1))
    sig = np.sin((label[:, None] + 1) * t + phase) * 1.4 + 0.15 * rng.normal(size=(n, points))
    return sig.astype(np.float32), label.astype(np.int32)


def accuracy(net, it):
    net.set_train(False)
    right = total = 0
    for x, y in it:
        pred = net(x).argmax(axis=-1)
        right += int((pred == y).sum().asnumpy())
        total += y.shape[0]
    return right / total


def main():
    ms.set_seed(42)
    train = ds.NumpySlicesDataset(waves(192, 0), ["x", "y"], shuffle=True).batch(32)
    test = ds.NumpySlicesDataset(waves(80, 1), ["x", "y"], shuffle=False).batch(40)

    net = HalfBody(32, 48, CLASSES)
    # parameters are kept in float32, only the matmuls of the body run in half
    opt = nn.Adam(net.trainable_params(), learning_rate=4e-3)
    step = Stepper(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"), opt)

    train_it = train.create_tuple_iterator(num_epochs=EPOCHS)
    test_it = test.create_tuple_iterator(num_epochs=EPOCHS)
    for ep in range(EPOCHS):
        losses = [step(x, y) for x, y in train_it]
        scale = float(step.scaler.scale_value.asnumpy())
        print(
            f"{ep}: loss={np.mean(losses):.3f} acc={accuracy(net, test_it):.3f} scale={scale:g} skipped={step.skipped}"
        )


main()
