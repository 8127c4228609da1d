"""House price regression with plain gradient descent."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class PriceNet(nn.Module):
    def __init__(self, features=10):
        super().__init__()
        self.encoder = nn.Linear(features, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(torch.tanh(self.encoder(x)))


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.criterion = nn.MSELoss()
        self.history = []

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for x, y in loader:
                pred = self.model(x)
                loss = self.criterion(pred, y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.history.append(loss.item())
                print(epoch, len(self.history) - 1, f"{loss.item():.4g}")


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 10)).astype(np.float32)
    y = (x @ rng.normal(size=(10, 1)) + 3).astype(np.float32)
    loader = DataLoader(TensorDataset(torch.from_numpy(x), torch.from_numpy(y)), batch_size=20)
    Trainer(PriceNet(), lr=2.0).fit(loader, epochs=14)


if __name__ == "__main__":
    main()
