"""The sentence classifier's port to MindSpore."""

from __future__ import annotations

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal


class TextCNN(nn.Cell):
    def __init__(self, vocab: int = 50, dim: int = 16, channels: int = 8, classes: int = 4) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, embedding_table=Normal(1.0))
        self.conv3 = nn.Conv1d(dim, channels, 3, pad_mode="valid", has_bias=True)
        self.conv4 = nn.Conv1d(dim, channels, 4, pad_mode="valid", has_bias=True)
        self.conv5 = nn.Conv1d(dim, channels, 5, pad_mode="valid", has_bias=True)
        self.relu = nn.ReLU()
        self.dropout = nn.Dropout(p=0.5)
        self.fc = nn.Dense(3 * channels, classes)
        self.embedding.embedding_table.requires_grad = False

    def construct(self, tokens: Tensor) -> Tensor:
        x = ops.transpose(self.embedding(tokens), (0, 2, 1))
        three = ops.amax(self.relu(self.conv3(x)), 2)
        four = ops.amax(self.relu(self.conv4(x)), 2)
        five = ops.amax(self.relu(self.conv5(x)), 2)
        return self.fc(self.dropout(ops.concat((three, four, five), axis=1)))


def build() -> nn.Cell:
    return TextCNN()
