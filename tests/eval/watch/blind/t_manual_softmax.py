"""Cosine classifier whose inverse temperature is raised while training."""

import torch
import torch.nn.functional as F
from metric_losses import accuracy, softmax_loss
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Embedder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.fc1 = nn.Linear(20, 48)
        self.fc2 = nn.Linear(48, width)

    def forward(self, x):
        return F.normalize(F.relu(self.fc2(F.relu(self.fc1(x)))), dim=1)


class CosineHead(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.proto = nn.Parameter(torch.rand(classes, width))
        self.scale = 8.0

    def forward(self, z):
        return self.scale * (z @ F.normalize(self.proto.abs(), dim=1).t())


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = Embedder(6)
        self.head = CosineHead(6, 5)

    def forward(self, x):
        return self.head(self.embed(x))


def main():
    torch.manual_seed(1)
    x = torch.randn(72, 20)
    y = torch.randint(0, 5, (72,))
    loader = DataLoader(TensorDataset(x, y), batch_size=9)
    model = Net()
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    for it, (xb, yb) in enumerate(loader):
        model.head.scale = 8.0 * 2**it
        logits = model(xb)
        loss = softmax_loss(logits, yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(it, model.head.scale, loss.item(), accuracy(logits, yb))


if __name__ == "__main__":
    main()
