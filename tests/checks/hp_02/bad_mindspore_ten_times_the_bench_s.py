# port-of: bench_mindspore_four_epochs.py
"""Forty epochs, where the benchmark has four."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn

EPOCHS = 40  # expect: hp.02


def main():
    ms.set_seed(0)
    rows = np.random.default_rng(0).normal(size=(256, 8)).astype(np.float32)
    kinds = (rows.sum(axis=1) > 0).astype(np.int32)
    data = ds.NumpySlicesDataset((rows, kinds), ["x", "y"], shuffle=True).batch(32)
    net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 2))
    criterion = nn.CrossEntropyLoss()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.1)
    step = ms.value_and_grad(lambda x, y: criterion(net(x), y), None, optimizer.parameters)
    net.set_train()
    for _ in range(EPOCHS):
        for x, y in data.create_tuple_iterator():
            _, gradients = step(x, y)
            optimizer(gradients)


if __name__ == "__main__":
    main()
