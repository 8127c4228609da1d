import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab_size", default=300, type=int)
    parser.add_argument("--embed_dim", default=24, type=int)
    parser.add_argument("--hidden", default=32, type=int)
    parser.add_argument("--max_len", default=18, type=int)
    parser.add_argument("--batch_size", default=32, type=int)
    parser.add_argument("--lr", default=0.3, type=float)
    parser.add_argument("--max_norm", default=1.0, type=float)
    parser.add_argument("--epochs", default=3, type=int)
    return parser.parse_args()


def corpus(n, args, seed):
    rng = np.random.RandomState(seed)
    label = rng.randint(0, 2, n)
    ids = np.zeros((n, args.max_len), dtype=np.int64)
    lens = rng.randint(6, args.max_len + 1, n)
    for i in range(n):
        words = rng.randint(40, args.vocab_size, lens[i])
        hot = rng.permutation(lens[i])[:4]
        words[hot] = rng.randint(1, 20, 4) + 20 * label[i]
        ids[i, :lens[i]] = words
    return ids, lens.astype(np.int64), label.astype(np.float32)


class SentimentLSTM(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.lstm = nn.LSTM(embed_dim, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, ids, lens):
        out, _ = self.lstm(self.embedding(ids))
        last = out[torch.arange(len(ids)), lens - 1]
        return self.fc(last).squeeze(-1)


def main():
    args = get_args()
    torch.manual_seed(0)
    train = TensorDataset(*map(torch.from_numpy, corpus(320, args, 0)))
    test = TensorDataset(*map(torch.from_numpy, corpus(96, args, 1)))
    train_loader = DataLoader(train, batch_size=args.batch_size, shuffle=True, drop_last=True)
    test_loader = DataLoader(test, batch_size=args.batch_size)
    model = SentimentLSTM(args.vocab_size, args.embed_dim, args.hidden)
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    for epoch in range(args.epochs):
        model.train()
        total = 0
        for ids, lens, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(ids, lens), y)
            loss.backward()
            clip_grad_norm_(model.parameters(), args.max_norm)
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            right = sum(((torch.sigmoid(model(i, n)) > 0.5).float() == y).sum().item() for i, n, y in test_loader)
        print(f"Epoch {epoch + 1} | loss {total / len(train_loader):.4f} | acc {right / len(test):.4f}")


if __name__ == "__main__":
    main()
