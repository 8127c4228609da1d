"""Binary lesion segmentation, encoder/decoder with skip, MindSpore."""
import numpy as np
import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops

LR, POWER, EPOCHS, BATCH = 0.05, 0.9, 3, 6


def slices(n, seed):
    rng = np.random.RandomState(seed)
    yy, xx = np.mgrid[0:24, 0:24]
    img = 0.4 * rng.standard_normal((n, 1, 24, 24))
    mask = np.zeros((n, 1, 24, 24), dtype=np.float32)
    for i in range(n):
        cy, cx, r = rng.uniform(6, 18), rng.uniform(6, 18), rng.uniform(2.5, 5)
        mask[i, 0] = ((yy - cy) ** 2 + (xx - cx) ** 2) < r * r
    return (img + mask).astype(np.float32), mask


def conv3(cin, cout, stride=1, dilation=1):
    return nn.Conv2d(cin, cout, 3, stride=stride, pad_mode="pad", padding=dilation, dilation=dilation, has_bias=True)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.relu = nn.ReLU()
        self.enc = conv3(1, 8)
        self.down = conv3(8, 16, stride=2)
        self.bottom = conv3(16, 16, dilation=2)
        self.dec = conv3(24, 8)
        self.out = nn.Conv2d(8, 1, 1, has_bias=True)
        self.gn1 = nn.GroupNorm(num_groups=2, num_channels=8, eps=1e-5)
        self.gn2 = nn.GroupNorm(num_groups=4, num_channels=16, eps=1e-5)

    def construct(self, x):
        skip = self.relu(self.gn1(self.enc(x)))
        low = self.relu(self.gn2(self.down(skip)))
        low = self.relu(self.bottom(low))
        h, w = skip.shape[-2:]
        up = ops.interpolate(low, size=(h, w), mode="bilinear", align_corners=False)
        merged = ops.cat((up, skip), axis=1)
        return self.out(self.relu(self.dec(merged)))


def seg_loss(logits, target):
    bce = ops.binary_cross_entropy_with_logits(
        logits, target, weight=ops.ones_like(logits), pos_weight=ops.full_like(logits, 3.0), reduction="mean"
    )
    n = logits.shape[0]
    prob = ops.sigmoid(logits).reshape(n, -1)
    flat = target.reshape(n, -1)
    dice = (2 * (prob * flat).sum(axis=1) + 1) / (prob.sum(axis=1) + flat.sum(axis=1) + 1)
    return bce + 0.5 * (1 - dice.mean())


def poly_lr(base, power, steps):
    return [base * (1 - k / steps) ** power for k in range(steps)]


def dice_metric(net, x, m):
    net.set_train(False)
    p = net(ms.Tensor(x)).asnumpy() > 0
    scores = [2 * (a * b).sum() / (a.sum() + b.sum()) for a, b in zip(p, m)]
    return float(np.mean(scores))


def main():
    x, m = slices(48, 0)
    xv, mv = slices(16, 1)
    steps_per_epoch = len(x) // BATCH
    ms.set_seed(0)
    net = Net()
    optimizer = nn.SGD(
        net.trainable_params(), learning_rate=poly_lr(LR, POWER, EPOCHS * steps_per_epoch), momentum=0.9
    )
    grad_fn = ms.value_and_grad(lambda a, b: seg_loss(net(a), b), None, optimizer.parameters)
    rng = np.random.RandomState(2)
    for epoch in range(EPOCHS):
        net.set_train()
        perm = rng.permutation(len(x)).reshape(steps_per_epoch, BATCH)
        for rows in perm:
            loss, grads = grad_fn(ms.Tensor(x[rows]), ms.Tensor(m[rows]))
            optimizer(grads)
        print(f"epoch {epoch} loss {float(loss):.4f} dice {dice_metric(net, xv, mv):.4f}")


if __name__ == "__main__":
    main()
