"""SimCLR-style contrastive pretraining + linear probe."""
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def images(n, seed):
    rng = np.random.RandomState(seed)
    proto = np.random.RandomState(50).randn(5, 3, 16, 16)
    y = rng.randint(0, 5, n)
    return (proto[y] + 0.7 * rng.randn(n, 3, 16, 16)).astype(np.float32), y


def augment(x, rng):
    out = x.copy()
    flip = rng.uniform(size=len(x)) < 0.5
    out[flip] = out[flip][:, :, :, ::-1]
    out = out * rng.uniform(0.8, 1.2, (len(x), 3, 1, 1)) + 0.1 * rng.standard_normal(x.shape)
    return out.astype(np.float32)


class Encoder(nn.Module):
    def __init__(self, feat=32, proj=16):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, stride=2, padding=1)
        self.conv2 = nn.Conv2d(16, feat, 3, stride=2, padding=1)
        self.proj1 = nn.Linear(feat, feat)
        self.proj2 = nn.Linear(feat, proj)

    def features(self, x):
        h = F.relu(self.conv1(x))
        h = F.relu(self.conv2(h))
        return h.mean(dim=(2, 3))

    def forward(self, x):
        return self.proj2(F.relu(self.proj1(self.features(x))))


def nt_xent(z1, z2, temperature=0.2):
    n = z1.shape[0]
    z = torch.cat([z1, z2], dim=0)
    z = F.normalize(z, dim=1)
    sim = z @ z.t() / temperature
    sim = sim.masked_fill(torch.eye(2 * n, dtype=torch.bool), -1e9)
    target = torch.cat([torch.arange(n, 2 * n), torch.arange(0, n)])
    return F.cross_entropy(sim, target)


def linear_probe(net, x, y, xt, yt):
    with torch.no_grad():
        f, ft = net.features(torch.from_numpy(x)).numpy(), net.features(torch.from_numpy(xt)).numpy()
    f1, ft1 = np.c_[f, np.ones(len(f))], np.c_[ft, np.ones(len(ft))]
    w = np.linalg.lstsq(f1.T @ f1 + 1e-2 * np.eye(f1.shape[1]), f1.T @ np.eye(5)[y], rcond=None)[0]
    return float(((ft1 @ w).argmax(1) == yt).mean())


def run(epochs=4, batch=32):
    x, y = images(192, 0)
    xt, yt = images(64, 1)
    torch.manual_seed(0)
    net = Encoder()
    opt = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=epochs, eta_min=0.0)
    rng = np.random.RandomState(8)
    for epoch in range(epochs):
        perm = rng.permutation(len(x))
        total = []
        for b in range(len(x) // batch):
            xb = x[perm[b * batch:(b + 1) * batch]]
            v1, v2 = augment(xb, rng), augment(xb, rng)
            loss = nt_xent(net(torch.from_numpy(v1)), net(torch.from_numpy(v2)))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total.append(loss.item())
        sched.step()
        print(f"epoch {epoch} contrastive {np.mean(total):.4f} probe {linear_probe(net, x, y, xt, yt):.3f}")


if __name__ == "__main__":
    run()
