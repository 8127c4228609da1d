"""Small ResNet on a CIFAR-like set, MindSpore."""
import argparse

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn, ops

MEAN = np.array([0.4914, 0.4822, 0.4465], dtype=np.float32).reshape(3, 1, 1)
STD = np.array([0.2470, 0.2435, 0.2616], dtype=np.float32).reshape(3, 1, 1)


def make_images(n, seed):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, 10, n)
    base = np.random.RandomState(7).randint(0, 200, (10, 3, 16, 16))
    images = base[labels] + rng.randint(0, 56, (n, 3, 16, 16))
    return images.astype(np.uint8), labels.astype(np.int32)


class Cifar:
    def __init__(self, images, labels, train):
        self.images, self.labels, self.train = images, labels, train

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img = self.images[i].astype(np.float32) / 255.0
        img = (img - MEAN) / STD
        return img, self.labels[i]


def conv(cin, cout, k, stride=1, padding=0):
    return nn.Conv2d(cin, cout, k, stride, pad_mode="pad", padding=padding, has_bias=False)


class BasicBlock(nn.Cell):
    def __init__(self, cin, cout, stride=1):
        super().__init__()
        self.conv1 = conv(cin, cout, 3, stride, 1)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = conv(cout, cout, 3, 1, 1)
        self.bn2 = nn.BatchNorm2d(cout)
        self.relu = nn.ReLU()
        self.down = None
        if stride != 1 or cin != cout:
            self.down = nn.SequentialCell(conv(cin, cout, 1, stride), nn.BatchNorm2d(cout))

    def construct(self, x):
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        identity = x if self.down is None else self.down(x)
        return self.relu(out + identity)


class ResNet(nn.Cell):
    def __init__(self, num_classes=10):
        super().__init__()
        self.stem = conv(3, 8, 3, 1, 1)
        self.bn = nn.BatchNorm2d(8)
        self.relu = nn.ReLU()
        self.layer1 = BasicBlock(8, 8)
        self.layer2 = BasicBlock(8, 16, 2)
        self.fc = nn.Dense(16, num_classes)

    def construct(self, x):
        x = self.relu(self.bn(self.stem(x)))
        x = self.layer2(self.layer1(x))
        x = x.mean((2, 3))
        return self.fc(x)


def evaluate(net, dataset):
    net.set_train(False)
    hit = total = 0
    for x, y in dataset.create_tuple_iterator():
        hit += int((net(x).argmax(1) == y).sum())
        total += len(y)
    return hit / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    train_set = ds.GeneratorDataset(Cifar(*make_images(256, 0), True), ["x", "y"], shuffle=True).batch(args.batch_size)
    test_set = ds.GeneratorDataset(Cifar(*make_images(64, 1), False), ["x", "y"], shuffle=False).batch(args.batch_size)
    steps = train_set.get_dataset_size()
    net = ResNet()
    milestones = [2, 3, args.epochs * steps]
    lr = nn.piecewise_constant_lr(milestones, [args.lr, args.lr * 0.1, args.lr * 0.01])
    optimizer = nn.Momentum(net.trainable_params(), lr, momentum=0.9)
    loss_fn = nn.CrossEntropyLoss()

    def forward(x, y):
        return loss_fn(net(x), y)

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
    for epoch in range(args.epochs):
        net.set_train(True)
        for x, y in train_set.create_tuple_iterator():
            loss, grads = grad_fn(x, y)
            optimizer(grads)
        print(f"epoch {epoch} loss {float(loss):.4f} acc {evaluate(net, test_set):.4f}")


if __name__ == "__main__":
    main()
