"""Small convolutional classifier in MindSpore with evaluation inside the epoch."""
import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor
import mindspore.dataset as ds

ms.set_context(mode=ms.PYNATIVE_MODE)


class ConvNet(nn.Cell):
    def __init__(self, classes=3):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3, pad_mode="same", has_bias=True)
        self.bn = nn.BatchNorm2d(8, momentum=0.9)
        self.drop = nn.Dropout(p=0.2)
        self.fc = nn.Dense(8, classes)

    def construct(self, x):
        x = ops.relu(self.bn(self.conv(x)))
        return self.fc(self.drop(x.mean(axis=(2, 3))))


def pictures(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, size=n).astype(np.int32)
    x = rng.normal(scale=0.3, size=(n, 1, 8, 8)).astype(np.float32)
    x[y == 0, :, ::2, :] += 1
    x[y == 1, :, :, ::2] += 1
    x[y == 2] += 0.5
    return {"image": x, "label": y}


class Trainer:
    def __init__(self, net, lr, eval_every):
        self.net = net
        self.loss_fn = nn.CrossEntropyLoss()
        self.opt = nn.Momentum(net.trainable_params(), lr, 0.9)
        self.grad_fn = ms.value_and_grad(self.forward, None, self.opt.parameters)
        self.eval_every = eval_every
        self.seen = 0

    def forward(self, x, y):
        return self.loss_fn(self.net(x), y)

    def evaluate(self, data):
        self.net.set_train(False)
        hits = total = 0
        for x, y in data.create_tuple_iterator():
            hits += int((self.net(x).argmax(1) == y).sum().asnumpy())
            total += len(y)
        return hits / total

    def fit(self, train, test, epochs):
        self.net.set_train(True)
        for epoch in range(epochs):
            losses = []
            for x, y in train.create_tuple_iterator():
                loss, grads = self.grad_fn(x, y)
                self.opt(grads)
                losses.append(float(loss.asnumpy()))
                self.seen += 1
                if self.seen % self.eval_every == 0:
                    print(f"step {self.seen} accuracy {self.evaluate(test):.3f}")
            print(f"epoch {epoch} loss {np.mean(losses):.4f}")


def main():
    ms.set_seed(5)
    train = ds.NumpySlicesDataset(pictures(256, 0), shuffle=True).batch(32)
    test = ds.NumpySlicesDataset(pictures(64, 1), shuffle=False).batch(32)
    Trainer(ConvNet(), lr=0.05, eval_every=6).fit(train, test, epochs=4)


main()
