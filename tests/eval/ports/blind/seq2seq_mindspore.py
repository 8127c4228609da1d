"""GRU encoder and decoder with additive attention, in MindSpore."""

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Normal


class Encoder(nn.Cell):
    """Reads the source from both ends."""

    def __init__(self, vocab: int, emb: int, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb, embedding_table=Normal(1.0))
        self.dropout = nn.Dropout(p=0.2)
        self.gru = nn.GRU(emb, hidden, num_layers=1, batch_first=True, bidirectional=True)
        self.fc = nn.Dense(2 * hidden, hidden)

    def construct(self, src: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs at each place, and the decoder's first state."""
        x = self.dropout(self.embedding(src))
        outputs, state = self.gru(x)
        state = ops.tanh(self.fc(ops.cat((state[0], state[1]), 1)))
        return outputs, state


class Attention(nn.Cell):
    """Bahdanau's weights over the source."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.w_memory = nn.Dense(2 * hidden, hidden, has_bias=False)
        self.w_query = nn.Dense(hidden, hidden)
        self.v = nn.Dense(hidden, 1, has_bias=False)

    def construct(self, query: Tensor, memory: Tensor, pad: Tensor) -> Tensor:
        """The context."""
        energy = ops.tanh(self.w_memory(memory) + self.w_query(query).expand_dims(1))
        scores = self.v(energy).squeeze(-1)
        scores = ops.masked_fill(scores, pad, -1e9)
        weights = ops.softmax(scores, -1)
        return ops.bmm(weights.expand_dims(1), memory).squeeze(1)


class Decoder(nn.Cell):
    """One token after another, with the attended source."""

    def __init__(self, vocab: int, emb: int, hidden: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb, embedding_table=Normal(1.0))
        self.attention = Attention(hidden)
        self.cell = nn.GRUCell(emb + 2 * hidden, hidden)
        self.out = nn.Dense(emb + 3 * hidden, vocab)
        self.dropout = nn.Dropout(p=0.2)

    def construct(self, token: Tensor, state: Tensor, memory: Tensor, pad: Tensor) -> tuple[Tensor, Tensor]:
        """Logits of the next token, and the next state."""
        emb = self.dropout(self.embedding(token))
        context = self.attention(state, memory, pad)
        state = self.cell(ops.cat((emb, context), -1), state)
        return self.out(ops.cat((state, context, emb), -1)), state


class Seq2Seq(nn.Cell):
    """Encoder and decoder, fed with the true target."""

    def __init__(self, vocab: int = 40, emb: int = 12, hidden: int = 16) -> None:
        super().__init__()
        self.encoder = Encoder(vocab, emb, hidden)
        self.decoder = Decoder(vocab, emb, hidden)

    def construct(self, src: Tensor, tgt: Tensor) -> Tensor:
        """(B, T, vocab)."""
        pad = src.astype(ms.int32) == 0
        memory, state = self.encoder(src)
        logits = []
        for i in range(tgt.shape[1]):
            step, state = self.decoder(tgt[:, i], state, memory, pad)
            logits.append(step)
        return ops.stack(logits, 1)


def build() -> nn.Cell:
    """The network."""
    return Seq2Seq()
