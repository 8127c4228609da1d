"""Land-use classification of satellite tiles. PyTorch."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

cfg = {"classes": 7, "batch": 16, "epochs": 3, "lr": 0.02, "momentum": 0.9, "weight_decay": 5e-3}


def tiles(n, seed):
    rng = np.random.RandomState(seed)
    proto = np.random.RandomState(3).uniform(0, 255, (cfg["classes"], 4, 16, 16))
    y = rng.randint(0, cfg["classes"], n)
    x = np.clip(proto[y] + 40 * rng.standard_normal((n, 4, 16, 16)), 0, 255)
    return ((x / 255.0 - 0.5) / 0.29).astype(np.float32), y.astype(np.int64)


class ConvBNReLU(nn.Module):
    def __init__(self, cin, cout, stride):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, stride, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(cout, momentum=0.9)
        nn.init.kaiming_normal_(self.conv.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)))


class LandNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.stage1 = ConvBNReLU(4, 16, 1)
        self.stage2 = ConvBNReLU(16, 32, 2)
        self.stage3 = ConvBNReLU(32, 32, 2)
        self.fc = nn.Linear(32, classes)

    def forward(self, x):
        x = self.stage3(self.stage2(self.stage1(x)))
        return self.fc(x.mean(dim=(2, 3)))


@torch.no_grad()
def evaluate(net, x, y):
    net.eval()
    correct = 0
    for i in range(0, len(x), cfg["batch"]):
        correct += (net(torch.from_numpy(x[i:i + cfg["batch"]])).numpy().argmax(1) == y[i:i + cfg["batch"]]).sum()
    return correct / len(x)


def main():
    torch.manual_seed(1)
    x, y = tiles(210, 0)
    xv, yv = tiles(70, 1)
    net = LandNet(cfg["classes"])
    opt = torch.optim.SGD(net.parameters(), cfg["lr"], cfg["momentum"], weight_decay=cfg["weight_decay"])
    rng = np.random.RandomState(17)
    for epoch in range(cfg["epochs"]):
        net.train()
        perm = rng.permutation(len(x))
        for i in range(0, len(x), cfg["batch"]):
            j = perm[i:i + cfg["batch"]]
            loss = F.cross_entropy(net(torch.from_numpy(x[j])), torch.from_numpy(y[j]))
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"epoch {epoch} loss {loss.item():.4f} acc {evaluate(net, xv, yv):.4f}")


if __name__ == "__main__":
    main()
