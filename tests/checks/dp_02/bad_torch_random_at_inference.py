"""The transforms of the validation set were copied with their flip, and with other numbers."""

import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

TRAIN = transforms.Compose(
    [transforms.RandomHorizontalFlip(), transforms.ToTensor(), transforms.Normalize((0.5,), (0.25,))]
)
VALID = transforms.Compose(
    [
        transforms.RandomHorizontalFlip(),  # expect: dp.02
        transforms.ToTensor(),
        transforms.Normalize((0.5,), (0.5,)),  # expect: dp.02
    ]
)


def loaders(root, batch):
    train = datasets.FakeData(64, (1, 16, 16), 4, transform=TRAIN, random_offset=root)
    valid = datasets.FakeData(32, (1, 16, 16), 4, transform=VALID, random_offset=root + 64)
    return DataLoader(train, batch, shuffle=True), DataLoader(valid, batch)


def main():
    torch.manual_seed(0)
    train, valid = loaders(0, 16)
    net = nn.Sequential(nn.Flatten(), nn.Linear(256, 4))
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    for _ in range(2):
        net.train()
        for pictures, labels in train:
            optimizer.zero_grad()
            nn.functional.cross_entropy(net(pictures), labels).backward()
            optimizer.step()
        net.eval()
        hits = count = 0
        with torch.no_grad():
            for pictures, labels in valid:
                hits += (net(pictures).argmax(1) == labels).sum().item()
                count += len(labels)
        print(hits / count)


if __name__ == "__main__":
    main()
