# three-armed spiral; the whole update is compiled with ms.jit
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops

ARMS = 3


def spiral(n, seed):
    g = np.random.RandomState(seed)
    arm = g.randint(0, ARMS, n)
    t = np.sqrt(g.uniform(0.02, 1.0, n))
    ang = 3.0 * t + arm * 2 * np.pi / ARMS + 0.12 * g.randn(n)
    r = 1.8 * t
    return np.stack([r * np.cos(ang), r * np.sin(ang)], 1).astype(np.float32), arm.astype(np.int32)


class Net(nn.Cell):
    def __init__(self, width):
        super().__init__()
        self.fc1 = nn.Dense(2, width)
        self.fc2 = nn.Dense(width, width)
        self.fc3 = nn.Dense(width, ARMS)
        self.relu = nn.ReLU()

    def construct(self, x):
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


ms.set_context(mode=ms.PYNATIVE_MODE)
ms.set_seed(4)

net = Net(40)
loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
optimizer = nn.Adam(net.trainable_params(), learning_rate=0.008)


def forward_fn(x, y):
    return loss_fn(net(x), y)


grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)


@ms.jit
def train_step(x, y):
    loss, grads = grad_fn(x, y)
    # depend: the update has to happen although its result is not returned
    return ops.depend(loss, optimizer(grads))


def test(batches):
    net.set_train(False)
    good = n = 0
    for x, y in batches:
        good += int((net(x).argmax(axis=1) == y).sum().asnumpy())
        n += len(y)
    return good / n


if __name__ == "__main__":
    epochs = 4
    train = ds.NumpySlicesDataset(spiral(256, 0), ["x", "y"], shuffle=True)
    train = train.batch(32, drop_remainder=True)  # one shape, one compilation
    held = ds.NumpySlicesDataset(spiral(90, 1), ["x", "y"], shuffle=False).batch(32)
    a, b = train.create_tuple_iterator(num_epochs=epochs), held.create_tuple_iterator(num_epochs=epochs)
    for e in range(epochs):
        net.set_train(True)
        acc_loss = [float(train_step(x, y).asnumpy()) for x, y in a]
        print("epoch %d loss %.4f held-out %.3f" % (e, sum(acc_loss) / len(acc_loss), test(b)))
