"""Two interleaved half moons, static graph, own TrainOneStep cell."""

import numpy as np
import mindspore as ms
from mindspore import Tensor, nn
from mindspore.dataset import NumpySlicesDataset

from step_cell import ClippedTrainStep, NetWithLoss

CFG = dict(seed=5, n_train=256, n_valid=64, batch=32, epochs=4, lr=0.03, max_norm=2.0)


def moons(n, rng):
    t = rng.uniform(0, np.pi, n)
    lower = rng.integers(0, 2, n)
    x = np.where(lower == 0, np.cos(t), 1 - np.cos(t))
    y = np.where(lower == 0, np.sin(t), 0.5 - np.sin(t))
    pts = np.stack([x - 0.5, y - 0.25], 1) + 0.1 * rng.normal(size=(n, 2))
    return pts.astype(np.float32), lower.astype(np.int32)


class Classifier(nn.Cell):
    def __init__(self):
        super().__init__()
        self.body = nn.SequentialCell(nn.Dense(2, 32), nn.ReLU(), nn.Dense(32, 16), nn.ReLU())
        self.out = nn.Dense(16, 2)

    def construct(self, pts):
        return self.out(self.body(pts))


def evaluate(net, pts, labels):
    # everything fits into one batch
    net.set_train(False)
    pred = net(Tensor(pts)).asnumpy().argmax(axis=-1)
    return float((pred == labels).mean())


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(CFG["seed"])
    rng = np.random.default_rng(CFG["seed"])
    train_x, train_y = moons(CFG["n_train"], rng)
    valid_x, valid_y = moons(CFG["n_valid"], rng)

    # static shapes keep it at one compilation, hence the divisible batch
    pipe = NumpySlicesDataset((train_x, train_y), ["pts", "label"], shuffle=False)
    pipe = pipe.shuffle(buffer_size=CFG["n_train"]).batch(CFG["batch"], drop_remainder=True)

    net = Classifier()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    opt = nn.Adam(net.trainable_params(), learning_rate=CFG["lr"])
    step = ClippedTrainStep(NetWithLoss(net, loss), opt, CFG["max_norm"])

    it = pipe.create_tuple_iterator(num_epochs=CFG["epochs"])
    for epoch in range(CFG["epochs"]):
        step.set_train(True)
        total = 0.0
        for pts, label in it:
            total += step(pts, label).asnumpy().item()
        acc = evaluate(net, valid_x, valid_y)
        print("epoch", epoch, "loss %.4f" % (total / pipe.get_dataset_size()), "valid acc %.3f" % acc)
