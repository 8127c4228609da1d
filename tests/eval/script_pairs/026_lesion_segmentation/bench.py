"""Binary lesion segmentation, encoder/decoder with skip, PyTorch."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CFG = {"lr": 0.05, "power": 0.9, "epochs": 3, "batch": 6, "pos_weight": 3.0, "dice_weight": 0.5}


def slices(n, seed):
    rng = np.random.RandomState(seed)
    yy, xx = np.mgrid[0:24, 0:24]
    img = 0.4 * rng.standard_normal((n, 1, 24, 24))
    mask = np.zeros((n, 1, 24, 24), dtype=np.float32)
    for i in range(n):
        cy, cx, r = rng.uniform(6, 18), rng.uniform(6, 18), rng.uniform(2.5, 5)
        mask[i, 0] = ((yy - cy) ** 2 + (xx - cx) ** 2) < r * r
    return (img + mask).astype(np.float32), mask


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Conv2d(1, 8, 3, padding=1)
        self.down = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.bottom = nn.Conv2d(16, 16, 3, padding=2, dilation=2)
        self.dec = nn.Conv2d(24, 8, 3, padding=1)
        self.out = nn.Conv2d(8, 1, 1)
        self.gn1 = nn.GroupNorm(2, 8)
        self.gn2 = nn.GroupNorm(4, 16)

    def forward(self, x):
        a = F.relu(self.gn1(self.enc(x)))
        b = F.relu(self.gn2(self.down(a)))
        b = F.relu(self.bottom(b))
        up = F.interpolate(b, scale_factor=2, mode="bilinear", align_corners=False)
        return self.out(F.relu(self.dec(torch.cat([up, a], dim=1))))


class SegLoss(nn.Module):
    def __init__(self, pos_weight, dice_weight):
        super().__init__()
        self.bce = nn.BCEWithLogitsLoss(pos_weight=torch.tensor([pos_weight]))
        self.dice_weight = dice_weight

    def forward(self, logits, target):
        prob = torch.sigmoid(logits).flatten(1)
        flat = target.flatten(1)
        dice = (2 * (prob * flat).sum(1) + 1) / (prob.sum(1) + flat.sum(1) + 1)
        return self.bce(logits, target) + self.dice_weight * (1 - dice).mean()


def dice_metric(net, x, m):
    net.eval()
    with torch.no_grad():
        p = (torch.sigmoid(net(torch.from_numpy(x))) > 0.5).numpy()
    inter = (p * m).sum((1, 2, 3))
    return float((2 * inter / (p.sum((1, 2, 3)) + m.sum((1, 2, 3)))).mean())


def main():
    torch.manual_seed(0)
    x, m = slices(48, 0)
    xv, mv = slices(16, 1)
    net = Net()
    loss_fn = SegLoss(CFG["pos_weight"], CFG["dice_weight"])
    optimizer = torch.optim.SGD(net.parameters(), lr=CFG["lr"], momentum=0.9)
    total = CFG["epochs"] * (len(x) // CFG["batch"])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda it: (1 - it / total) ** CFG["power"])
    rng = np.random.RandomState(2)
    for epoch in range(CFG["epochs"]):
        net.train()
        perm = rng.permutation(len(x))
        for i in range(0, len(x), CFG["batch"]):
            j = perm[i:i + CFG["batch"]]
            loss = loss_fn(net(torch.from_numpy(x[j])), torch.from_numpy(m[j]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
        print(f"epoch {epoch} loss {loss.item():.4f} dice {dice_metric(net, xv, mv):.4f}")


if __name__ == "__main__":
    main()
