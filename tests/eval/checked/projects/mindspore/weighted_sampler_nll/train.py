import numpy as np
import mindspore as ms
from mindspore import nn, ops

import data


class LogProb(nn.Cell):
    """Returns log-probabilities: pair it with NLL, not with cross entropy."""

    def __init__(self):
        super().__init__()
        self.fc = nn.SequentialCell([nn.Dense(4, 24), nn.Tanh(), nn.Dense(24, 3)])

    def construct(self, x):
        return ops.log_softmax(self.fc(x), axis=-1)


def recall_per_class(net, batches):
    net.set_train(False)
    hit, cnt = np.zeros(3), np.zeros(3)
    for x, y in batches:
        y = y.asnumpy()
        guess = net(x).asnumpy().argmax(-1)
        np.add.at(cnt, y, 1)
        np.add.at(hit, y, guess == y)
    return hit / cnt


def main(epochs=3, batch=32, lr=0.15):
    ms.set_seed(77)
    loader = data.train_loader(1, batch)
    net = LogProb()
    nll = nn.NLLLoss(reduction="mean")
    # halve the rate after the second epoch
    per_epoch = loader.get_dataset_size()
    rate = nn.piecewise_constant_lr([2 * per_epoch, epochs * per_epoch], [lr, lr / 2])
    sgd = nn.SGD(net.trainable_params(), learning_rate=rate, momentum=0.9, weight_decay=5e-4)

    def forward(x, y):
        return nll(net(x), y)

    grad_fn = ms.value_and_grad(forward, None, sgd.parameters)
    train_it = loader.create_tuple_iterator(num_epochs=epochs)
    valid_it = data.valid_loader(2, batch).create_tuple_iterator(num_epochs=epochs)
    for epoch in range(epochs):
        net.set_train(True)
        losses = []
        for x, y in train_it:
            loss, g = grad_fn(x, y)
            sgd(g)
            losses.append(float(loss.asnumpy()))
        recall = recall_per_class(net, valid_it)
        print(f"{epoch=} loss={np.mean(losses):.3f} recall={np.round(recall, 2)} balanced={recall.mean():.3f}")


if __name__ == "__main__":
    main()
