import numpy as np
import torch
import torch.nn as nn

LATENT = 16
BATCH = 16
LR = 2e-4
REAL_LABEL = 0.9
FAKE_LABEL = 0.0


def digits(n, seed=0):
    """bright blobs in [-1, 1], 1x16x16"""
    rng = np.random.RandomState(seed)
    yy, xx = np.mgrid[0:16, 0:16]
    out = np.zeros((n, 1, 16, 16), dtype=np.float32)
    for i in range(n):
        cy, cx = rng.uniform(4, 12, 2)
        out[i, 0] = np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / 8.0)
    return out * 2.0 - 1.0


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(LATENT, 32, 4, 1, 0, bias=False),
            nn.BatchNorm2d(32),
            nn.ReLU(True),
            nn.ConvTranspose2d(32, 16, 4, 2, 1, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(True),
            nn.ConvTranspose2d(16, 1, 4, 2, 1, bias=False),
            nn.Tanh(),
        )

    def forward(self, z):
        return self.main(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(
            nn.Conv2d(1, 16, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(16, 32, 4, 2, 1, bias=False),
            nn.BatchNorm2d(32),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(32, 1, 4, 1, 0, bias=False),
        )

    def forward(self, x):
        return self.main(x).view(-1)


def weights_init(m):
    name = m.__class__.__name__
    if "Conv" in name:
        nn.init.normal_(m.weight, 0.0, 0.02)
    elif "BatchNorm" in name:
        nn.init.normal_(m.weight, 1.0, 0.02)
        nn.init.zeros_(m.bias)


torch.manual_seed(999)
noise_rng = np.random.RandomState(5)
data = digits(128)
netG, netD = Generator(), Discriminator()
netG.apply(weights_init)
netD.apply(weights_init)
criterion = nn.BCEWithLogitsLoss()
optimizerD = torch.optim.Adam(netD.parameters(), lr=LR, betas=(0.5, 0.999))
optimizerG = torch.optim.Adam(netG.parameters(), lr=LR, betas=(0.5, 0.999))

for epoch in range(3):
    order = noise_rng.permutation(len(data))
    for i in range(0, len(data), BATCH):
        real = torch.from_numpy(data[order[i:i + BATCH]])
        noise = torch.from_numpy(noise_rng.randn(len(real), LATENT, 1, 1).astype(np.float32))
        # update D
        netD.zero_grad()
        real_target = torch.full((len(real),), REAL_LABEL)
        fake_target = torch.full((len(real),), FAKE_LABEL)
        errD_real = criterion(netD(real), real_target)
        fake = netG(noise)
        errD_fake = criterion(netD(fake.detach()), fake_target)
        errD = errD_real + errD_fake
        errD.backward()
        optimizerD.step()
        # update G
        netG.zero_grad()
        errG = criterion(netD(fake), real_target)
        errG.backward()
        optimizerG.step()
    print("[%d] Loss_D: %.4f Loss_G: %.4f" % (epoch, errD.item(), errG.item()))
