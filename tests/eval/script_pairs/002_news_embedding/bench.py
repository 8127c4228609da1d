# news topic classification with averaged word embeddings
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

cfg = dict(vocab=500, dim=32, classes=4, seq_len=24, batch_size=16, epochs=3, lr=5e-3, weight_decay=1e-4)


def load_split(n, seed):
    """documents sorted by topic, as they come out of the topic folders"""
    rng = np.random.RandomState(seed)
    labels = np.sort(rng.randint(0, cfg["classes"], n))
    ids = np.zeros((n, cfg["seq_len"]), dtype=np.int64)
    for i, c in enumerate(labels):
        length = rng.randint(8, cfg["seq_len"] + 1)
        topical = rng.randint(1 + c * 100, 101 + c * 100, length)
        common = rng.randint(400, cfg["vocab"], length)
        ids[i, :length] = np.where(rng.rand(length) < 0.3, topical, common)
    return ids, labels.astype(np.int64)


class TopicNet(nn.Module):
    def __init__(self, vocab, dim, classes):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.hidden = nn.Linear(dim, 64)
        self.out = nn.Linear(64, classes)

    def forward(self, ids):
        mask = (ids != 0).float().unsqueeze(-1)
        vectors = self.embedding(ids) * mask
        doc = vectors.sum(1) / mask.sum(1).clamp(min=1.0)
        return self.out(torch.tanh(self.hidden(doc)))


def accuracy(model, loader):
    model.eval()
    correct = 0
    count = 0
    with torch.no_grad():
        for ids, y in loader:
            correct += (model(ids).argmax(-1) == y).sum().item()
            count += y.numel()
    return correct / count


torch.manual_seed(0)
train_x, train_y = load_split(320, 0)
test_x, test_y = load_split(80, 1)
train_set = TensorDataset(torch.from_numpy(train_x), torch.from_numpy(train_y))
test_set = TensorDataset(torch.from_numpy(test_x), torch.from_numpy(test_y))
train_loader = DataLoader(train_set, batch_size=cfg["batch_size"], shuffle=True)
test_loader = DataLoader(test_set, batch_size=cfg["batch_size"], shuffle=False)

model = TopicNet(cfg["vocab"], cfg["dim"], cfg["classes"])
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"], weight_decay=cfg["weight_decay"])

for epoch in range(cfg["epochs"]):
    model.train()
    losses = []
    for ids, y in train_loader:
        opt.zero_grad()
        loss = criterion(model(ids), y)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    print("epoch %d  loss %.4f  acc %.4f" % (epoch, np.mean(losses), accuracy(model, test_loader)))
