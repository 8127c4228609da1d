"""Training of a one-stage detection head on frozen feature maps."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

cfg = {
    "num_classes": 3,
    "anchors": 2,
    "channels": 16,
    "grid": 8,
    "batch": 8,
    "iters": 30,
    "lr": 0.02,
    "momentum": 0.9,
    "smooth_l1_beta": 1.0 / 9,
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
    return feat, cls.astype(np.int64), box


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        c, a = cfg["channels"], cfg["anchors"]
        self.tower = nn.Sequential(
            nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(4, c), nn.ReLU(),
            nn.Conv2d(c, c, 3, padding=1), nn.GroupNorm(4, c), nn.ReLU(),
        )
        self.cls = nn.Conv2d(c, a * (cfg["num_classes"] + 1), 1)
        self.reg = nn.Conv2d(c, a * 4, 1)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.normal_(m.weight, std=0.05)
                nn.init.zeros_(m.bias)

    def forward(self, x):
        x = self.tower(x)
        return self.cls(x), self.reg(x)


def detection_loss(cls_out, reg_out, cls_t, box_t):
    b, a, g, _ = cls_t.shape
    k = cfg["num_classes"] + 1
    logits = cls_out.view(b, a, k, g, g).permute(0, 1, 3, 4, 2).reshape(-1, k)
    target = cls_t.reshape(-1)
    positive = (target > 0).float()
    num_pos = positive.sum().clamp(min=1.0)
    cls_loss = F.cross_entropy(logits, target, reduction="sum") / num_pos
    deltas = reg_out.view(b, a, 4, g, g).permute(0, 1, 3, 4, 2).reshape(-1, 4)
    wanted = box_t.view(b, a, 4, g, g).permute(0, 1, 3, 4, 2).reshape(-1, 4)
    per_box = F.smooth_l1_loss(deltas, wanted, beta=cfg["smooth_l1_beta"], reduction="none").sum(dim=1)
    box_loss = (per_box * positive).sum() / num_pos
    return cls_loss, box_loss


def main():
    torch.manual_seed(0)
    rng = np.random.RandomState(0)
    head = Head()
    opt = torch.optim.SGD(head.parameters(), lr=cfg["lr"], momentum=cfg["momentum"])
    warmup = 10
    for it in range(cfg["iters"]):
        for group in opt.param_groups:
            group["lr"] = cfg["lr"] * min(1.0, (it + 1) / warmup)
        feat, cls_t, box_t = (torch.from_numpy(v) for v in synth_batch(rng))
        cls_loss, box_loss = detection_loss(*head(feat), cls_t, box_t)
        loss = cls_loss + cfg["box_weight"] * box_loss
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 10 == 9:
            print(f"iter {it + 1} cls {cls_loss.item():.4f} box {box_loss.item():.4f}")


if __name__ == "__main__":
    main()
