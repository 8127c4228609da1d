import contextlib

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.amp import GradScaler
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


class Block(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride=2, padding=1)
        self.norm = nn.GroupNorm(4, cout)

    def forward(self, x):
        return F.relu(self.norm(self.conv(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(3, 8), Block(8, 16))
        self.head = nn.Linear(16, 3)

    def forward(self, x):
        return self.head(self.blocks(x).flatten(2).mean(-1))


def blobs(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 3, (n,), generator=g)
    x = 0.5 * torch.randn(n, 3, 12, 12, generator=g)
    x[torch.arange(n), y, 3:9, 3:9] += 1.0
    return TensorDataset(x, y)


class AmpRunner:
    def __init__(self, model, use_amp=True, clip=1.0):
        self.model = model.to(DEVICE)
        self.opt = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.8)
        self.scaler = GradScaler(DEVICE, init_scale=2.0 ** 24, enabled=use_amp)
        self.clip = clip
        self.use_amp = use_amp

    def autocast(self):
        if not self.use_amp:
            return contextlib.nullcontext()
        return torch.autocast(DEVICE, dtype=torch.float16)

    def train_step(self, x, y):
        self.opt.zero_grad(set_to_none=True)
        with self.autocast():
            loss = F.cross_entropy(self.model(x), y)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.opt)
        grad_norm = nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.scaler.step(self.opt)
        self.scaler.update()
        return loss.item(), grad_norm.item()


if __name__ == "__main__":
    torch.manual_seed(0)
    runner = AmpRunner(Net())
    loader = DataLoader(blobs(384, 3), batch_size=32, shuffle=True)
    for epoch in range(5):
        history = [runner.train_step(x.to(DEVICE), y.to(DEVICE))[0] for x, y in loader]
        print(f"epoch {epoch} loss {sum(history) / len(history):.4f}")
