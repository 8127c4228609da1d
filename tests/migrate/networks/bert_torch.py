"""A BERT-like encoder in PyTorch with a masked-language head that shares the token embedding."""

from __future__ import annotations

import math

import torch
from torch import nn

VOCAB, LENGTH, HIDDEN, HEADS, LAYERS = 48, 16, 32, 4, 2


class BertEmbeddings(nn.Module):
    def __init__(self, position_ids: bool) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCAB, HIDDEN, padding_idx=0)
        self.position_embeddings = nn.Embedding(LENGTH, HIDDEN)
        self.token_type_embeddings = nn.Embedding(2, HIDDEN)
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("position_ids", torch.arange(LENGTH).unsqueeze(0), persistent=position_ids)

    def forward(self, input_ids: torch.Tensor, token_type_ids: torch.Tensor) -> torch.Tensor:
        positions = self.position_embeddings(self.position_ids[:, : input_ids.shape[1]])
        embeddings = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids) + positions
        return self.dropout(self.LayerNorm(embeddings))


class BertSelfAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Linear(HIDDEN, HIDDEN)
        self.key = nn.Linear(HIDDEN, HIDDEN)
        self.value = nn.Linear(HIDDEN, HIDDEN)

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(x.shape[0], x.shape[1], HEADS, HIDDEN // HEADS).permute(0, 2, 1, 3)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        query, key, value = self._heads(self.query(x)), self._heads(self.key(x)), self._heads(self.value(x))
        scores = query @ key.transpose(-1, -2) / math.sqrt(HIDDEN // HEADS) + mask
        context = scores.softmax(dim=-1) @ value
        return context.permute(0, 2, 1, 3).reshape(x.shape)


class BertOutput(nn.Module):
    """Back to the hidden size, residual added, normalised."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.dense = nn.Linear(size, HIDDEN)
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor, residual: torch.Tensor) -> torch.Tensor:
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class BertAttention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.self = BertSelfAttention()
        self.output = BertOutput(HIDDEN)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.output(self.self(x, mask), x)


class BertIntermediate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(HIDDEN, 2 * HIDDEN)
        self.intermediate_act_fn = nn.GELU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.intermediate_act_fn(self.dense(x))


class BertLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = BertAttention()
        self.intermediate = BertIntermediate()
        self.output = BertOutput(2 * HIDDEN)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class BertEncoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.ModuleList([BertLayer() for _ in range(LAYERS)])

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        for layer in self.layer:
            x = layer(x, mask)
        return x


class BertPooler(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(HIDDEN, HIDDEN)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.dense(x[:, 0]))


class BertModel(nn.Module):
    def __init__(self, position_ids: bool) -> None:
        super().__init__()
        self.embeddings = BertEmbeddings(position_ids)
        self.encoder = BertEncoder()
        self.pooler = BertPooler()

    def forward(
        self, input_ids: torch.Tensor, token_type_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        mask = (1.0 - attention_mask[:, None, None, :].to(torch.float32)) * -10000.0
        x = self.encoder(self.embeddings(input_ids, token_type_ids), mask)
        return x, self.pooler(x)


class BertPredictionHeadTransform(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Linear(HIDDEN, HIDDEN)
        self.transform_act_fn = nn.GELU()
        self.LayerNorm = nn.LayerNorm(HIDDEN, eps=1e-12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.LayerNorm(self.transform_act_fn(self.dense(x)))


class BertLMPredictionHead(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.transform = BertPredictionHeadTransform()
        self.decoder = nn.Linear(HIDDEN, VOCAB, bias=False)
        self.bias = nn.Parameter(torch.zeros(VOCAB))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.transform(x)) + self.bias


class BertPreTrainingHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.predictions = BertLMPredictionHead()
        self.seq_relationship = nn.Linear(HIDDEN, 2)

    def forward(self, x: torch.Tensor, pooled: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.predictions(x), self.seq_relationship(pooled)


class BertForPreTraining(nn.Module):
    def __init__(self, tied: bool = True, position_ids: bool = False) -> None:
        super().__init__()
        self.bert = BertModel(position_ids)
        self.cls = BertPreTrainingHeads()
        if tied:
            self.cls.predictions.decoder.weight = self.bert.embeddings.word_embeddings.weight

    def forward(
        self, input_ids: torch.Tensor, token_type_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return self.cls(*self.bert(input_ids, token_type_ids, attention_mask))


def build() -> nn.Module:
    """The decoder is the token embedding: the file has it under both names."""
    return BertForPreTraining()


def build_untied() -> nn.Module:
    """The decoder has weights of its own, of the token embedding's shape and like it without a bias."""
    return BertForPreTraining(tied=False)


def build_position_ids() -> nn.Module:
    """Its file also has the buffer of position numbers that older libraries kept."""
    return BertForPreTraining(position_ids=True)
