"""Word-level language model with an LSTM. MindSpore."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.common.initializer import Uniform

VOCAB = 64
DIM = 32
SEQ = 12
BATCH = 16
STEPS = 30


def sentences(n, seed):
    rng = np.random.RandomState(seed)
    jump = np.random.RandomState(40).permutation(VOCAB)
    out = np.zeros((n, SEQ + 1), dtype=np.int32)
    out[:, 0] = rng.randint(0, VOCAB, n)
    for t in range(SEQ):
        follow = rng.uniform(size=n) < 0.85
        out[:, t + 1] = np.where(follow, jump[out[:, t]], rng.randint(0, VOCAB, n))
    return out


class LanguageModel(nn.Cell):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM, embedding_table=Uniform(0.1))
        self.lstm = nn.LSTM(DIM, DIM, batch_first=True)
        self.decoder = nn.Dense(DIM, VOCAB, weight_init=Uniform(0.1), bias_init="zeros")

    def construct(self, tokens):
        h, _ = self.lstm(self.embed(tokens))
        return self.decoder(h)


def perplexity(model, data, criterion):
    model.set_train(False)
    t = Tensor(data)
    loss = criterion(model(t[:, :-1]).reshape(-1, VOCAB), t[:, 1:].reshape(-1))
    return float(ops.exp(loss))


if __name__ == "__main__":
    ms.set_seed(0)
    train, valid = sentences(800, 0), sentences(100, 1)
    model = LanguageModel()
    criterion = nn.CrossEntropyLoss()
    optimizer = nn.Adam(model.trainable_params(), learning_rate=1e-2)

    def forward(batch):
        logits = model(batch[:, :-1])
        return criterion(logits.reshape(-1, VOCAB), batch[:, 1:].reshape(-1))

    grad_fn = ms.value_and_grad(forward, None, optimizer.parameters)
    rng = np.random.RandomState(5)
    for step in range(1, STEPS + 1):
        model.set_train()
        batch = Tensor(train[rng.randint(0, len(train), BATCH)])
        loss, grads = grad_fn(batch)
        grads = tuple(ops.clip_by_norm(g, 1.0) for g in grads)
        optimizer(grads)
        if step % 10 == 0:
            print(f"step {step} loss {float(loss):.4f} ppl {perplexity(model, valid, criterion):.3f}")
