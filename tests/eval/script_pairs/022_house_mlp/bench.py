"""House price model (tabular)."""
import numpy as np
import torch
from torch import nn


def load():
    rng = np.random.RandomState(123)
    n = 360
    area = rng.uniform(40, 300, n)
    rooms = rng.randint(1, 8, n)
    age = rng.uniform(0, 100, n)
    dist = rng.exponential(8, n)
    extra = rng.standard_normal((n, 4))
    price = 3000 * area + 10000 * rooms - 500 * age - 4000 * dist + 8000 * extra[:, 0] + 5000 * rng.standard_normal(n)
    x = np.column_stack([area, rooms, age, dist, extra])
    return x, np.log(np.maximum(price, 10000))


class PriceNet(nn.Module):
    def __init__(self, in_features, hidden, p):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, 1)
        self.drop = nn.Dropout(p)

    def forward(self, x):
        h = torch.relu(self.fc1(x))
        h = self.drop(h)
        h = torch.relu(self.fc2(h))
        h = self.drop(h)
        return self.fc3(h).squeeze(1)


def rmse(model, x, y):
    model.eval()
    with torch.no_grad():
        out = model(torch.tensor(x))
        return torch.sqrt(torch.mean((out - torch.tensor(y)) ** 2)).item()


def main():
    torch.manual_seed(9)
    x, y = load()
    x_train, x_test = x[:300], x[300:]
    y_train, y_test = y[:300], y[300:]
    mu, sigma = x_train.mean(axis=0), x_train.std(axis=0)
    ym, ys = y_train.mean(), y_train.std()
    x_train = ((x_train - mu) / sigma).astype(np.float32)
    x_test = ((x_test - mu) / sigma).astype(np.float32)
    y_train = ((y_train - ym) / ys).astype(np.float32)
    y_test = ((y_test - ym) / ys).astype(np.float32)

    model = PriceNet(8, 32, 0.1)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
    criterion = nn.SmoothL1Loss()
    order = np.random.RandomState(77)
    for epoch in range(6):
        model.train()
        idx = order.permutation(len(x_train))
        epoch_loss = 0.0
        for i in range(0, len(idx), 32):
            b = idx[i:i + 32]
            optimizer.zero_grad()
            loss = criterion(model(torch.tensor(x_train[b])), torch.tensor(y_train[b]))
            loss.backward()
            optimizer.step()
            epoch_loss += loss.item() * len(b)
        print(f"epoch {epoch}: loss {epoch_loss / len(idx):.5f} rmse {rmse(model, x_test, y_test):.5f}")


if __name__ == "__main__":
    main()
