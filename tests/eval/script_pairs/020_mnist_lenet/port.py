"""MNIST-like digits with a LeNet; MindSpore."""
import argparse

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
import mindspore.nn as nn
import mindspore.ops as ops


def build_parser():
    p = argparse.ArgumentParser("LeNet")
    p.add_argument("--batch-size", type=int, default=32, help="training batch")
    p.add_argument("--test-batch-size", type=int, default=100)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--lr", type=float, default=0.05)
    p.add_argument("--seed", type=int, default=1)
    return p


class Digits:
    def __init__(self, train):
        n = 384 if train else 200
        rng = np.random.RandomState(0 if train else 1)
        self.label = rng.randint(0, 10, n).astype(np.int32)
        strokes = np.random.RandomState(5).uniform(size=(10, 28, 28)) < 0.15
        noise = rng.randint(0, 60, (n, 28, 28))
        self.image = (strokes[self.label] * 180 + noise).astype(np.uint8)

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return self.image[i], self.label[i]


def train_transform(x):
    x = x.astype(np.float32) / 255.0
    return ((x - 0.1307) / 0.3081)[None]


def test_transform(x):
    return x.astype(np.float32)[None] / 255.0


def create_dataset(train, batch_size):
    data = ds.GeneratorDataset(Digits(train), ["image", "label"], shuffle=train)
    data = data.map(train_transform if train else test_transform, input_columns="image")
    return data.batch(batch_size)


class LeNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid", has_bias=True)
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid", has_bias=True)
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(16 * 4 * 4, 64, activation="relu")
        self.fc2 = nn.Dense(64, 10)

    def construct(self, x):
        x = self.pool(ops.relu(self.conv1(x)))
        x = self.pool(ops.relu(self.conv2(x)))
        return self.fc2(self.fc1(self.flatten(x)))


def train(model, dataset, grad_fn, optimizer):
    model.set_train()
    for data, target in dataset.create_tuple_iterator():
        loss, grads = grad_fn(data, target)
        optimizer(grads)
    return float(loss)


def test(model, dataset):
    model.set_train(False)
    loss, correct, n = 0.0, 0, 0
    for data, target in dataset.create_tuple_iterator():
        out = model(data)
        loss += float(ops.cross_entropy(out, target, reduction="sum"))
        correct += int((out.argmax(axis=1) == target).sum())
        n += len(target)
    return loss / n, correct / n


def main():
    args = build_parser().parse_args()
    ms.set_seed(args.seed)
    train_set = create_dataset(True, args.batch_size)
    test_set = create_dataset(False, args.test_batch_size)
    model = LeNet()
    optimizer = nn.Momentum(model.trainable_params(), args.lr, 0.5)
    grad_fn = ms.value_and_grad(lambda x, y: ops.cross_entropy(model(x), y), None, optimizer.parameters)
    for epoch in range(1, args.epochs + 1):
        last = train(model, train_set, grad_fn, optimizer)
        test_loss, acc = test(model, test_set)
        print(f"Epoch {epoch}: train {last:.4f} test {test_loss:.4f} acc {acc:.4f}")


if __name__ == "__main__":
    main()
