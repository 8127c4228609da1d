"""1-d convolution over a stream of signals."""

import mindspore as ms
from mindspore import nn, ops

from stream import open_stream


class SignalNet(nn.Cell):
    def __init__(self, channels: int = 12, states: int = 3):
        super().__init__()
        self.conv1 = nn.Conv1d(1, channels, 5, stride=2, pad_mode="same", has_bias=True)
        self.conv2 = nn.Conv1d(channels, channels, 3, stride=1, pad_mode="same", has_bias=True)
        self.out = nn.Dense(channels, states)

    def construct(self, x):
        x = ops.relu(self.conv1(x))
        x = ops.relu(self.conv2(x))
        return self.out(x.mean(axis=2))  # average over time


def train_epoch(step, optimizer, net, batches) -> float:
    net.set_train(True)
    total, count = 0.0, 0
    for signal, state in batches:
        loss, grads = step(signal, state)
        optimizer(grads)
        total += float(loss.asnumpy())
        count += 1
    return total / count


def accuracy(net, batches) -> float:
    net.set_train(False)
    right = count = 0
    for signal, state in batches:
        right += int((net(signal).argmax(1) == state).sum().asnumpy())
        count += state.shape[0]
    return right / count


def main(epochs: int = 3, batch: int = 24) -> None:
    ms.set_seed(55)
    train = open_stream(192, 1, batch, training=True)
    valid = open_stream(72, 2, batch, training=False)
    net = SignalNet()
    criterion = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Adam(net.trainable_params(), learning_rate=nn.ExponentialDecayLR(0.02, 0.9, 8, is_stair=True))

    def objective(signal, state):
        return criterion(net(signal), state)

    step = ms.value_and_grad(objective, None, optimizer.parameters)
    train_batches = train.create_tuple_iterator(num_epochs=epochs)
    valid_batches = valid.create_tuple_iterator(num_epochs=epochs)
    for epoch in range(epochs):
        loss = train_epoch(step, optimizer, net, train_batches)
        print(f"{epoch}: {loss:.4f} {accuracy(net, valid_batches):.3f}")


if __name__ == "__main__":
    main()
