"""Box centre regression; stem and first stage are fixed by the configuration."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

CONFIG = {
    "optimizer": {"type": "SGD", "lr": 0.05, "momentum": 0.9, "weight_decay": 1e-3},
    "frozen": ["backbone.stem", "backbone.stage1"],
    "epochs": 4,
    "batch_size": 32,
}


class Stage(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(2, cout)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(1, 6, 3, padding=1)
        self.stage1 = Stage(6, 8)
        self.stage2 = Stage(8, 12)

    def forward(self, x):
        return self.stage2(self.stage1(F.relu(self.stem(x))))


class Locator(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.box_head = nn.Linear(12 * 9, 2)

    def forward(self, x):
        return self.box_head(self.backbone(x).flatten(1)).sigmoid()


class Engine(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.module = model

    def forward(self, images, boxes):
        return F.smooth_l1_loss(self.module(images), boxes, beta=0.1)


def freeze(model, prefixes):
    for name, p in model.named_parameters():
        name = name.removeprefix("module.")
        if any(name.startswith(prefix) for prefix in prefixes):
            p.requires_grad = False


def build_optimizer(model, cfg):
    cfg = dict(cfg)
    kind = getattr(torch.optim, cfg.pop("type"))
    return kind(model.parameters(), **cfg)


def images(n):
    g = torch.Generator().manual_seed(14)
    at = torch.randint(1, 9, (n, 2), generator=g)
    x = 0.1 * torch.randn(n, 1, 12, 12, generator=g)
    for i, (r, c) in enumerate(at.tolist()):
        x[i, 0, r:r + 3, c:c + 3] += 1.0
    return TensorDataset(x, (at.float() + 1) / 11)


def main():
    torch.manual_seed(0)
    engine = Engine(Locator())
    freeze(engine, CONFIG["frozen"])
    optimizer = build_optimizer(engine, CONFIG["optimizer"])
    loader = DataLoader(images(320), batch_size=CONFIG["batch_size"], shuffle=True)
    for epoch in range(CONFIG["epochs"]):
        total = 0.0
        for x, box in loader:
            loss = engine(x, box)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
