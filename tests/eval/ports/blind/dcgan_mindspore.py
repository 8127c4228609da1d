"""DCGAN as its generator is trained: noise to picture to verdict, in MindSpore."""

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal


def norm(width: int) -> nn.Cell:
    """A batch norm with the paper's initial scale."""
    return nn.BatchNorm2d(width, eps=1e-5, momentum=0.9, gamma_init=Normal(0.02, 1.0))


def up(cin: int, cout: int, stride: int, pad: int) -> nn.Cell:
    """A transposed convolution of size 4."""
    weight = Normal(0.02)
    return nn.Conv2dTranspose(cin, cout, 4, stride, pad_mode="pad", padding=pad, weight_init=weight)


def down(cin: int, cout: int, stride: int, pad: int) -> nn.Cell:
    """A convolution of size 4."""
    return nn.Conv2d(cin, cout, 4, stride, pad_mode="pad", padding=pad, weight_init=Normal(0.02))


class Generator(nn.Cell):
    """Noise to a 32-pixel picture."""

    def __init__(self, nz: int, ngf: int) -> None:
        super().__init__()
        self.up1 = nn.SequentialCell(up(nz, ngf * 4, 1, 0), norm(ngf * 4), nn.ReLU())
        self.up2 = nn.SequentialCell(up(ngf * 4, ngf * 2, 2, 1), norm(ngf * 2), nn.ReLU())
        self.up3 = nn.SequentialCell(up(ngf * 2, ngf, 2, 1), norm(ngf), nn.ReLU())
        self.to_rgb = up(ngf, 3, 2, 1)

    def construct(self, z: Tensor) -> Tensor:
        """The picture."""
        x = self.up3(self.up2(self.up1(z)))
        return ops.tanh(self.to_rgb(x))


class Discriminator(nn.Cell):
    """A 32-pixel picture to one number."""

    def __init__(self, ndf: int) -> None:
        super().__init__()
        self.conv1 = down(3, ndf, 2, 1)
        self.conv2 = down(ndf, ndf * 2, 2, 1)
        self.bn2 = norm(ndf * 2)
        self.conv3 = down(ndf * 2, ndf * 4, 2, 1)
        self.bn3 = norm(ndf * 4)
        self.conv4 = down(ndf * 4, 1, 1, 0)
        self.act = nn.LeakyReLU(0.2)

    def construct(self, picture: Tensor) -> Tensor:
        """The verdict."""
        x = self.act(self.conv1(picture))
        x = self.act(self.bn2(self.conv2(x)))
        x = self.act(self.bn3(self.conv3(x)))
        return self.conv4(x).reshape(-1)


class DCGAN(nn.Cell):
    """The generator's step: the discriminator is frozen."""

    def __init__(self, nz: int = 16, width: int = 8) -> None:
        super().__init__()
        self.generator = Generator(nz, width)
        self.discriminator = Discriminator(width)
        for param in self.discriminator.get_parameters():
            param.requires_grad = False

    def construct(self, z: Tensor) -> Tensor:
        """The verdict on what the noise becomes."""
        fake = self.generator(z)
        return self.discriminator(fake)


def build() -> nn.Cell:
    """The network."""
    return DCGAN()
