"""A text classifier in MindSpore: embedding, bidirectional two-layer LSTM or GRU, dense layers."""

from __future__ import annotations

from mindspore import Tensor, nn, ops


class TextClassifier(nn.Cell):
    def __init__(self, cell: str = "lstm", vocab: int = 40, embed: int = 12, hidden: int = 10) -> None:
        super().__init__()
        recurrent = nn.LSTM if cell == "lstm" else nn.GRU
        self.embedding = nn.Embedding(vocab, embed, padding_idx=0)
        self.rnn = recurrent(embed, hidden, num_layers=2, bidirectional=True, batch_first=True, dropout=0.3)
        self.norm = nn.LayerNorm((2 * hidden,), epsilon=1e-5)
        self.fc = nn.Dense(2 * hidden, hidden)
        self.out = nn.Dense(hidden, 3)

    def construct(self, tokens: Tensor) -> Tensor:
        states, last = self.rnn(self.embedding(tokens))
        hidden = last[0] if isinstance(last, tuple) else last
        both = ops.concat((hidden[-2], hidden[-1]), axis=1) + ops.mean(states, 1)
        return self.out(ops.tanh(self.fc(self.norm(both))))


class Tagger(nn.Cell):
    """One LSTM over another, each of one direction and without an embedding: labels for a row of measurements."""

    def __init__(self, features: int = 6, hidden: int = 8) -> None:
        super().__init__()
        self.encoder = nn.LSTM(features, hidden, batch_first=True)
        self.decoder = nn.LSTM(hidden, hidden, batch_first=True, has_bias=False)
        self.head = nn.SequentialCell(nn.Dense(hidden, hidden), nn.ReLU(), nn.Dense(hidden, 4, has_bias=False))

    def construct(self, x: Tensor) -> Tensor:
        x, _ = self.encoder(x)
        x, _ = self.decoder(x)
        return self.head(x)


def build() -> nn.Cell:
    """Bidirectional two-layer LSTM."""
    return TextClassifier()


def build_gru() -> nn.Cell:
    """Bidirectional two-layer GRU."""
    return TextClassifier("gru")


def build_tagger() -> nn.Cell:
    """Two LSTMs of one direction, the second without biases."""
    return Tagger()
