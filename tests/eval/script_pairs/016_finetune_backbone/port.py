"""Fine-tune a small pretrained backbone on a 5-class set, MindSpore."""
import os
import tempfile

import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops

WEIGHTS = os.path.join(tempfile.gettempdir(), "tiny_backbone.npz")


def ensure_weights():
    """stands for the download of the released backbone"""
    if os.path.exists(WEIGHTS):
        return
    rng = np.random.RandomState(2024)
    shapes = {"conv1.weight": (12, 3, 3, 3), "conv1.bias": (12,), "conv2.weight": (24, 12, 3, 3), "conv2.bias": (24,)}
    np.savez(WEIGHTS, **{k: (0.2 * rng.standard_normal(s)).astype(np.float32) for k, s in shapes.items()})


def photos(n, seed):
    rng = np.random.RandomState(seed)
    proto = np.random.RandomState(8).standard_normal((5, 3, 16, 16))
    y = rng.randint(0, 5, n)
    return (proto[y] + 0.8 * rng.standard_normal((n, 3, 16, 16))).astype(np.float32), y.astype(np.int32)


class Backbone(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 12, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.conv2 = nn.Conv2d(12, 24, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)

    def construct(self, x):
        x = ops.relu(self.conv1(x))
        return ops.relu(self.conv2(x)).flatten(start_dim=1)


class FineTuneNet(nn.Cell):
    def __init__(self, num_classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Dense(24 * 16, num_classes)

    def construct(self, x):
        return self.head(self.backbone(x))


def load_pretrained(net):
    arrays = np.load(WEIGHTS)
    params = {k: ms.Parameter(Tensor(arrays[k]), name=k) for k in arrays.files}
    ms.load_param_into_net(net, params)


def main():
    ensure_weights()
    ms.set_seed(6)
    net = FineTuneNet(5)
    load_pretrained(net)
    optimizer = nn.Momentum(net.trainable_params(), learning_rate=0.01, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    grad_fn = ms.value_and_grad(lambda a, b: criterion(net(a), b), None, optimizer.parameters)
    x, y = photos(160, 0)
    xv, yv = photos(60, 1)
    rng = np.random.RandomState(0)
    for epoch in range(4):
        net.set_train(True)
        for idx in np.array_split(rng.permutation(len(x)), 10):
            loss, grads = grad_fn(Tensor(x[idx]), Tensor(y[idx]))
            optimizer(grads)
        net.set_train(False)
        acc = (net(Tensor(xv)).argmax(1).asnumpy() == yv).mean()
        print(f"epoch {epoch} loss {float(loss):.4f} val {acc:.4f}")


if __name__ == "__main__":
    main()
