import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal, initializer

LATENT = 16
BATCH = 16
LR = 2e-4
REAL_LABEL = 1.0
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


def deconv(cin, cout, k, s, p):
    return nn.Conv2dTranspose(cin, cout, k, s, pad_mode="pad", padding=p, weight_init=Normal(0.02))


def conv(cin, cout, k, s, p):
    return nn.Conv2d(cin, cout, k, s, pad_mode="pad", padding=p, weight_init=Normal(0.02))


def norm(c):
    return nn.BatchNorm2d(c, gamma_init=Normal(0.02, 1.0), beta_init="zeros")


class Generator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.main = nn.SequentialCell(
            deconv(LATENT, 32, 4, 1, 0),
            norm(32),
            nn.ReLU(),
            deconv(32, 16, 4, 2, 1),
            norm(16),
            nn.ReLU(),
            deconv(16, 1, 4, 2, 1),
            nn.Tanh(),
        )

    def construct(self, z):
        return self.main(z)


class Discriminator(nn.Cell):
    def __init__(self):
        super().__init__()
        self.main = nn.SequentialCell(
            conv(1, 16, 4, 2, 1),
            nn.LeakyReLU(),
            conv(16, 32, 4, 2, 1),
            norm(32),
            nn.LeakyReLU(),
            conv(32, 1, 4, 1, 0),
        )

    def construct(self, x):
        return self.main(x).view(-1)


ms.set_seed(999)
noise_rng = np.random.RandomState(5)
data = digits(128)
netG, netD = Generator(), Discriminator()
netG.set_train()
netD.set_train()
criterion = nn.BCEWithLogitsLoss()
optimizerD = nn.Adam(netD.trainable_params(), learning_rate=LR)
optimizerG = nn.Adam(netG.trainable_params(), learning_rate=LR, beta1=0.5)


def loss_d(real, fake, real_target, fake_target):
    return criterion(netD(real), real_target) + criterion(netD(fake), fake_target)


def loss_g(noise, real_target):
    return criterion(netD(netG(noise)), real_target)


grad_d = ms.value_and_grad(loss_d, None, optimizerD.parameters)
grad_g = ms.value_and_grad(loss_g, None, optimizerG.parameters)

for epoch in range(3):
    order = noise_rng.permutation(len(data))
    for i in range(0, len(data), BATCH):
        real = Tensor(data[order[i:i + BATCH]])
        noise = Tensor(noise_rng.randn(len(real), LATENT, 1, 1).astype(np.float32))
        real_target = ops.full((len(real),), REAL_LABEL, dtype=ms.float32)
        fake_target = ops.full((len(real),), FAKE_LABEL, dtype=ms.float32)
        # update D
        fake = ops.stop_gradient(netG(noise))
        errD, grads = grad_d(real, fake, real_target, fake_target)
        optimizerD(grads)
        # update G
        errG, grads = grad_g(noise, real_target)
        optimizerG(grads)
    print("[%d] Loss_D: %.4f Loss_G: %.4f" % (epoch, float(errD), float(errG)))
