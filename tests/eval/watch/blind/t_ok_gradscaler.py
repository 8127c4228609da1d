"""fp16 autocast with GradScaler: the first scale is too high on purpose and is backed off."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(10, 32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


def main():
    torch.manual_seed(0)
    x, y = torch.randn(80, 10), torch.randn(80, 3)
    net = Net()
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**20, backoff_factor=2.0**-6, growth_interval=100)
    for step, (xb, yb) in enumerate(DataLoader(TensorDataset(x, y), batch_size=10)):
        opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            out = net(xb)
            loss = nn.functional.mse_loss(out.float(), yb)
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
        print(step, loss.item(), float(norm), scaler.get_scale())


if __name__ == "__main__":
    main()
