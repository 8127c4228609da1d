"""GRU encoder and decoder with additive attention, in torch."""

import torch
from torch import nn


class EncoderRNN(nn.Module):
    """Reads the source from both ends."""

    def __init__(self, vocab: int, emb: int, hidden: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.drop = nn.Dropout(0.2)
        self.rnn = nn.GRU(emb, hidden, batch_first=True, bidirectional=True)
        self.bridge = nn.Sequential(nn.Linear(2 * hidden, hidden), nn.Tanh())

    def forward(self, src: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Outputs at each place, and the decoder's first state."""
        outputs, state = self.rnn(self.drop(self.embed(src)))
        return outputs, self.bridge(torch.cat((state[0], state[1]), dim=1))


class BahdanauAttention(nn.Module):
    """Weights over the source."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.key_layer = nn.Linear(2 * hidden, hidden, bias=False)
        self.query_layer = nn.Linear(hidden, hidden)
        self.energy_layer = nn.Linear(hidden, 1, bias=False)

    def forward(self, query: torch.Tensor, memory: torch.Tensor, pad: torch.Tensor) -> torch.Tensor:
        """The context."""
        scores = self.energy_layer(torch.tanh(self.query_layer(query).unsqueeze(1) + self.key_layer(memory)))
        scores = scores.squeeze(-1).masked_fill(pad, -1e9)
        weights = torch.softmax(scores, dim=-1)
        return torch.bmm(weights.unsqueeze(1), memory).squeeze(1)


class DecoderRNN(nn.Module):
    """One token after another, with the attended source."""

    def __init__(self, vocab: int, emb: int, hidden: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.drop = nn.Dropout(0.2)
        self.attention = BahdanauAttention(hidden)
        self.rnn = nn.GRUCell(emb + 2 * hidden, hidden)
        self.generator = nn.Linear(emb + 3 * hidden, vocab)

    def forward(
        self, token: torch.Tensor, state: torch.Tensor, memory: torch.Tensor, pad: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits of the next token, and the next state."""
        embedded = self.drop(self.embed(token))
        context = self.attention(state, memory, pad)
        state = self.rnn(torch.cat((embedded, context), dim=-1), state)
        return self.generator(torch.cat((state, context, embedded), dim=-1)), state


class Seq2Seq(nn.Module):
    """Encoder and decoder, fed with the true target."""

    def __init__(self, vocab: int = 40, emb: int = 12, hidden: int = 16) -> None:
        super().__init__()
        self.encoder = EncoderRNN(vocab, emb, hidden)
        self.decoder = DecoderRNN(vocab, emb, hidden)

    def forward(self, src: torch.Tensor, tgt: torch.Tensor) -> torch.Tensor:
        """(B, T, vocab)."""
        pad = src == 0
        memory, state = self.encoder(src)
        steps = []
        for i in range(tgt.shape[1]):
            logits, state = self.decoder(tgt[:, i], state, memory, pad)
            steps.append(logits)
        return torch.stack(steps, dim=1)


def build() -> nn.Module:
    """The network."""
    return Seq2Seq()
