"""A bidirectional LSTM tagger (Huang et al. 2015) in MindSpore, here the benchmark."""

from __future__ import annotations

from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal


class Tagger(nn.Cell):
    def __init__(self, vocab: int = 30, embed: int = 12, hidden: int = 16, tags: int = 5) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, embed, embedding_table=Normal(1.0))
        self.lstm = nn.LSTM(embed, hidden, num_layers=2, bidirectional=True, batch_first=True, dropout=0.2)
        self.norm = nn.LayerNorm((2 * hidden,), epsilon=1e-5)
        self.dropout = nn.Dropout(p=0.3)
        self.hidden = nn.Dense(2 * hidden, hidden)
        self.tags = nn.Dense(hidden, tags)

    def construct(self, tokens: Tensor) -> Tensor:
        states, _ = self.lstm(self.embedding(tokens))
        x = self.dropout(self.norm(states))
        return self.tags(ops.tanh(self.hidden(x)))


def build() -> nn.Cell:
    return Tagger()
