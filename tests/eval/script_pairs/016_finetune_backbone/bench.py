"""Fine-tune a small pretrained backbone on a 5-class set: backbone frozen, new head trained."""
import os
import tempfile

import numpy as np
import torch
from torch import nn

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
    return (proto[y] + 0.8 * rng.standard_normal((n, 3, 16, 16))).astype(np.float32), y.astype(np.int64)


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 12, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(12, 24, 3, stride=2, padding=1)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        return torch.relu(self.conv2(x)).flatten(1)


class FineTuneNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.backbone = Backbone()
        self.head = nn.Linear(24 * 16, num_classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def load_pretrained(net):
    arrays = np.load(WEIGHTS)
    state = {k: torch.from_numpy(arrays[k]) for k in arrays.files}
    net.backbone.load_state_dict(state, strict=True)


def main():
    ensure_weights()
    torch.manual_seed(6)
    net = FineTuneNet(5)
    load_pretrained(net)
    for p in net.backbone.parameters():
        p.requires_grad = False
    optimizer = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.01, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    x, y = photos(160, 0)
    xv, yv = photos(60, 1)
    rng = np.random.RandomState(0)
    for epoch in range(4):
        net.train()
        for idx in np.array_split(rng.permutation(len(x)), 10):
            optimizer.zero_grad()
            loss = criterion(net(torch.from_numpy(x[idx])), torch.from_numpy(y[idx]))
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            acc = (net(torch.from_numpy(xv)).argmax(1).numpy() == yv).mean()
        print(f"epoch {epoch} loss {loss.item():.4f} val {acc:.4f}")


if __name__ == "__main__":
    main()
