"""Two-stage fine-tuning: head first, then everything with a lower rate."""
import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.utils.data import DataLoader, TensorDataset

STEPS_PER_EPOCH = 12
EPOCHS = 6
UNFREEZE_AT = 2


class Backbone(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(10, width), nn.Linear(width, width)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.norm(x)


class FineTuner:
    def __init__(self):
        self.backbone = Backbone()
        self.head = nn.Linear(32, 3)
        for p in self.backbone.parameters():
            p.requires_grad_(False)
        self.optimizer = torch.optim.AdamW(self.head.parameters(), lr=5e-3)
        self.scheduler = CosineAnnealingLR(self.optimizer, T_max=EPOCHS * STEPS_PER_EPOCH)

    def unfreeze(self):
        for p in self.backbone.parameters():
            p.requires_grad_(True)
        rate = self.optimizer.param_groups[0]["lr"]
        self.optimizer = torch.optim.AdamW([
            {"params": self.head.parameters(), "lr": rate},
            {"params": self.backbone.parameters(), "lr": rate * 0.3},
        ])

    def step(self, x, y):
        loss = nn.functional.cross_entropy(self.head(self.backbone(x)), y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()


def make_data():
    g = torch.Generator().manual_seed(21)
    x = torch.randn(384, 10, generator=g)
    w = torch.randn(10, 3, generator=g)
    return TensorDataset(x, (x.abs() @ w).argmax(1))


def main():
    torch.manual_seed(3)
    loader = DataLoader(make_data(), batch_size=32, shuffle=True)
    assert len(loader) == STEPS_PER_EPOCH
    tuner = FineTuner()
    for epoch in range(EPOCHS):
        if epoch == UNFREEZE_AT:
            tuner.unfreeze()
        losses = [tuner.step(x, y) for x, y in loader]
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    main()
