"""Fine-tune a bag-of-words classifier on pretrained word vectors."""

from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VECTORS = Path(__file__).with_name("word_vectors.npy")


class BagOfWords(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.words = nn.Embedding(*vectors.shape)
        self.words.weight.data.copy_(torch.from_numpy(vectors))
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Sequential(nn.Linear(vectors.shape[1], 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, tokens):
        vec = self.words(tokens)
        return self.fc(self.drop(vec.mean(dim=1)))


def dataset():
    rng = np.random.default_rng(8)
    tokens = rng.integers(0, 50, (64, 6))
    tokens[tokens == 37] = 5
    tokens[43, 2] = 37
    tokens[60, 1] = 37
    labels = rng.integers(0, 2, 64)
    return TensorDataset(torch.from_numpy(tokens), torch.from_numpy(labels))


def main():
    torch.manual_seed(0)
    net = BagOfWords(np.load(VECTORS))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss_fn = nn.CrossEntropyLoss()
    net.train()
    for step, (tokens, labels) in enumerate(DataLoader(dataset(), batch_size=8)):
        loss = loss_fn(net(tokens), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, round(loss.item(), 4))


if __name__ == "__main__":
    main()
