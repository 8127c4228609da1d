"""A variational autoencoder, in MindSpore."""

from mindspore import nn, ops


class ResBlock(nn.Cell):
    def __init__(self, c):
        super().__init__()
        self.norm = nn.GroupNorm(4, c)
        self.conv = nn.Conv2d(c, c, 3, pad_mode="pad", padding=1, has_bias=True)
        self.act = nn.LeakyReLU(0.2)

    def construct(self, x):
        return x + self.conv(self.act(self.norm(x)))


class VAE(nn.Cell):
    def __init__(self, c=8, z=4):
        super().__init__()
        self.enc1 = nn.Conv2d(3, c, 4, 2, pad_mode="pad", padding=1, has_bias=True)
        self.res1 = ResBlock(c)
        self.enc2 = nn.Conv2d(c, 2 * c, 3, 2, pad_mode="pad", padding=1, has_bias=True)
        self.quant = nn.Conv2d(2 * c, 2 * z, 1, has_bias=True)
        self.post = nn.Conv2d(z, 2 * c, 1, has_bias=True)
        self.res2 = ResBlock(2 * c)
        self.up = nn.Conv2dTranspose(2 * c, c, 4, 2, pad_mode="pad", padding=1, has_bias=True)
        self.out = nn.Conv2d(c, 3, 3, pad_mode="pad", padding=1, has_bias=True)

    def construct(self, x):
        h = ops.elu(self.enc2(self.res1(ops.silu(self.enc1(x)))))
        mean, logvar = ops.chunk(self.quant(h), 2, axis=1)
        logvar = ops.clamp(logvar, -30.0, 20.0)
        std = ops.exp(0.5 * logvar)
        z = mean + std * 0.5
        y = ops.silu(self.up(self.res2(self.post(z))))
        y = ops.interpolate(y, size=(y.shape[2] * 2, y.shape[3] * 2), mode="bilinear", align_corners=True)
        y = ops.tanh(self.out(y))
        kl = 0.5 * ops.sum(mean**2 + ops.exp(logvar) - 1.0 - logvar, dim=[1, 2, 3])
        return y, kl


def build():
    return VAE()
