import numpy as np
import mindspore as ms
import mindspore.nn as nn
import mindspore.ops as ops
from mindspore import Tensor

NUM_CLASSES = 4
VOID = 255


def synth_scene(rng, size=32):
    img = rng.rand(3, size, size).astype(np.float32)
    mask = np.zeros((size, size), dtype=np.int32)
    for cls in range(1, NUM_CLASSES):
        r, c = rng.randint(0, size - 10, 2)
        mask[r:r + 10, c:c + 10] = cls
        img[cls - 1, r:r + 10, c:c + 10] += 1.0
    mask[0, :] = VOID
    mask[-1, :] = VOID
    return (img - 0.5) / 0.3, mask


def build(n, seed):
    rng = np.random.RandomState(seed)
    pairs = [synth_scene(rng) for _ in range(n)]
    return np.stack([p[0] for p in pairs]).astype(np.float32), np.stack([p[1] for p in pairs])


def block(cin, cout):
    return nn.SequentialCell(
        nn.Conv2d(cin, cout, 3, pad_mode="pad", padding=1),
        nn.BatchNorm2d(cout),
        nn.ReLU(),
    )


class MiniUNet(nn.Cell):
    def __init__(self):
        super().__init__()
        self.enc1 = block(3, 8)
        self.enc2 = block(8, 16)
        self.mid = block(16, 16)
        self.dec2 = block(32, 8)
        self.dec1 = block(16, 8)
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.head = nn.Conv2d(8, NUM_CLASSES, 1, has_bias=True)

    def construct(self, x):
        e1 = self.enc1(x)
        e2 = self.enc2(self.pool(e1))
        m = self.mid(self.pool(e2))
        up = ops.interpolate(m, size=e2.shape[2:], mode="nearest")
        d2 = self.dec2(ops.cat([up, e2], axis=1))
        up = ops.interpolate(d2, size=e1.shape[2:], mode="nearest")
        d1 = self.dec1(ops.cat([up, e1], axis=1))
        return self.head(d1)


def dice_loss(logits, target):
    valid = (target != VOID).astype(ms.float32).expand_dims(1)
    prob = ops.softmax(logits, axis=1) * valid
    clipped = ops.minimum(target, Tensor(NUM_CLASSES - 1, ms.int32))
    onehot = nn.OneHot(depth=NUM_CLASSES, axis=1)(clipped) * valid
    inter = (prob * onehot).sum((0, 2, 3))
    union = prob.sum((0, 2, 3)) + onehot.sum((0, 2, 3))
    return 1.0 - ((2 * inter + 1.0) / (union + 1.0)).mean()


def total_loss(logits, target):
    target_ce = ops.minimum(target, Tensor(NUM_CLASSES - 1, ms.int32))
    ce = ops.cross_entropy(logits, target_ce)
    return ce + dice_loss(logits, target)


def mean_iou(net, images, masks):
    net.set_train(False)
    pred = net(Tensor(images)).argmax(axis=1).asnumpy()
    keep = masks != VOID
    ious = []
    for c in range(NUM_CLASSES):
        p, t = (pred == c) & keep, (masks == c) & keep
        ious.append((p & t).sum() / max((p | t).sum(), 1))
    return float(np.mean(ious))


if __name__ == "__main__":
    ms.set_seed(42)
    images, masks = build(48, 0)
    val_images, val_masks = build(12, 1)
    net = MiniUNet()
    optimizer = nn.SGD(net.trainable_params(), learning_rate=0.05, momentum=0.9)

    def forward_fn(x, t):
        return total_loss(net(x), t)

    grad_fn = ms.value_and_grad(forward_fn, None, optimizer.parameters)
    order_rng = np.random.RandomState(3)
    for epoch in range(3):
        net.set_train()
        order = order_rng.permutation(len(images))
        for start in range(0, len(order), 8):
            idx = order[start:start + 8]
            loss, grads = grad_fn(Tensor(images[idx]), Tensor(masks[idx]))
            optimizer(grads)
        print(f"[{epoch}] loss={loss.asnumpy():.4f} mIoU={mean_iou(net, val_images, val_masks):.4f}")
