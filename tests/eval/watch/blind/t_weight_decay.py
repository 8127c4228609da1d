"""Bounded-output controller trained with SGD and weight decay on the hidden layers."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Controller(nn.Module):
    def __init__(self):
        super().__init__()
        self.sense = nn.Linear(6, 16)
        self.plan = nn.Linear(16, 16)
        self.act = nn.Linear(16, 2)

    def forward(self, obs):
        h = torch.tanh(self.sense(obs))
        h = torch.tanh(self.plan(h))
        return torch.tanh(self.act(h))


def main():
    torch.manual_seed(12)
    obs = torch.randn(72, 6)
    action = torch.tanh(obs[:, :2] - obs[:, 2:4])
    loader = DataLoader(TensorDataset(obs, action), batch_size=8)
    net = Controller()
    opt = torch.optim.SGD(
        [
            {"params": [*net.sense.parameters(), *net.plan.parameters()], "weight_decay": 5e6},
            {"params": net.act.parameters()},
        ],
        lr=0.1,
    )
    for step, (o, a) in enumerate(loader):
        loss = nn.functional.l1_loss(net(o), a)
        opt.zero_grad()
        loss.backward()
        opt.step()
        print(step, loss.item())


if __name__ == "__main__":
    main()
