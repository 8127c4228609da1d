import numpy as np
import torch
import torch.nn as nn

USERS, ITEMS, DIM = 60, 120, 16
NUM_NEG = 4
EPOCHS = 2
BATCH_SIZE = 64


def interactions():
    rng = np.random.RandomState(2)
    taste = rng.randint(0, 6, USERS)
    genre = rng.randint(0, 6, ITEMS)
    pairs = []
    for u in range(USERS):
        liked = np.where(genre == taste[u])[0]
        for i in rng.permutation(liked)[:6]:
            pairs.append((u, i))
    test = {}
    train = []
    for u, i in pairs:
        if u not in test:
            test[u] = i
        else:
            train.append((u, i))
    return np.array(train), test


def sample_epoch(train, known, rng):
    """every positive with NUM_NEG unseen items"""
    users, items, labels = [], [], []
    for u, i in train:
        users.append(u)
        items.append(i)
        labels.append(1.0)
        for _ in range(NUM_NEG):
            j = rng.randint(ITEMS)
            while (u, j) in known:
                j = rng.randint(ITEMS)
            users.append(u)
            items.append(j)
            labels.append(0.0)
    order = rng.permutation(len(users))
    return np.array(users)[order], np.array(items)[order], np.array(labels, dtype=np.float32)[order]


class NCF(nn.Module):
    def __init__(self):
        super().__init__()
        self.user_emb = nn.Embedding(USERS, DIM)
        self.item_emb = nn.Embedding(ITEMS, DIM)
        self.mlp = nn.Sequential(nn.Linear(2 * DIM, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.predict = nn.Linear(16 + DIM, 1)
        nn.init.normal_(self.user_emb.weight, std=0.01)
        nn.init.normal_(self.item_emb.weight, std=0.01)

    def forward(self, user, item):
        u, i = self.user_emb(user), self.item_emb(item)
        gmf = u * i
        mlp = self.mlp(torch.cat([u, i], dim=-1))
        return self.predict(torch.cat([gmf, mlp], dim=-1)).squeeze(-1)


def hit_ratio(model, test, k=10):
    model.eval()
    hits = 0
    all_items = torch.arange(ITEMS)
    with torch.no_grad():
        for u, pos in test.items():
            scores = model(torch.full((ITEMS,), u, dtype=torch.long), all_items)
            hits += int(pos in torch.topk(scores, k).indices.tolist())
    return hits / len(test)


def main():
    torch.manual_seed(3)
    train, test = interactions()
    known = {(int(u), int(i)) for u, i in train}
    model = NCF()
    loss_fn = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    rng = np.random.RandomState(1)
    for epoch in range(EPOCHS):
        model.train()
        u, i, y = sample_epoch(train, known, rng)
        losses = []
        for s in range(0, len(u), BATCH_SIZE):
            e = s + BATCH_SIZE
            logit = model(torch.as_tensor(u[s:e]), torch.as_tensor(i[s:e]))
            loss = loss_fn(logit, torch.as_tensor(y[s:e]))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch:02d} loss {np.mean(losses):.4f} HR@10 {hit_ratio(model, test):.4f}")


main()
