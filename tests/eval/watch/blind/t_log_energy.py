"""Keyword spotting on short clips: learnable filterbank, log energies, small classifier."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LogFilterbank(nn.Module):
    def __init__(self, frame, bands):
        super().__init__()
        self.frame = frame
        self.filters = nn.Linear(frame, bands, bias=False)

    def forward(self, wave):
        frames = wave.unfold(1, self.frame, self.frame)
        power = self.filters(frames).pow(2)
        return torch.log(power)


class Classifier(nn.Module):
    def __init__(self, bands, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(bands, 32), nn.ReLU(), nn.Linear(32, classes))

    def forward(self, feats):
        return self.body(feats.mean(dim=1))


class KeywordNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.frontend = LogFilterbank(16, 10)
        self.head = Classifier(10, 4)

    def forward(self, wave):
        return self.head(self.frontend(wave))


def clips(n=64, seed=3):
    rng = np.random.default_rng(seed)
    wave = rng.normal(0, 0.3, (n, 128)).astype(np.float32)
    wave[29, 96:] = 0.0  # the speaker stops before the end of the clip
    label = rng.integers(0, 4, n)
    return TensorDataset(torch.from_numpy(wave), torch.from_numpy(label))


def main():
    torch.manual_seed(0)
    loader = DataLoader(clips(), batch_size=8, shuffle=False)
    net = KeywordNet()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    for step, (wave, label) in enumerate(loader):
        optimizer.zero_grad()
        loss = criterion(net(wave), label)
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
