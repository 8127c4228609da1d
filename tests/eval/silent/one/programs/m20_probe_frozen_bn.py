"""Linear probe on a fixed backbone, with a slow copy of the head for evaluation."""
import copy

import numpy as np
import mindspore as ms
from mindspore import nn, ops, Tensor

ms.set_context(mode=ms.PYNATIVE_MODE)


class Backbone(nn.Cell):
    def __init__(self, n_in=8, width=24):
        super().__init__()
        self.fc = nn.Dense(n_in, width)
        self.bn = nn.BatchNorm1d(width)
        self.drop = nn.Dropout(p=0.2)

    def construct(self, x):
        return self.drop(ops.relu(self.bn(self.fc(x))))


class Probe(nn.Cell):
    def __init__(self, backbone, classes=3):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Dense(24, classes)

    def construct(self, x):
        return self.head(self.backbone(x))


def ready(net):
    net.set_train(True)
    net.backbone.set_train(False)
    return net


def follow(slow, fast, decay):
    for s, f in zip(slow.get_parameters(), fast.get_parameters()):
        s.set_data(s * decay + f * (1 - decay))


def main():
    ms.set_seed(3)
    rng = np.random.default_rng(3)
    x = rng.normal(size=(320, 8)).astype(np.float32)
    y = np.argmax(x[:, :3] + 0.5 * x[:, 3:6], axis=1).astype(np.int32)
    backbone = Backbone()
    for p in backbone.get_parameters():
        p.requires_grad = False
    net = Probe(backbone)
    slow = copy.deepcopy(net.head)
    loss_fn = nn.CrossEntropyLoss()
    opt = nn.Adam(net.trainable_params(), learning_rate=1e-2)
    grad_fn = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, opt.parameters)
    for epoch in range(5):
        ready(net)
        losses = []
        for idx in np.array_split(rng.permutation(320), 10):
            loss, grads = grad_fn(Tensor(x[idx]), Tensor(y[idx]))
            opt(grads)
            follow(slow, net.head, 0.9)
            losses.append(float(loss.asnumpy()))
        net.set_train(False)
        own = (net(Tensor(x)).argmax(1).asnumpy() == y).mean()
        avg = (slow(net.backbone(Tensor(x))).argmax(1).asnumpy() == y).mean()
        print(f"epoch {epoch} loss {np.mean(losses):.4f} train acc {own:.3f} averaged {avg:.3f}")


main()
