from mindspore import nn
from mindspore.common.initializer import Normal


class MeanPoolClassifier(nn.Cell):
    def __init__(self, vocab_size, dim=16, num_labels=2):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, embedding_table=Normal(0.3), padding_idx=0)
        self.dropout = nn.Dropout(p=0.1)
        self.classifier = nn.Dense(dim, num_labels)
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")

    def construct(self, input_ids, attention_mask, labels):
        weight = attention_mask.expand_dims(-1)
        # mean over the real words of each review (axis 1), not over the padding
        pooled = (self.embed(input_ids) * weight).sum(axis=1) / weight.sum(axis=1)
        logits = self.classifier(self.dropout(pooled))
        return self.loss(logits, labels), logits
