import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

NUM_CLASSES = 4
VOID = 255


def synth_scene(rng, size=32):
    img = rng.rand(3, size, size).astype(np.float32)
    mask = np.zeros((size, size), dtype=np.int64)
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
    return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class MiniUNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc1 = block(3, 8)
        self.enc2 = block(8, 16)
        self.mid = block(16, 16)
        self.dec2 = block(32, 8)
        self.dec1 = block(16, 8)
        self.pool = nn.MaxPool2d(2)
        self.head = nn.Conv2d(8, NUM_CLASSES, 1)

    def forward(self, x):
        e1 = self.enc1(x)
        e2 = self.enc2(self.pool(e1))
        m = self.mid(self.pool(e2))
        d2 = self.dec2(torch.cat([F.interpolate(m, scale_factor=2, mode="nearest"), e2], dim=1))
        d1 = self.dec1(torch.cat([F.interpolate(d2, scale_factor=2, mode="nearest"), e1], dim=1))
        return self.head(d1)


def dice_loss(logits, target):
    valid = (target != VOID).float().unsqueeze(1)
    prob = torch.softmax(logits, dim=1) * valid
    onehot = F.one_hot(target.clamp(max=NUM_CLASSES - 1), NUM_CLASSES).permute(0, 3, 1, 2).float() * valid
    inter = (prob * onehot).sum(dim=(0, 2, 3))
    union = prob.sum(dim=(0, 2, 3)) + onehot.sum(dim=(0, 2, 3))
    return 1.0 - ((2 * inter + 1.0) / (union + 1.0)).mean()


def total_loss(logits, target):
    ce = F.cross_entropy(logits, target, ignore_index=VOID)
    return ce + 0.5 * dice_loss(logits, target)


def mean_iou(net, images, masks):
    net.eval()
    with torch.no_grad():
        pred = net(torch.from_numpy(images)).argmax(dim=1).numpy()
    keep = masks != VOID
    ious = []
    for c in range(NUM_CLASSES):
        p, t = (pred == c) & keep, (masks == c) & keep
        ious.append((p & t).sum() / max((p | t).sum(), 1))
    return float(np.mean(ious))


if __name__ == "__main__":
    torch.manual_seed(42)
    images, masks = build(48, 0)
    val_images, val_masks = build(12, 1)
    net = MiniUNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
    order_rng = np.random.RandomState(3)
    for epoch in range(3):
        net.train()
        order = order_rng.permutation(len(images))
        for start in range(0, len(order), 8):
            idx = order[start:start + 8]
            x, t = torch.from_numpy(images[idx]), torch.from_numpy(masks[idx])
            optimizer.zero_grad()
            loss = total_loss(net(x), t)
            loss.backward()
            optimizer.step()
        print(f"[{epoch}] loss={loss.item():.4f} mIoU={mean_iou(net, val_images, val_masks):.4f}")
