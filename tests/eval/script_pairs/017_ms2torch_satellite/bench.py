"""Land-use classification of satellite tiles. MindSpore."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import HeNormal

cfg = {"classes": 7, "batch": 16, "epochs": 3, "lr": 0.02, "momentum": 0.9, "weight_decay": 5e-3}


def tiles(n, seed):
    rng = np.random.RandomState(seed)
    proto = np.random.RandomState(3).uniform(0, 255, (cfg["classes"], 4, 16, 16))
    y = rng.randint(0, cfg["classes"], n)
    x = np.clip(proto[y] + 40 * rng.standard_normal((n, 4, 16, 16)), 0, 255)
    return ((x / 255.0 - 0.5) / 0.29).astype(np.float32), y.astype(np.int32)


class ConvBNReLU(nn.Cell):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride, pad_mode="pad", padding=1,
                              weight_init=HeNormal(mode="fan_out", nonlinearity="relu"))
        self.bn = nn.BatchNorm2d(cout, momentum=0.9)

    def construct(self, x):
        return ops.relu(self.bn(self.conv(x)))


class LandNet(nn.Cell):
    def __init__(self, classes):
        super().__init__()
        self.stage1 = ConvBNReLU(4, 16, 1)
        self.stage2 = ConvBNReLU(16, 32, 2)
        self.stage3 = ConvBNReLU(32, 32, 2)
        self.fc = nn.Dense(32, classes)

    def construct(self, x):
        x = self.stage3(self.stage2(self.stage1(x)))
        return self.fc(ops.mean(x, (2, 3)))


def evaluate(net, x, y):
    net.set_train(False)
    correct = 0
    for i in range(0, len(x), cfg["batch"]):
        correct += (net(Tensor(x[i:i + cfg["batch"]])).asnumpy().argmax(1) == y[i:i + cfg["batch"]]).sum()
    return correct / len(x)


def main():
    ms.set_seed(1)
    x, y = tiles(210, 0)
    xv, yv = tiles(70, 1)
    net = LandNet(cfg["classes"])
    opt = nn.Momentum(net.trainable_params(), cfg["lr"], cfg["momentum"], weight_decay=cfg["weight_decay"])
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    grad_fn = ms.value_and_grad(lambda a, b: loss_fn(net(a), b), None, opt.parameters)
    rng = np.random.RandomState(17)
    for epoch in range(cfg["epochs"]):
        net.set_train()
        perm = rng.permutation(len(x))
        for i in range(0, len(x), cfg["batch"]):
            j = perm[i:i + cfg["batch"]]
            loss, grads = grad_fn(Tensor(x[j]), Tensor(y[j]))
            opt(grads)
        print(f"epoch {epoch} loss {float(loss):.4f} acc {evaluate(net, xv, yv):.4f}")


if __name__ == "__main__":
    main()
