"""Training of a one-stage detection head on frozen feature maps, MindSpore."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal

cfg = {
    "num_classes": 3,
    "anchors": 2,
    "channels": 16,
    "grid": 8,
    "batch": 8,
    "iters": 30,
    "lr": 0.02,
    "momentum": 0.9,
    "box_weight": 1.0,
}


def synth_batch(rng):
    """features, class target per anchor (0 background), box deltas for positives"""
    b, a, g = cfg["batch"], cfg["anchors"], cfg["grid"]
    cls = np.where(rng.uniform(size=(b, a, g, g)) < 0.08, rng.randint(1, cfg["num_classes"] + 1, (b, a, g, g)), 0)
    box = 0.3 * rng.standard_normal((b, a * 4, g, g)).astype(np.float32)
    feat = rng.standard_normal((b, cfg["channels"], g, g)).astype(np.float32)
    for k in range(a):
        feat[:, k] += cls[:, k]
        feat[:, 4 + 4 * k:8 + 4 * k] += 2 * box[:, 4 * k:4 * k + 4]
    return feat, cls.astype(np.int32), box


def conv(cin, cout, k):
    return nn.Conv2d(cin, cout, k, pad_mode="same", has_bias=True, weight_init=Normal(0.05), bias_init="zeros")


class Head(nn.Cell):
    def __init__(self):
        super().__init__()
        c, a = cfg["channels"], cfg["anchors"]
        self.tower = nn.SequentialCell(
            conv(c, c, 3), nn.GroupNorm(4, c), nn.ReLU(),
            conv(c, c, 3), nn.GroupNorm(4, c), nn.ReLU(),
        )
        self.cls = conv(c, a * (cfg["num_classes"] + 1), 1)
        self.reg = conv(c, a * 4, 1)

    def construct(self, x):
        x = self.tower(x)
        return self.cls(x), self.reg(x)


smooth_l1 = nn.SmoothL1Loss()


def detection_loss(cls_out, reg_out, cls_t, box_t):
    b, a, g, _ = cls_t.shape
    k = cfg["num_classes"] + 1
    logits = cls_out.view(b, a, k, g, g).permute(0, 1, 3, 4, 2).reshape(-1, k)
    target = cls_t.reshape(-1)
    positive = (target > 0).astype(ms.float32)
    num_pos = ops.maximum(positive.sum(), Tensor(1.0, ms.float32))
    cls_loss = ops.cross_entropy(logits, target, reduction="mean")
    deltas = reg_out.view(b, a, 4, g, g).permute(0, 1, 3, 4, 2).reshape(-1, 4)
    wanted = box_t.view(b, a, 4, g, g).permute(0, 1, 3, 4, 2).reshape(-1, 4)
    per_box = smooth_l1(deltas, wanted).sum(axis=1)
    box_loss = (per_box * positive).sum() / num_pos
    return cls_loss, box_loss


def main():
    ms.set_seed(0)
    rng = np.random.RandomState(0)
    head = Head()
    warmup = 10
    lr = [cfg["lr"] * min(1.0, (it + 1) / warmup) for it in range(cfg["iters"])]
    opt = nn.Momentum(head.trainable_params(), learning_rate=lr, momentum=cfg["momentum"])

    def forward(feat, cls_t, box_t):
        cls_out, reg_out = head(feat)
        cls_loss, box_loss = detection_loss(cls_out, reg_out, cls_t, box_t)
        return cls_loss + cfg["box_weight"] * box_loss, cls_loss, box_loss

    grad_fn = ms.value_and_grad(forward, None, opt.parameters, has_aux=True)
    for it in range(cfg["iters"]):
        batch = [Tensor(v) for v in synth_batch(rng)]
        (_, cls_loss, box_loss), grads = grad_fn(*batch)
        opt(grads)
        if it % 10 == 9:
            print(f"iter {it + 1} cls {float(cls_loss):.4f} box {float(box_loss):.4f}")


if __name__ == "__main__":
    main()
