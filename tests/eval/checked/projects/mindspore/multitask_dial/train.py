"""Two tasks, one trunk, different learning rates for trunk and heads."""

import numpy as np
import mindspore as ms
import mindspore.dataset as ds
from mindspore import Tensor, nn

from model import DialNet, MultiTaskLoss

HPARAMS = {
    "seed": 13,
    "epochs": 3,
    "batch_size": 32,
    "lr": {"trunk": 8e-3, "heads": 1.5e-2},
    "angle_weight": 2.0,
}


def dials(n, seed):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    theta = rng.uniform(0, 2 * np.pi, n)
    grid = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    # a pointer on a ring of 24 sensors, its sharpness depends on the kind
    x = np.exp((kind[:, None] + 1) * 2 * (np.cos(grid - theta[:, None]) - 1)) + 0.05 * rng.normal(size=(n, 24))
    x = (x - 0.25) / 0.3
    angle = np.stack([np.cos(theta), np.sin(theta)], 1)
    return x.astype(np.float32), kind.astype(np.int32), angle.astype(np.float32)


def build_optimizer(net, lr):
    heads = net.kind_head.trainable_params() + net.angle_head.trainable_params()
    groups = [{"params": net.trunk.trainable_params(), "lr": lr["trunk"]}, {"params": heads, "lr": lr["heads"]}]
    return nn.Adam(groups, learning_rate=lr["trunk"])


def validate(net, x, kind, angle):
    net.set_train(False)
    logits, pred = net(Tensor(x))
    acc = float((logits.asnumpy().argmax(1) == kind).mean())
    p = pred.asnumpy()
    delta = np.arctan2(p[:, 1], p[:, 0]) - np.arctan2(angle[:, 1], angle[:, 0])
    off = np.abs((delta + np.pi) % (2 * np.pi) - np.pi)
    return acc, float(np.degrees(off).mean())


def main(hp):
    ms.set_seed(hp["seed"])
    pipe = ds.NumpySlicesDataset(dials(192, 1), ["x", "kind", "angle"], shuffle=True).batch(hp["batch_size"])
    net = DialNet(24, 3)
    objective = MultiTaskLoss(net, hp["angle_weight"])
    opt = build_optimizer(net, hp["lr"])
    grad_fn = ms.value_and_grad(objective, None, opt.parameters, has_aux=True)
    held_out = dials(96, 2)

    stream = pipe.create_tuple_iterator(num_epochs=hp["epochs"])
    for epoch in range(hp["epochs"]):
        objective.set_train(True)
        parts = []
        for batch in stream:
            values, grads = grad_fn(*batch)
            opt(grads)
            parts.append([float(v.asnumpy()) for v in values])
        total, ce, reg = np.mean(parts, axis=0)
        acc, deg = validate(net, *held_out)
        print(f"ep {epoch} total {total:.3f} (ce {ce:.3f}, angle {reg:.3f}) | kind acc {acc:.2f}, off by {deg:.1f} deg")


if __name__ == "__main__":
    main(HPARAMS)
