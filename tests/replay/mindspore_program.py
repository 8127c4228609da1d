"""The same in MindSpore: cells and functions that drop, augmentation, a schedule; each line is a step's loss."""

import argparse

import mindspore as ms
import numpy as np
from mindspore import dataset, nn, ops


class Pictures:
    def __init__(self):
        drawn = np.random.RandomState(0)
        self.x = drawn.randn(24, 3, 8, 8).astype(np.float32)
        self.y = drawn.randint(0, 4, 24).astype(np.int32)

    def __getitem__(self, index):
        return self.x[index], self.y[index]

    def __len__(self):
        return len(self.x)


def augmented(x):
    if np.random.rand() < 0.5:
        x = x[..., ::-1]
    return (x + 0.01 * np.random.randn()).astype(np.float32)


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8)
        self.drop, self.last = nn.Dropout(p=0.3), nn.Dense(8 * 8 * 8, 4)

    def construct(self, x):
        x = ops.relu(self.norm(self.conv(x)))
        x = self.drop(x.reshape(x.shape[0], -1))
        return self.last(ops.dropout(x, 0.1))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--optimizer", default="adam")
    options = parser.parse_args()
    ms.set_device("CPU")
    ms.set_seed(3)
    network = Network().set_train()
    rates = nn.exponential_decay_lr(0.01, 0.9, 100, 6, 1)
    kinds = {
        "adam": lambda: nn.Adam(network.trainable_params(), rates),
        "momentum": lambda: nn.Momentum(network.trainable_params(), rates, 0.9),
    }
    optimizer = kinds[options.optimizer]()
    criterion = nn.CrossEntropyLoss()
    forward = ms.value_and_grad(lambda x, y: criterion(network(x), y), None, network.trainable_params())
    several = {"num_parallel_workers": options.workers, "python_multiprocessing": options.workers > 1}
    data = dataset.GeneratorDataset(Pictures(), ["x", "y"], shuffle=True, **several)
    data = data.map(augmented, ["x"], **several).batch(4)
    for _ in range(3):
        for x, y in data.create_tuple_iterator():
            loss, gradients = forward(x, y)
            optimizer(gradients)
            print(float(loss.asnumpy()).hex(), flush=True)


if __name__ == "__main__":
    main()
