"""Music genre classification from averaged audio descriptors (first version)."""
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

GENRES = ["rock", "jazz", "classical", "hiphop", "folk", "electro"]


def read_tracks(n, seed):
    rng = np.random.RandomState(seed)
    centre = np.random.RandomState(70).standard_normal((len(GENRES), 26))
    rows = []
    for _ in range(n):
        g = rng.randint(len(GENRES))
        rows.append((GENRES[g], centre[g] * 12 + 10 * rng.standard_normal(26) + 30))
    return rows


class TrackDataset(Dataset):
    def __init__(self, rows, classes, mean, std):
        self.rows = rows
        self.index = {name: i for i, name in enumerate(classes)}
        self.mean, self.std = mean, std

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        name, feat = self.rows[i]
        return ((feat - self.mean) / self.std).astype(np.float32), self.index[name]


class MLP(nn.Module):
    def __init__(self, cin, classes):
        super().__init__()
        self.fc1 = nn.Linear(cin, 40)
        self.fc2 = nn.Linear(40, 40)
        self.fc3 = nn.Linear(40, classes)
        self.drop = nn.Dropout(0.2)

    def forward(self, x):
        x = torch.relu(self.fc1(x))
        x = self.drop(torch.relu(self.fc2(x)))
        return self.fc3(x)


def main():
    torch.manual_seed(33)
    train_rows, test_rows = read_tracks(150, 0), read_tracks(60, 1)
    classes = sorted({name for name, _ in train_rows})
    feats = np.stack([f for _, f in train_rows])
    mean, std = feats.mean(0), feats.std(0)
    train_loader = DataLoader(TrackDataset(train_rows, classes, mean, std), batch_size=64, shuffle=True)
    test_loader = DataLoader(TrackDataset(test_rows, classes, mean, std), batch_size=64)
    model = MLP(26, len(classes))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(8):
        model.train()
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        hits, n = 0, 0
        with torch.no_grad():
            for x, y in test_loader:
                hits += (model(x).argmax(1) == y).sum().item()
                n += len(y)
        print(f"epoch {epoch} loss {loss.item():.4f} test acc {hits / n:.4f}")


if __name__ == "__main__":
    main()
