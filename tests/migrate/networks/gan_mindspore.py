"""A conditional DCGAN in MindSpore, and a discriminator with plain layers for what torch normalises spectrally."""

from __future__ import annotations

from mindspore import Tensor, nn, ops

CLASSES, NOISE, WIDTH = 10, 16, 8


def conv(inp: int, out: int, size: int, stride: int, padding: int, has_bias: bool = False) -> nn.Conv2d:
    """A convolution padded on both sides."""
    return nn.Conv2d(inp, out, size, stride, pad_mode="pad", padding=padding, has_bias=has_bias)


def deconv(inp: int, out: int, size: int, stride: int, padding: int, has_bias: bool = False) -> nn.Conv2dTranspose:
    """A transposed convolution with the padding taken off both sides."""
    return nn.Conv2dTranspose(inp, out, size, stride, pad_mode="pad", padding=padding, has_bias=has_bias)


class Generator(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.label_emb = nn.Embedding(CLASSES, NOISE)
        self.l1 = nn.SequentialCell(nn.Dense(2 * NOISE, 4 * WIDTH * 16, has_bias=False), nn.BatchNorm1d(4 * WIDTH * 16))
        self.main = nn.SequentialCell(
            nn.ReLU(),
            deconv(4 * WIDTH, 2 * WIDTH, 4, 2, 1),
            nn.BatchNorm2d(2 * WIDTH),
            nn.ReLU(),
            deconv(2 * WIDTH, WIDTH, 4, 2, 1),
            nn.BatchNorm2d(WIDTH),
            nn.ReLU(),
            deconv(WIDTH, WIDTH, 3, 1, 1),
            nn.BatchNorm2d(WIDTH),
            nn.LeakyReLU(0.2),
            deconv(WIDTH, 3, 4, 2, 1, has_bias=True),
            nn.Tanh(),
        )

    def construct(self, noise: Tensor, labels: Tensor) -> Tensor:
        x = self.l1(ops.concat((self.label_emb(labels), noise), axis=1))
        return self.main(ops.reshape(x, (-1, 4 * WIDTH, 4, 4)))


class Discriminator(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.label_embedding = nn.Embedding(CLASSES, 32 * 32)
        self.main = nn.SequentialCell(
            conv(4, WIDTH, 4, 2, 1, has_bias=True),
            nn.LeakyReLU(0.2),
            conv(WIDTH, 2 * WIDTH, 4, 2, 1),
            nn.BatchNorm2d(2 * WIDTH),
            nn.LeakyReLU(0.2),
            conv(2 * WIDTH, 4 * WIDTH, 4, 2, 1),
            nn.BatchNorm2d(4 * WIDTH),
            nn.LeakyReLU(0.2),
            conv(4 * WIDTH, 1, 4, 1, 0),
        )

    def construct(self, images: Tensor, labels: Tensor) -> Tensor:
        plane = ops.reshape(self.label_embedding(labels), (-1, 1, 32, 32))
        x = self.main(ops.concat((images, plane), axis=1))
        return ops.reshape(x, (x.shape[0], -1))


class ProjectionDiscriminator(nn.Cell):
    """Without BatchNorm; the label is a direction in the last features."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = conv(3, WIDTH, 3, 1, 1, has_bias=True)
        self.conv2 = conv(WIDTH, 2 * WIDTH, 4, 2, 1, has_bias=True)
        self.conv3 = conv(2 * WIDTH, 4 * WIDTH, 4, 2, 1)
        self.act = nn.LeakyReLU(0.1)
        self.linear = nn.Dense(4 * WIDTH, 1)
        self.embed = nn.Embedding(CLASSES, 4 * WIDTH)

    def construct(self, images: Tensor, labels: Tensor) -> Tensor:
        x = self.act(self.conv3(self.act(self.conv2(self.act(self.conv1(images))))))
        x = ops.mean(x, (2, 3))
        return self.linear(x) + ops.sum(self.embed(labels) * x, dim=1, keepdim=True)


def build_generator() -> nn.Cell:
    """Transposed convolutions, BatchNorm and an embedded label."""
    return Generator()


def build_discriminator() -> nn.Cell:
    """Strided convolutions, BatchNorm and an embedded label."""
    return Discriminator()


def build_projection() -> nn.Cell:
    """The projection discriminator with plain layers."""
    return ProjectionDiscriminator()
