"""Keyword spotting on log-mel patches; big effective batch by gradient accumulation."""
import numpy as np
import torch
import torch.nn as nn


class Config:
    classes = 8
    mels = 20
    frames = 24
    micro_batch = 8
    accumulate = 4
    epochs = 3
    lr = 0.1
    momentum = 0.9
    nesterov = True


def keywords(n, seed):
    rng = np.random.RandomState(seed)
    base = np.random.RandomState(31).standard_normal((Config.classes, 1, Config.mels, Config.frames))
    y = rng.randint(0, Config.classes, n)
    x = base[y] + rng.standard_normal((n, 1, Config.mels, Config.frames))
    return x.astype(np.float32), y.astype(np.int64)


class KWSNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, (5, 3), stride=(2, 1), padding=(2, 1))
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.pool = nn.AvgPool2d(2)
        self.fc = nn.Linear(16 * 5 * 12, Config.classes)

    def forward(self, x):
        x = torch.relu(self.conv1(x))
        x = torch.relu(self.conv2(x))
        return self.fc(torch.flatten(self.pool(x), 1))


class Trainer:
    def __init__(self):
        torch.manual_seed(10)
        self.model = KWSNet()
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(
            self.model.parameters(), lr=Config.lr, momentum=Config.momentum, nesterov=Config.nesterov
        )
        self.rng = np.random.RandomState(21)

    def train_epoch(self, x, y):
        self.model.train()
        order = self.rng.permutation(len(x))
        self.optimizer.zero_grad()
        losses = []
        for step, s in enumerate(range(0, len(x), Config.micro_batch), 1):
            j = order[s:s + Config.micro_batch]
            loss = self.criterion(self.model(torch.from_numpy(x[j])), torch.from_numpy(y[j]))
            (loss / Config.accumulate).backward()
            losses.append(loss.item())
            if step % Config.accumulate == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()
        return np.mean(losses)

    def evaluate(self, x, y):
        self.model.eval()
        with torch.no_grad():
            out = self.model(torch.from_numpy(x)).argmax(dim=1).numpy()
        return (out == y).mean()


if __name__ == "__main__":
    trainer = Trainer()
    x, y = keywords(320, 0)
    xv, yv = keywords(80, 1)
    for epoch in range(Config.epochs):
        loss = trainer.train_epoch(x, y)
        print(f"epoch={epoch} loss={loss:.4f} acc={trainer.evaluate(xv, yv):.4f}")
