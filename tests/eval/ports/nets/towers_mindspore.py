"""The two towers' port to MindSpore."""

from __future__ import annotations

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal


class ImageTower(nn.Cell):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, stride=2, pad_mode="pad", padding=1, has_bias=True)
        self.pool = nn.AvgPool2d(3, stride=2, pad_mode="pad", padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, pad_mode="pad", padding=2, dilation=2, has_bias=True)
        self.relu = nn.ReLU6()
        self.fc = nn.Dense(16, dim)

    def construct(self, images: Tensor) -> Tensor:
        x = self.pool(self.relu(self.conv1(images)))
        x = self.relu(self.conv2(x))
        return self.fc(ops.mean(x, (2, 3)))


class TextTower(nn.Cell):
    def __init__(self, vocab: int, dim: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, embedding_table=Normal(1.0))
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.fc = nn.Dense(dim, dim)

    def construct(self, tokens: Tensor) -> Tensor:
        _, last = self.gru(self.embedding(tokens))
        return self.fc(last[-1])


class TwoTowers(nn.Cell):
    def __init__(self, vocab: int = 30, dim: int = 16, answers: int = 6) -> None:
        super().__init__()
        self.image = ImageTower(dim)
        self.text = TextTower(vocab, dim)
        self.fuse = nn.Dense(3 * dim, 32)
        self.act = nn.SiLU()
        self.dropout = nn.Dropout(p=0.25)
        self.answer = nn.Dense(32, answers)
        self.unit = ops.L2Normalize(axis=-1, epsilon=1e-12)

    def construct(self, images: Tensor, tokens: Tensor) -> Tensor:
        image = self.unit(self.image(images))
        text = self.unit(self.text(tokens))
        both = ops.concat((image, text, image * text), axis=-1)
        x = self.act(self.fuse(both))
        return self.answer(self.dropout(x))


def build() -> nn.Cell:
    return TwoTowers()
