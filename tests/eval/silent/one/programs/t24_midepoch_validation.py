"""Image classifier with validation every few iterations and best-weights tracking."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def conv_bn(cin, cout, stride):
    return nn.Sequential(nn.Conv2d(cin, cout, 3, stride, 1, bias=False),
                         nn.BatchNorm2d(cout), nn.ReLU(inplace=True))


class SmallNet(nn.Module):
    def __init__(self, num_classes):
        super().__init__()
        self.features = nn.Sequential(conv_bn(1, 8, 1), conv_bn(8, 16, 2))
        self.drop = nn.Dropout(0.25)
        self.fc = nn.Linear(16, num_classes)

    def forward(self, x):
        x = self.features(x).mean((2, 3))
        return self.fc(self.drop(x))


def bars(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 1, 10, 10, generator=g) * 0.4 + 2.0
    y = torch.randint(0, 3, (n,), generator=g)
    x[y == 0, :, ::2, :] += 1.5
    x[y == 1, :, :, ::2] += 1.5
    x[y == 2, :, ::2, ::2] += 1.5
    return TensorDataset(x, y)


class Meter:
    def __init__(self):
        self.sum, self.n = 0.0, 0

    def update(self, v, n=1):
        self.sum += v * n
        self.n += n

    @property
    def avg(self):
        return self.sum / max(1, self.n)


def validate(model, loader):
    model.eval()
    loss, acc = Meter(), Meter()
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss.update(F.cross_entropy(out, y).item(), len(y))
            acc.update((out.argmax(1) == y).float().mean().item(), len(y))
    return loss.avg, acc.avg


def train(model, train_loader, val_loader, epochs, val_interval):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    iteration = 0
    for epoch in range(epochs):
        model.train()
        meter = Meter()
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            meter.update(loss.item(), len(y))
            iteration += 1
            if iteration % val_interval == 0:
                vl, va = validate(model, val_loader)
                print(f"iter {iteration} val loss {vl:.4f} acc {va:.3f}")
        print(f"epoch {epoch} train loss {meter.avg:.4f}")


def main():
    torch.manual_seed(10)
    train_loader = DataLoader(bars(320, 1), batch_size=32, shuffle=True)
    val_loader = DataLoader(bars(96, 2), batch_size=48)
    train(SmallNet(3), train_loader, val_loader, epochs=3, val_interval=4)


main()
