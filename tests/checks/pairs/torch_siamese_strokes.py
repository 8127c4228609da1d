"""siamese_strokes with layers as modules, pooling as a module, and the pair's distance in a function."""

import torch
import torch.nn.functional as F
from pairs import StrokePairs, stroke_library
from torch import nn, optim
from torch.utils.data import DataLoader


class Half(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, kernel_size=5, padding=2)
        self.pool = nn.MaxPool1d(2)

    def forward(self, x):
        return self.pool(F.relu(self.conv(x)))


class Coder(nn.Module):
    def __init__(self, size=16):
        super().__init__()
        self.first = Half(1, 8)
        self.second = Half(8, 16)
        self.last = nn.Linear(16 * 8, size)

    def forward(self, stroke):
        code = self.second(self.first(stroke.unsqueeze(1)))
        return F.normalize(self.last(torch.flatten(code, 1)), dim=-1)


class Twins(nn.Module):
    def __init__(self):
        super().__init__()
        self.coder = Coder()

    def forward(self, left, right):
        left, right = self.coder(left), self.coder(right)
        return F.pairwise_distance(left, right)


def loss_of(distance, same, margin=1.0):
    apart = (1 - same) * F.relu(margin - distance).pow(2)
    together = same * distance.pow(2)
    return (together + apart).mean()


def check(net, loader, margin=1.0):
    net.eval()
    total = right = count = 0
    with torch.no_grad():
        for left, right_stroke, same in loader:
            distance = net(left, right_stroke)
            total += loss_of(distance, same.float()).item() * len(same)
            right += ((distance < margin / 2) == same.bool()).sum().item()
            count += len(same)
    return total / count, right / count


def main():
    torch.manual_seed(12)
    generator = torch.Generator().manual_seed(11)
    library = stroke_library(6, 32, generator)
    train = DataLoader(StrokePairs(library, 600, generator, resample=True), shuffle=True, batch_size=40)
    valid = DataLoader(StrokePairs(library, 180, generator, resample=False), batch_size=60)
    twins = Twins()
    optimizer = optim.RMSprop(twins.parameters(), lr=0.001, alpha=0.99)
    for epoch in range(4):
        twins.train()
        for left, right, same in train:
            optimizer.zero_grad()
            loss_of(twins(left, right), same.float()).backward()
            optimizer.step()
        print(epoch, *check(twins, valid))


if __name__ == "__main__":
    main()
