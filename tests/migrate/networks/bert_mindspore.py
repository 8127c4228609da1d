"""A BERT-like encoder in MindSpore with a masked-language head that shares the token embedding."""

from __future__ import annotations

import math

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import initializer

VOCAB, LENGTH, HIDDEN, HEADS, LAYERS = 48, 16, 32, 4, 2


class BertEmbeddings(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCAB, HIDDEN, padding_idx=0)
        self.position_embeddings = nn.Embedding(LENGTH, HIDDEN)
        self.token_type_embeddings = nn.Embedding(2, HIDDEN)
        self.LayerNorm = nn.LayerNorm((HIDDEN,), epsilon=1e-12)
        self.dropout = nn.Dropout(p=0.1)
        self.position_ids = Tensor(np.arange(LENGTH)[None], ms.int32)

    def construct(self, input_ids: Tensor, token_type_ids: Tensor) -> Tensor:
        positions = self.position_embeddings(self.position_ids[:, : input_ids.shape[1]])
        embeddings = self.word_embeddings(input_ids) + self.token_type_embeddings(token_type_ids) + positions
        return self.dropout(self.LayerNorm(embeddings))


class BertSelfAttention(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.query = nn.Dense(HIDDEN, HIDDEN)
        self.key = nn.Dense(HIDDEN, HIDDEN)
        self.value = nn.Dense(HIDDEN, HIDDEN)
        self.softmax = nn.Softmax(axis=-1)

    def _heads(self, x: Tensor) -> Tensor:
        return ops.transpose(ops.reshape(x, (x.shape[0], x.shape[1], HEADS, HIDDEN // HEADS)), (0, 2, 1, 3))

    def construct(self, x: Tensor, mask: Tensor) -> Tensor:
        query, key, value = self._heads(self.query(x)), self._heads(self.key(x)), self._heads(self.value(x))
        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) / math.sqrt(HIDDEN // HEADS) + mask
        context = ops.matmul(self.softmax(scores), value)
        return ops.reshape(ops.transpose(context, (0, 2, 1, 3)), x.shape)


class BertOutput(nn.Cell):
    """Back to the hidden size, residual added, normalised."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.dense = nn.Dense(size, HIDDEN)
        self.LayerNorm = nn.LayerNorm((HIDDEN,), epsilon=1e-12)
        self.dropout = nn.Dropout(p=0.1)

    def construct(self, x: Tensor, residual: Tensor) -> Tensor:
        return self.LayerNorm(self.dropout(self.dense(x)) + residual)


class BertAttention(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.self = BertSelfAttention()
        self.output = BertOutput(HIDDEN)

    def construct(self, x: Tensor, mask: Tensor) -> Tensor:
        return self.output(self.self(x, mask), x)


class BertIntermediate(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(HIDDEN, 2 * HIDDEN)
        self.intermediate_act_fn = nn.GELU(approximate=False)

    def construct(self, x: Tensor) -> Tensor:
        return self.intermediate_act_fn(self.dense(x))


class BertLayer(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.attention = BertAttention()
        self.intermediate = BertIntermediate()
        self.output = BertOutput(2 * HIDDEN)

    def construct(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class BertEncoder(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.CellList([BertLayer() for _ in range(LAYERS)])

    def construct(self, x: Tensor, mask: Tensor) -> Tensor:
        for layer in self.layer:
            x = layer(x, mask)
        return x


class BertPooler(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(HIDDEN, HIDDEN, activation="tanh")

    def construct(self, x: Tensor) -> Tensor:
        return self.dense(x[:, 0])


class BertModel(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.embeddings = BertEmbeddings()
        self.encoder = BertEncoder()
        self.pooler = BertPooler()

    def construct(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        mask = (1.0 - ops.cast(attention_mask[:, None, None, :], ms.float32)) * -10000.0
        x = self.encoder(self.embeddings(input_ids, token_type_ids), mask)
        return x, self.pooler(x)


class BertPredictionHeadTransform(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(HIDDEN, HIDDEN)
        self.transform_act_fn = nn.GELU(approximate=False)
        self.LayerNorm = nn.LayerNorm((HIDDEN,), epsilon=1e-12)

    def construct(self, x: Tensor) -> Tensor:
        return self.LayerNorm(self.transform_act_fn(self.dense(x)))


class BertLMPredictionHead(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.transform = BertPredictionHeadTransform()
        self.decoder = nn.Dense(HIDDEN, VOCAB, has_bias=False)
        self.bias = Parameter(initializer("zeros", (VOCAB,), ms.float32))

    def construct(self, x: Tensor) -> Tensor:
        return self.decoder(self.transform(x)) + self.bias


class BertPreTrainingHeads(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.predictions = BertLMPredictionHead()
        self.seq_relationship = nn.Dense(HIDDEN, 2)

    def construct(self, x: Tensor, pooled: Tensor) -> tuple[Tensor, Tensor]:
        return self.predictions(x), self.seq_relationship(pooled)


class BertForPreTraining(nn.Cell):
    def __init__(self, tied: bool = True) -> None:
        super().__init__()
        self.bert = BertModel()
        self.cls = BertPreTrainingHeads()
        if tied:
            self.cls.predictions.decoder.weight = self.bert.embeddings.word_embeddings.embedding_table

    def construct(self, input_ids: Tensor, token_type_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        x, pooled = self.bert(input_ids, token_type_ids, attention_mask)
        return self.cls(x, pooled)


def build() -> nn.Cell:
    """The decoder is the token embedding: one parameter, under the embedding's name."""
    return BertForPreTraining()


def build_untied() -> nn.Cell:
    """The decoder has weights of its own, of the token embedding's shape and like it without a bias."""
    return BertForPreTraining(tied=False)
