"""A small MLP-Mixer (Tolstikhin et al. 2021) in MindSpore, here the benchmark."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class Mlp(nn.Cell):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Dense(dim, hidden)
        self.act = nn.GELU(approximate=False)
        self.fc2 = nn.Dense(hidden, dim)

    def construct(self, x: Tensor) -> Tensor:
        return self.fc2(self.act(self.fc1(x)))


class MixerLayer(nn.Cell):
    def __init__(self, patches: int, dim: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm((dim,), epsilon=1e-5)
        self.tokens = Mlp(patches, 24)
        self.norm2 = nn.LayerNorm((dim,), epsilon=1e-5)
        self.channels = Mlp(dim, 48)

    def construct(self, x: Tensor) -> Tensor:
        y = ops.transpose(self.norm1(x), (0, 2, 1))
        x = x + ops.transpose(self.tokens(y), (0, 2, 1))
        return x + self.channels(self.norm2(x))


class Mixer(nn.Cell):
    def __init__(self, dim: int = 16, classes: int = 10) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, dim, 8, 8, pad_mode="valid", has_bias=True)
        self.layer1 = MixerLayer(16, dim)
        self.layer2 = MixerLayer(16, dim)
        self.norm = nn.LayerNorm((dim,), epsilon=1e-5)
        self.head = nn.Dense(dim, classes)

    def construct(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        x = ops.transpose(ops.reshape(x, (x.shape[0], x.shape[1], -1)), (0, 2, 1))
        x = self.layer2(self.layer1(x))
        return self.head(ops.mean(self.norm(x), 1))


def build() -> nn.Cell:
    return Mixer()
