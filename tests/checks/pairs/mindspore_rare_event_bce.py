"""rare_event_bce with an activation of its own, its settings as constants, its score in a function."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn, ops

EPOCHS, BATCH, RATE = 3, 64, 2e-2


class Net(nn.Cell):
    def __init__(self, inputs=3, hidden=16, dropped=0.1):
        super().__init__()
        self.hidden = nn.Dense(inputs, hidden)
        self.drop = nn.Dropout(p=dropped)
        self.out = nn.Dense(hidden, 1)

    def construct(self, readings):
        return self.out(self.drop(ops.relu(self.hidden(readings))))


def readings(count, seed):
    rng = np.random.RandomState(seed)
    broken = (np.arange(count) % 16 == 0).astype(np.float32)
    rng.shuffle(broken)
    heat = 60 + 5 * rng.randn(count) + 9 * broken
    speed = 1500 + 120 * rng.randn(count) - 150 * broken
    shaking = np.abs(0.02 * rng.randn(count)) + 0.03 * broken
    return np.stack([heat, speed, shaking], axis=1), broken[:, None]


def area(scores, truth):
    order = np.argsort(scores.ravel())
    rank = np.empty(len(order))
    rank[order] = np.arange(1, len(order) + 1)
    hit = truth.ravel() > 0.5
    hits, misses = hit.sum(), (~hit).sum()
    return (rank[hit].sum() - hits * (hits + 1) / 2) / (hits * misses)


def main():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(2)
    raw, failed = readings(320, 1)
    held, held_failed = readings(160, 2)
    mean, deviation = raw.mean(axis=0), raw.std(axis=0)
    inputs = ((raw - mean) / deviation).astype(np.float32)
    held_inputs = Tensor(((held - mean) / deviation).astype(np.float32))
    train = ds.NumpySlicesDataset({"x": inputs, "y": failed}, shuffle=True).batch(BATCH, drop_remainder=True)
    net = Net()
    weight = float((1 - failed).sum() / failed.sum())
    loss_fn = nn.BCEWithLogitsLoss(pos_weight=Tensor([weight], ms.float32))
    optimizer = nn.Adam(net.trainable_params(), learning_rate=RATE)

    def forward(x, y):
        return loss_fn(net(x), y)

    step = ms.value_and_grad(forward, None, optimizer.parameters)
    batches = train.create_tuple_iterator(num_epochs=EPOCHS)
    for epoch in range(EPOCHS):
        net.set_train(True)
        for x, y in batches:
            loss, grads = step(x, y)
            optimizer(grads)
        net.set_train(False)
        print("epoch", epoch, "loss", loss, "area", area(ops.sigmoid(net(held_inputs)).asnumpy(), held_failed))


if __name__ == "__main__":
    main()
