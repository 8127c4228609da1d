import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

EPOCHS = 3
BATCH = 25
LR = 0.05
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


class ToyCifar(Dataset):
    def __init__(self, n, seed, train):
        rng = np.random.RandomState(seed)
        proto = np.random.RandomState(1).randint(0, 180, (10, 16, 16, 3))
        self.y = rng.randint(0, 10, n)
        self.x = (proto[self.y] + rng.randint(0, 75, (n, 16, 16, 3))).astype(np.uint8)
        self.train = train

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = torch.from_numpy(self.x[i]).permute(2, 0, 1).float().div(255)
        if self.train and np.random.rand() < 0.5:
            x = torch.flip(x, dims=[2])
        mean = torch.tensor(MEAN).view(3, 1, 1)
        std = torch.tensor(STD).view(3, 1, 1)
        return (x - mean) / std, self.y[i]


def vgg(plan=(16, "M", 32, "M")):
    layers, cin = [], 3
    for p in plan:
        if p == "M":
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(cin, p, 3, padding=1, bias=False), nn.BatchNorm2d(p), nn.ReLU(inplace=True)]
            cin = p
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.25), nn.Linear(cin, 10)]
    net = nn.Sequential(*layers)
    for m in net.modules():
        if isinstance(m, nn.Conv2d):
            nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
        elif isinstance(m, nn.Linear):
            nn.init.normal_(m.weight, 0, 0.01)
            nn.init.zeros_(m.bias)
    return net


def main():
    torch.manual_seed(0)
    np.random.seed(0)
    train = DataLoader(ToyCifar(250, 2, True), batch_size=BATCH, shuffle=True)
    test = DataLoader(ToyCifar(100, 3, False), batch_size=BATCH)
    net = vgg()
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = torch.optim.SGD(net.parameters(), lr=LR, momentum=0.9, weight_decay=5e-4)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=EPOCHS)
    for epoch in range(EPOCHS):
        net.train()
        total = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        net.eval()
        correct = 0
        with torch.no_grad():
            for x, y in test:
                correct += (net(x).argmax(1) == y).sum().item()
        print(f"epoch {epoch + 1} loss {total / len(train):.4f} top1 {correct / 100:.4f}")


if __name__ == "__main__":
    main()
