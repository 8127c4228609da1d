"""BCELoss with the bare output, in a step of Lightning's kind."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Module(nn.Module):
    def __init__(self, lr=0.1):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
        self.criterion = nn.BCELoss()  # expect: cg.04
        self.lr = lr

    def forward(self, inputs):
        return self.net(inputs).squeeze(-1)

    def training_step(self, batch):
        inputs, labels = batch
        return self.criterion(self(inputs), labels.float())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.lr)


def fit(module, loader, epochs):
    optimizer = module.configure_optimizers()
    for _ in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            module.training_step(batch).backward()
            optimizer.step()


if __name__ == "__main__":
    x = torch.randn(64, 6)
    fit(Module(), DataLoader(TensorDataset(x, x[:, 0] > 0), batch_size=16, shuffle=True), 1)
