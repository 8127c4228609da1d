"""A small Conformer (Gulati et al. 2020) that names the word in a recording, in torch."""

import math

import torch
import torch.nn.functional as F
from torch import nn


def relative_encoding(length: int, width: int) -> torch.Tensor:
    """Sines and cosines of the distances length - 1 down to 1 - length."""
    place = torch.arange(length - 1, -length, -1, dtype=torch.float32).unsqueeze(1)
    rate = torch.exp(torch.arange(0, width, 2, dtype=torch.float32) * (-math.log(10000.0) / width))
    return torch.stack((torch.sin(place * rate), torch.cos(place * rate)), dim=-1).flatten(1)


class ConvSubsampling(nn.Module):
    """A quarter of the frames."""

    def __init__(self, features: int, width: int) -> None:
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 8, 3, stride=2), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2), nn.ReLU())
        self.linear = nn.Linear(8 * (((features - 1) // 2 - 1) // 2), width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """(B, T / 4, width)."""
        x = self.conv(x.unsqueeze(1))
        return self.linear(x.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    """Two layers with Swish between."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.LayerNorm(width),
            nn.Linear(width, 4 * width),
            nn.SiLU(),
            nn.Dropout(0.1),
            nn.Linear(4 * width, width),
            nn.Dropout(0.1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        return self.net(x)


class RelPositionAttention(nn.Module):
    """Attention that knows distances, as in Transformer-XL."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.h = heads
        self.d_k = width // heads
        self.linear_q = nn.Linear(width, width)
        self.linear_k = nn.Linear(width, width)
        self.linear_v = nn.Linear(width, width)
        self.linear_pos = nn.Linear(width, width, bias=False)
        self.linear_out = nn.Linear(width, width)
        self.pos_bias_u = nn.Parameter(torch.empty(heads, self.d_k))
        self.pos_bias_v = nn.Parameter(torch.empty(heads, self.d_k))
        nn.init.xavier_uniform_(self.pos_bias_u)
        nn.init.xavier_uniform_(self.pos_bias_v)
        self.dropout = nn.Dropout(0.1)

    def rel_shift(self, x: torch.Tensor) -> torch.Tensor:
        """From distances to places of the keys."""
        b, h, t, n = x.shape
        x = F.pad(x, (1, 0)).view(b, h, n + 1, t)
        x = x[:, :, 1:].reshape(b, h, t, n)
        return x[..., :t]

    def forward(self, x: torch.Tensor, encoding: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        b, t, _ = x.shape
        q = self.linear_q(x).view(b, t, self.h, self.d_k)
        k = self.linear_k(x).view(b, t, self.h, self.d_k).transpose(1, 2)
        v = self.linear_v(x).view(b, t, self.h, self.d_k).transpose(1, 2)
        p = self.linear_pos(encoding).view(1, -1, self.h, self.d_k).transpose(1, 2)
        q_with_u = (q + self.pos_bias_u).transpose(1, 2)
        q_with_v = (q + self.pos_bias_v).transpose(1, 2)
        matrix_ac = q_with_u @ k.transpose(-2, -1)
        matrix_bd = self.rel_shift(q_with_v @ p.transpose(-2, -1))
        scores = (matrix_ac + matrix_bd) / math.sqrt(self.d_k)
        y = self.dropout(scores.softmax(dim=-1)) @ v
        return self.linear_out(y.transpose(1, 2).flatten(2))


class ConvolutionModule(nn.Module):
    """Gated pointwise, depthwise and pointwise convolution over time."""

    def __init__(self, width: int, kernel: int = 5) -> None:
        super().__init__()
        self.pointwise_conv1 = nn.Conv1d(width, 2 * width, 1)
        self.depthwise_conv = nn.Conv1d(width, width, kernel, padding=(kernel - 1) // 2, groups=width)
        self.batch_norm = nn.BatchNorm1d(width)
        self.activation = nn.SiLU()
        self.pointwise_conv2 = nn.Conv1d(width, width, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        x = F.glu(self.pointwise_conv1(x.transpose(1, 2)), dim=1)
        x = self.activation(self.batch_norm(self.depthwise_conv(x)))
        return self.pointwise_conv2(x).transpose(1, 2)


class ConformerLayer(nn.Module):
    """Half a feed forward, attention, convolution, the other half, norm."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.ff_scale = 0.5
        self.macaron = FeedForward(width)
        self.norm_att = nn.LayerNorm(width)
        self.self_attn = RelPositionAttention(width, heads)
        self.norm_conv = nn.LayerNorm(width)
        self.conv_module = ConvolutionModule(width)
        self.feed_forward = FeedForward(width)
        self.norm_final = nn.LayerNorm(width)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor, encoding: torch.Tensor) -> torch.Tensor:
        """The same shape."""
        x = x + self.ff_scale * self.macaron(x)
        x = x + self.dropout(self.self_attn(self.norm_att(x), encoding))
        x = x + self.dropout(self.conv_module(self.norm_conv(x)))
        x = x + self.ff_scale * self.feed_forward(x)
        return self.norm_final(x)


class Conformer(nn.Module):
    """Subsampling, layers, the mean over time, classifier."""

    def __init__(self, features: int = 20, width: int = 24, heads: int = 3, layers: int = 2, words: int = 12) -> None:
        super().__init__()
        self.width = width
        self.embed = ConvSubsampling(features, width)
        self.drop = nn.Dropout(0.1)
        self.encoders = nn.ModuleList(ConformerLayer(width, heads) for _ in range(layers))
        self.fc = nn.Linear(width, words)

    def forward(self, sound: torch.Tensor) -> torch.Tensor:
        """Logits; `sound` is (B, T, features)."""
        x = self.drop(self.embed(sound) * self.width**0.5)
        encoding = relative_encoding(x.shape[1], self.width)
        for layer in self.encoders:
            x = layer(x, encoding)
        return self.fc(x.mean(dim=1))


def build() -> nn.Module:
    """The network."""
    return Conformer()
