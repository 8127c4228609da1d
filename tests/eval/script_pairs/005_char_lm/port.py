import argparse
import math

import numpy as np
import mindspore as ms
from mindspore import Tensor, nn
from mindspore.common.initializer import Uniform


def get_args():
    p = argparse.ArgumentParser(description="character language model")
    p.add_argument("--vocab", type=int, default=40)
    p.add_argument("--emsize", type=int, default=24)
    p.add_argument("--nhid", type=int, default=48)
    p.add_argument("--bptt", type=int, default=16)
    p.add_argument("--batch_size", type=int, default=10)
    p.add_argument("--lr", type=float, default=2.0)
    p.add_argument("--clip", type=float, default=0.25)
    p.add_argument("--dropout", type=float, default=0.2)
    p.add_argument("--epochs", type=int, default=2)
    return p.parse_args()


def corpus(n, vocab, seed):
    rng = np.random.RandomState(seed)
    nxt = np.random.RandomState(99).permutation(vocab)
    out = [0]
    for _ in range(n - 1):
        out.append(int(nxt[out[-1]]) if rng.rand(1)[0] < 0.8 else rng.randint(vocab))
    return np.array(out, dtype=np.int32)


def batchify(data, bsz):
    n = len(data) // bsz
    return data[:n * bsz].reshape(bsz, n).T.copy()


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    return Tensor(source[i:i + seq_len]), Tensor(source[i + 1:i + 1 + seq_len].reshape(-1))


class RNNModel(nn.Cell):
    def __init__(self, args):
        super().__init__()
        self.drop = nn.Dropout(args.dropout)
        self.encoder = nn.Embedding(args.vocab, args.emsize, embedding_table=Uniform(0.1))
        self.rnn = nn.LSTM(args.emsize, args.nhid)
        self.decoder = nn.Dense(args.nhid, args.vocab, weight_init=Uniform(0.1), bias_init="zeros")
        self.vocab = args.vocab

    def construct(self, tokens):
        emb = self.drop(self.encoder(tokens))
        output, _ = self.rnn(emb)
        return self.decoder(self.drop(output)).view(-1, self.vocab)


def evaluate(model, source, bptt, criterion):
    model.set_train(False)
    total = 0.0
    for i in range(0, len(source) - 1, bptt):
        x, y = get_batch(source, i, bptt)
        total += len(x) * float(criterion(model(x), y))
    return total / (len(source) - 1)


def train(model, source, args, grad_fn, optimizer):
    model.set_train(True)
    total, n = 0.0, 0
    for i in range(0, len(source) - 1, args.bptt):
        x, y = get_batch(source, i, args.bptt)
        loss, grads = grad_fn(x, y)
        optimizer(grads)
        total += float(loss)
        n += 1
    return total / n


if __name__ == "__main__":
    args = get_args()
    ms.set_seed(1111)
    train_data = batchify(corpus(4000, args.vocab, 0), args.batch_size)
    val_data = batchify(corpus(600, args.vocab, 1), args.batch_size)
    model = RNNModel(args)
    criterion = nn.CrossEntropyLoss()
    optimizer = nn.SGD(model.trainable_params(), learning_rate=args.lr)
    grad_fn = ms.value_and_grad(lambda x, y: criterion(model(x), y), None, optimizer.parameters)
    for epoch in range(1, args.epochs + 1):
        loss = train(model, train_data, args, grad_fn, optimizer)
        val = evaluate(model, val_data, args.bptt, criterion)
        print(f"| epoch {epoch} | loss {loss:.4f} | valid ppl {math.exp(val):.3f}")
