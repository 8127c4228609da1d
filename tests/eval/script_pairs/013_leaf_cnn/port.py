"""Plant leaf classification, AlexNet-like CNN, MindSpore."""
import argparse

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, nn


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--classes", type=int, default=6)
    ap.add_argument("--size", type=int, default=16)
    ap.add_argument("--batch", type=int, default=24)
    ap.add_argument("--lr", type=float, default=0.02)
    ap.add_argument("--epochs", type=int, default=3)
    return ap.parse_args()


def leaves(n, args, seed):
    rng = np.random.RandomState(seed)
    proto = np.random.RandomState(77).uniform(0, 1, (args.classes, 3, args.size, args.size))
    y = rng.randint(0, args.classes, n)
    x = np.clip(proto[y] + 0.3 * rng.standard_normal((n, 3, args.size, args.size)), 0, 1)
    return ((x - 0.5) / 0.25).astype(np.float32), y.astype(np.int32)


def make_net(classes, size):
    return nn.SequentialCell(
        nn.Conv2d(3, 16, 3, pad_mode="pad", padding=1, has_bias=True),
        nn.BatchNorm2d(16, momentum=0.9),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(16, 32, 3, pad_mode="pad", padding=1, has_bias=True),
        nn.BatchNorm2d(32, momentum=0.9),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Dense(32 * (size // 4) ** 2, 64),
        nn.ReLU(),
        nn.Dense(64, classes),
    )


def main():
    args = parse()
    ms.set_seed(2)
    xs, ys = leaves(240, args, 0)
    xv, yv = leaves(60, args, 1)
    loader = ds.NumpySlicesDataset((xs, ys), ["image", "label"], shuffle=True).batch(args.batch, drop_remainder=True)
    iterator = loader.create_tuple_iterator(num_epochs=args.epochs)
    net = make_net(args.classes, args.size)
    net.to_float(ms.float16)
    loss_fn = nn.CrossEntropyLoss(label_smoothing=0.1)
    opt = nn.Momentum(net.trainable_params(), learning_rate=args.lr, momentum=0.9)

    def forward(x, y):
        logits = net(x).astype(ms.float32)
        return loss_fn(logits, y)

    grad_fn = ms.value_and_grad(forward, None, opt.parameters)
    for epoch in range(args.epochs):
        net.set_train(True)
        seen, summed = 0, 0.0
        for x, y in iterator:
            loss, grads = grad_fn(x, y)
            opt(grads)
            seen += len(x)
            summed += float(loss) * len(x)
        net.set_train(False)
        acc = (net(Tensor(xv)).argmax(1).asnumpy() == yv).mean()
        print(f"epoch {epoch}: loss {summed / seen:.4f}, val acc {acc:.4f}")


if __name__ == "__main__":
    main()
