"""A conditional DCGAN in PyTorch; the discriminator also with spectral norm, written both ways."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from torch.nn.utils import parametrizations
from torch.nn.utils import spectral_norm as hooked_spectral_norm

CLASSES, NOISE, WIDTH = 10, 16, 8


class Generator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.label_emb = nn.Embedding(CLASSES, NOISE)
        self.l1 = nn.Sequential(nn.Linear(2 * NOISE, 4 * WIDTH * 16, bias=False), nn.BatchNorm1d(4 * WIDTH * 16))
        self.main = nn.Sequential(
            nn.ReLU(True),
            nn.ConvTranspose2d(4 * WIDTH, 2 * WIDTH, 4, 2, 1, bias=False),
            nn.BatchNorm2d(2 * WIDTH),
            nn.ReLU(True),
            nn.ConvTranspose2d(2 * WIDTH, WIDTH, 4, 2, 1, bias=False),
            nn.BatchNorm2d(WIDTH),
            nn.ReLU(True),
            nn.ConvTranspose2d(WIDTH, WIDTH, 3, 1, 1, bias=False),
            nn.BatchNorm2d(WIDTH),
            nn.LeakyReLU(0.2, inplace=True),
            nn.ConvTranspose2d(WIDTH, 3, 4, 2, 1),
            nn.Tanh(),
        )

    def forward(self, noise: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = self.l1(torch.cat((self.label_emb(labels), noise), dim=1))
        return self.main(x.view(-1, 4 * WIDTH, 4, 4))


class Discriminator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.label_embedding = nn.Embedding(CLASSES, 32 * 32)
        self.main = nn.Sequential(
            nn.Conv2d(4, WIDTH, 4, 2, 1),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(WIDTH, 2 * WIDTH, 4, 2, 1, bias=False),
            nn.BatchNorm2d(2 * WIDTH),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(2 * WIDTH, 4 * WIDTH, 4, 2, 1, bias=False),
            nn.BatchNorm2d(4 * WIDTH),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(4 * WIDTH, 1, 4, 1, 0, bias=False),
        )

    def forward(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        plane = self.label_embedding(labels).view(-1, 1, 32, 32)
        return self.main(torch.cat((images, plane), dim=1)).flatten(1)


class ProjectionDiscriminator(nn.Module):
    """Without BatchNorm; the label is a direction in the last features."""

    def __init__(self, norm: Callable[[nn.Module], nn.Module]) -> None:
        super().__init__()
        self.conv1 = norm(nn.Conv2d(3, WIDTH, 3, 1, 1))
        self.conv2 = norm(nn.Conv2d(WIDTH, 2 * WIDTH, 4, 2, 1))
        self.conv3 = norm(nn.Conv2d(2 * WIDTH, 4 * WIDTH, 4, 2, 1, bias=False))
        self.act = nn.LeakyReLU(0.1)
        self.linear = norm(nn.Linear(4 * WIDTH, 1))
        self.embed = norm(nn.Embedding(CLASSES, 4 * WIDTH))

    def forward(self, images: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        x = self.act(self.conv3(self.act(self.conv2(self.act(self.conv1(images))))))
        x = x.mean((2, 3))
        return self.linear(x) + (self.embed(labels) * x).sum(dim=1, keepdim=True)


def build_generator() -> nn.Module:
    """Transposed convolutions, BatchNorm and an embedded label."""
    return Generator()


def build_discriminator() -> nn.Module:
    """Strided convolutions, BatchNorm and an embedded label."""
    return Discriminator()


def build_projection() -> nn.Module:
    """The projection discriminator with plain layers."""
    return ProjectionDiscriminator(lambda layer: layer)


def build_projection_spectral() -> nn.Module:
    """Spectral norm as a parametrisation: `parametrizations.weight.original`, `.0._u`, `.0._v`."""
    return ProjectionDiscriminator(parametrizations.spectral_norm)


def build_projection_spectral_hooked() -> nn.Module:
    """Spectral norm as a hook: `weight_orig`, `weight_u`, `weight_v`."""
    return ProjectionDiscriminator(hooked_spectral_norm)
