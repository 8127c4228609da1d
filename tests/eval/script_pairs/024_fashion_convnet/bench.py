"""Fashion-like classifier, first version: everything spelled out."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def fashion(n, seed):
    rng = np.random.RandomState(seed)
    proto = np.random.RandomState(61).randint(0, 200, (10, 20, 20))
    y = rng.randint(0, 10, n)
    x = proto[y] + rng.randint(0, 56, (n, 20, 20))
    return x.astype(np.uint8), y.astype(np.int64)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, stride=2, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.bn2 = nn.BatchNorm2d(16)
        self.fc = nn.Linear(16, 10)

    def forward(self, x):
        x = F.leaky_relu(self.bn1(self.conv1(x)))
        x = F.leaky_relu(self.bn2(self.conv2(x)))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return F.log_softmax(self.fc(x), dim=1)


def preprocess(x):
    x = x.astype(np.float32) / 255.0
    return torch.from_numpy((x - 0.5) / 0.5).unsqueeze(1)


def train_one_epoch(net, x, y, optimizer, order, batch):
    net.train()
    total = 0.0
    for i in range(0, len(order), batch):
        j = order[i:i + batch]
        optimizer.zero_grad()
        loss = F.nll_loss(net(preprocess(x[j])), torch.from_numpy(y[j]))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        optimizer.step()
        total += loss.item()
    return total / (len(order) // batch)


def test(net, x, y):
    net.eval()
    with torch.no_grad():
        pred = net(preprocess(x)).max(1)[1]
    return (pred == torch.from_numpy(y)).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(123)
    x, y = fashion(320, 0)
    xt, yt = fashion(100, 1)
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    rng = np.random.RandomState(10)
    for epoch in range(4):
        loss = train_one_epoch(net, x, y, optimizer, rng.permutation(len(x)), 32)
        scheduler.step()
        print("Epoch", epoch, "loss", round(loss, 4), "acc", round(test(net, xt, yt), 4))
