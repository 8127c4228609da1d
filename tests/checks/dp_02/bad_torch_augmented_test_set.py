# run: dp.02
"""The test set is moved and mirrored at random like the training set."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, first, last, augment):
        draw = torch.Generator().manual_seed(3)
        self.x = torch.randn(80, 3, 8, 8, generator=draw)[first:last]
        self.y = torch.randint(0, 2, (80,), generator=draw)[first:last]
        self.augment = augment

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        picture = self.x[index]
        if self.augment:
            picture = torch.roll(picture, int(torch.randint(-2, 3, ())), 2)
            picture = picture.flip(2) if torch.rand(()) < 0.5 else picture
        return picture, self.y[index]


torch.manual_seed(0)
train = DataLoader(Pictures(0, 48, augment=True), batch_size=16, shuffle=True)
test = DataLoader(Pictures(48, 80, augment=True), batch_size=16)  # expect: dp.02
net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
loss_fn = nn.CrossEntropyLoss()
for _ in range(2):
    net.train()
    for inputs, labels in train:
        optimizer.zero_grad()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()
    net.eval()
    with torch.no_grad():
        hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(hits)
