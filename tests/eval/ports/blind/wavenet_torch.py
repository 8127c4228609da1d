"""A small WaveNet over quantised samples, in torch."""

import torch
import torch.nn.functional as F
from torch import nn


class CausalConv1d(nn.Module):
    """A dilated convolution that sees only the past."""

    def __init__(self, cin: int, cout: int, kernel: int, dilation: int) -> None:
        super().__init__()
        self.left = (kernel - 1) * dilation
        self.conv = nn.Conv1d(cin, cout, kernel, dilation=dilation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """As long as the input."""
        return self.conv(F.pad(x, (self.left, 0)))


class ResidualBlock(nn.Module):
    """Gated convolution with a residual and a skip output."""

    def __init__(self, width: int, skip: int, dilation: int) -> None:
        super().__init__()
        self.filter = CausalConv1d(width, width, 2, dilation)
        self.gate = CausalConv1d(width, width, 2, dilation)
        self.residual = nn.Conv1d(width, width, 1)
        self.skip = nn.Conv1d(width, skip, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What goes on, and what goes to the end."""
        z = torch.tanh(self.filter(x)) * torch.sigmoid(self.gate(x))
        return x + self.residual(z), self.skip(z)


class WaveNet(nn.Module):
    """Two cycles of growing dilation."""

    def __init__(self, levels: int = 64, width: int = 12, skip: int = 20, cycle: int = 4, cycles: int = 2) -> None:
        super().__init__()
        self.embed = nn.Embedding(levels, width)
        self.causal = CausalConv1d(width, width, 2, 1)
        self.blocks = nn.ModuleList(ResidualBlock(width, skip, 2**i) for _ in range(cycles) for i in range(cycle))
        self.post = nn.Sequential(nn.ReLU(), nn.Conv1d(skip, skip, 1), nn.ReLU(), nn.Conv1d(skip, levels, 1))

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        """(B, levels, T)."""
        x = self.causal(self.embed(samples).transpose(1, 2))
        total = torch.zeros(())
        for block in self.blocks:
            x, skip = block(x)
            total = total + skip
        return self.post(total)


def build() -> nn.Module:
    """The network."""
    return WaveNet()
