"""Convolutional autoencoder for textile images (PyTorch)."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F


def textiles(n, seed):
    rng = np.random.RandomState(seed)
    yy, xx = np.mgrid[0:16, 0:16]
    f = rng.uniform(0.3, 1.2, (n, 2, 1, 1))
    p = rng.uniform(0, 6.28, (n, 1, 1))
    img = 0.5 + 0.4 * np.sin(f[:, 0] * yy + f[:, 1] * xx + p)
    return torch.from_numpy((img[:, None] + 0.03 * rng.standard_normal((n, 1, 16, 16))).astype(np.float32))


class ConvAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.ModuleDict({
            "conv_in": nn.Conv2d(1, 8, 3, padding=1, bias=False),
            "norm": nn.BatchNorm2d(8, momentum=0.1),
            "conv_code": nn.Conv2d(8, 4, 3, padding="same", bias=False),
        })
        self.decoder = nn.ModuleDict({
            "up": nn.ConvTranspose2d(4, 8, kernel_size=2, stride=2, bias=False),
            "norm": nn.BatchNorm2d(8, momentum=0.05),
            "conv_out": nn.Conv2d(8, 1, 3, padding=1),
        })
        self.reset()

    def reset(self):
        for conv in (self.encoder["conv_in"], self.encoder["conv_code"], self.decoder["conv_out"]):
            nn.init.xavier_uniform_(conv.weight)
        nn.init.normal_(self.decoder["up"].weight, mean=0.0, std=0.05)
        nn.init.constant_(self.decoder["conv_out"].bias, 0.0)

    def encode(self, x):
        x = F.leaky_relu(self.encoder["norm"](self.encoder["conv_in"](x)), 0.2)
        x = F.max_pool2d(x, 2)
        return F.leaky_relu(self.encoder["conv_code"](x), 0.2)

    def decode(self, z):
        z = F.leaky_relu(self.decoder["norm"](self.decoder["up"](z)), 0.2)
        return torch.sigmoid(self.decoder["conv_out"](z))

    def forward(self, x):
        return self.decode(self.encode(x))


def objective(out, x):
    diff = out - x
    return diff.pow(2).mean() + 0.1 * diff.abs().mean()


def main():
    train, test = textiles(160, 0), textiles(40, 1)
    torch.manual_seed(2023)
    net = ConvAE()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3, betas=(0.9, 0.99))
    rng = np.random.RandomState(14)
    for epoch in range(4):
        history = []
        perm = torch.from_numpy(rng.permutation(len(train)))
        for batch in train[perm].chunk(10):
            loss = objective(net(batch), batch)
            opt.zero_grad()
            loss.backward()
            opt.step()
            history.append(loss.item())
        net.eval()
        with torch.no_grad():
            err = F.mse_loss(net(test), test).item()
        net.train()
        print(f"epoch {epoch} loss {np.mean(history):.5f} test mse {err:.5f}")


if __name__ == "__main__":
    main()
