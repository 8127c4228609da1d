# run:
"""An optimizer of two passes clears the gradients by itself."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
x = torch.randn(96, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:64], y[:64]), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(x[64:], y[64:]), batch_size=16)


class Sharpness(torch.optim.Optimizer):
    def __init__(self, params, rho, **settings):
        super().__init__(params, {"rho": rho, **settings})
        self.base = torch.optim.SGD(self.param_groups, **settings)

    @torch.no_grad()
    def climb(self):
        for group in self.param_groups:
            for weight in group["params"]:
                self.state[weight]["home"] = weight.clone()
                weight.add_(weight.grad, alpha=group["rho"])
        self.zero_grad()

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for weight in group["params"]:
                weight.copy_(self.state[weight].pop("home"))
        self.base.step()
        self.zero_grad()


net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = Sharpness(net.parameters(), rho=0.05, lr=0.1)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(2):
    net.train()
    for inputs, labels in train:
        loss_fn(net(inputs), labels).backward()
        optimizer.climb()
        loss_fn(net(inputs), labels).backward()
        optimizer.step()

    net.eval()
    with torch.no_grad():
        hits = sum((net(inputs).argmax(1) == labels).sum().item() for inputs, labels in test)
    print(epoch, hits / len(test.dataset))
