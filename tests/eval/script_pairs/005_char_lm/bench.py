import argparse
import math

import numpy as np
import torch
import torch.nn as nn


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
    return np.array(out, dtype=np.int64)


def batchify(data, bsz):
    n = len(data) // bsz
    return data[:n * bsz].reshape(bsz, n).T.copy()


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i:i + seq_len], source[i + 1:i + 1 + seq_len].reshape(-1)


class RNNModel(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.drop = nn.Dropout(args.dropout)
        self.encoder = nn.Embedding(args.vocab, args.emsize)
        self.rnn = nn.LSTM(args.emsize, args.nhid)
        self.decoder = nn.Linear(args.nhid, args.vocab)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.uniform_(self.decoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        self.vocab = args.vocab

    def forward(self, tokens):
        emb = self.drop(self.encoder(tokens))
        output, _ = self.rnn(emb)
        return self.decoder(self.drop(output)).view(-1, self.vocab)


def evaluate(model, source, bptt, criterion):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for i in range(0, len(source) - 1, bptt):
            x, y = get_batch(source, i, bptt)
            total += len(x) * criterion(model(torch.from_numpy(x)), torch.from_numpy(y)).item()
    return total / (len(source) - 1)


def train(model, source, args, criterion, optimizer):
    model.train()
    total, n = 0.0, 0
    for i in range(0, len(source) - 1, args.bptt):
        x, y = get_batch(source, i, args.bptt)
        optimizer.zero_grad()
        loss = criterion(model(torch.from_numpy(x)), torch.from_numpy(y))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        optimizer.step()
        total += loss.item()
        n += 1
    return total / n


if __name__ == "__main__":
    args = get_args()
    torch.manual_seed(1111)
    train_data = batchify(corpus(4000, args.vocab, 0), args.batch_size)
    val_data = batchify(corpus(600, args.vocab, 1), args.batch_size)
    model = RNNModel(args)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        loss = train(model, train_data, args, criterion, optimizer)
        val = evaluate(model, val_data, args.bptt, criterion)
        print(f"| epoch {epoch} | loss {loss:.4f} | valid ppl {math.exp(val):.3f}")
