# Machine failures from sensor readings: about one failure in sixteen, so the positive
# term of the loss is weighted up. Score is the area under the ROC curve.
import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, nn, ops


def sensors(n, seed):
    r = np.random.RandomState(seed)
    fails = (np.arange(n) % 16 == 0).astype(np.float32)
    r.shuffle(fails)
    temp = 60 + 5 * r.randn(n) + 9 * fails
    rpm = 1500 + 120 * r.randn(n) - 150 * fails
    vib = np.abs(0.02 * r.randn(n)) + 0.03 * fails
    return np.stack([temp, rpm, vib], axis=1), fails[:, None]


def roc_auc(score, truth):
    order = np.argsort(score.ravel())
    rank = np.empty(len(order))
    rank[order] = np.arange(1, len(order) + 1)
    pos = truth.ravel() > 0.5
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return (rank[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg)


class Scaler(object):
    """The three columns differ by five orders of magnitude."""

    def fit(self, a):
        self.m, self.s = a.mean(axis=0), a.std(axis=0)
        return self

    def transform(self, a):
        return ((a - self.m) / self.s).astype(np.float32)


class Detector(nn.Cell):
    def __init__(self, n_in=3, n_hidden=16, keep=0.9):
        super(Detector, self).__init__()
        self.fc1 = nn.Dense(n_in, n_hidden, activation="relu")
        self.dropout = nn.Dropout(p=1 - keep)
        self.fc2 = nn.Dense(n_hidden, 1)

    def construct(self, x):
        return self.fc2(self.dropout(self.fc1(x)))


def train(cfg):
    raw, y = sensors(cfg["train"], 1)
    raw_v, y_v = sensors(cfg["valid"], 2)
    scaler = Scaler().fit(raw)
    x, x_v = scaler.transform(raw), Tensor(scaler.transform(raw_v))

    pipe = ds.NumpySlicesDataset({"x": x, "y": y}, shuffle=True).batch(cfg["batch"], drop_remainder=True)
    ratio = float((1 - y).sum() / y.sum())
    net = Detector()
    criterion = nn.BCEWithLogitsLoss(pos_weight=Tensor([ratio], ms.float32))
    opt = nn.Adam(net.trainable_params(), learning_rate=cfg["lr"])
    value_and_grad = ms.value_and_grad(lambda a, b: criterion(net(a), b), None, opt.parameters)

    epochs = pipe.create_tuple_iterator(num_epochs=cfg["epochs"])
    for epoch in range(cfg["epochs"]):
        net.set_train()
        losses = []
        for a, b in epochs:
            loss, grads = value_and_grad(a, b)
            opt(grads)
            losses.append(loss)
        net.set_train(False)
        # probabilities only for reading; ranking would be the same on the logits
        prob = ops.sigmoid(net(x_v)).asnumpy()
        mean = np.mean([v.asnumpy() for v in losses])
        print("epoch %d  loss %.4f  auc %.3f" % (epoch, mean, roc_auc(prob, y_v)))


if __name__ == "__main__":
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.set_seed(1)
    train(dict(train=320, valid=160, batch=64, epochs=3, lr=0.02))
