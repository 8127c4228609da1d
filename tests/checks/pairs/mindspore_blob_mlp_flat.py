"""blob_mlp_flat in functions, its network a Cell, its accuracy by batches."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn, ops


class Net(nn.Cell):
    def __init__(self, inputs, hidden, classes):
        super().__init__()
        self.first = nn.Dense(inputs, hidden)
        self.drop = nn.Dropout(p=0.1)
        self.last = nn.Dense(in_channels=hidden, out_channels=classes)

    def construct(self, x):
        x = ops.relu(self.first(x))
        return self.last(self.drop(x))


def clusters(rng, means, count):
    rows = np.concatenate([means[at] + 0.6 * rng.normal(size=(count, 8)) for at in range(5)])
    kinds = np.repeat(np.arange(5), count)
    return rows.astype(np.float32), kinds.astype(np.int32)


def pipeline(rows, kinds, batch, train):
    return ds.NumpySlicesDataset((rows, kinds), ["x", "y"], shuffle=train).batch(batch)


def evaluate(net, batches):
    net.set_train(False)
    right = seen = 0
    for x, y in batches:
        right += int((net(x).argmax(1) == y).sum().asnumpy())
        seen += len(y)
    return right / seen


def main(epochs=3, batch=32):
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(3)
    rng = np.random.default_rng(11)
    means = rng.normal(0.0, 1.5, size=(5, 8))
    x, y = clusters(rng, means, 40)
    held, held_y = clusters(rng, means, 15)
    mean, deviation = x.mean(axis=0), x.std(axis=0)
    train = pipeline((x - mean) / deviation, y, batch, True)
    valid = pipeline((held - mean) / deviation, held_y, batch, False)
    net = Net(8, 48, 5)
    criterion = nn.CrossEntropyLoss()
    optimizer = nn.SGD(net.trainable_params(), 0.1, momentum=0.9, weight_decay=1e-4, nesterov=False)

    def loss_of(x, y):
        return criterion(net(x), y)

    gradients = ms.value_and_grad(loss_of, None, optimizer.parameters)
    batches, checked = train.create_tuple_iterator(num_epochs=epochs), valid.create_tuple_iterator(num_epochs=epochs)
    for epoch in range(epochs):
        net.set_train()
        for x, y in batches:
            loss, grads = gradients(x, y)
            optimizer(grads)
        print(epoch, float(loss.asnumpy()), evaluate(net, checked))


if __name__ == "__main__":
    main()
