"""A user's torch model, and losses of the user's own."""

from __future__ import annotations

from torch import nn
from torch.nn import functional


def net() -> nn.Module:
    return nn.Linear(4, 5)


class SumOfSquares(nn.Module):
    """A loss that is none of the common ones."""

    def forward(self, output, labels):
        return (functional.one_hot(labels, output.shape[-1]) * output.sin()).square().sum() / len(labels)
