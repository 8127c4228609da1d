# least squares GAN on a 2-d ring of gaussians
import numpy as np
import torch
import torch.nn as nn

nz, hidden, batch_size = 8, 48, 32
lr, betas = 1e-3, (0.5, 0.9)


def ring(n, rng):
    k = rng.randint(0, 8, n)
    centre = np.stack([np.cos(k * np.pi / 4), np.sin(k * np.pi / 4)], axis=1)
    return (centre * 2 + 0.05 * rng.standard_normal((n, 2))).astype(np.float32)


class G(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(nz, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.BatchNorm1d(hidden), nn.ReLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, z):
        return self.net(z)


class D(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, hidden), nn.LeakyReLU(0.2),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.net(x).view(-1)


def init(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight, gain=1.0)
        m.bias.data.fill_(0.0)


torch.manual_seed(1)
rng = np.random.RandomState(100)
gen, dis = G(), D()
gen.apply(init)
dis.apply(init)
mse = nn.MSELoss()
opt_d = torch.optim.Adam(dis.parameters(), lr=lr, betas=betas)
opt_g = torch.optim.Adam(gen.parameters(), lr=lr, betas=betas)

for step in range(1, 31):
    for _ in range(2):
        real = torch.from_numpy(ring(batch_size, rng))
        z = torch.from_numpy(rng.standard_normal((batch_size, nz)).astype(np.float32))
        fake = gen(z).detach()
        loss_d = 0.5 * (mse(dis(real), torch.ones(batch_size)) + mse(dis(fake), torch.zeros(batch_size)))
        opt_d.zero_grad()
        loss_d.backward()
        opt_d.step()
    z = torch.from_numpy(rng.standard_normal((batch_size, nz)).astype(np.float32))
    loss_g = 0.5 * mse(dis(gen(z)), torch.ones(batch_size))
    opt_g.zero_grad()
    loss_g.backward()
    opt_g.step()
    if step % 10 == 0:
        print(f"step {step} D {loss_d.item():.4f} G {loss_g.item():.4f}")

gen.eval()
with torch.no_grad():
    sample = gen(torch.from_numpy(rng.standard_normal((256, nz)).astype(np.float32))).numpy()
print("mean radius %.4f" % np.linalg.norm(sample, axis=1).mean())
