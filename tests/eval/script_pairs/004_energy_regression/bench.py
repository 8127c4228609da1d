"""Building energy regression on tabular features."""
import numpy as np
import torch
from torch import nn

CONFIG = {
    "features": 12,
    "hidden": [64, 32],
    "batch_size": 32,
    "epochs": 5,
    "lr": 1e-3,
    "val_ratio": 0.2,
}


def read_table(n=400):
    rng = np.random.RandomState(11)
    scale = np.logspace(-2, 3, CONFIG["features"])
    offset = rng.randn(CONFIG["features"]) * scale
    z = rng.randn(n, CONFIG["features"])
    target = z @ rng.randn(CONFIG["features"]) + 0.5 * np.sin(3 * z[:, 0]) + 0.1 * rng.randn(n)
    return (z * scale + offset).astype(np.float32), target.astype(np.float32)[:, None]


class Scaler:
    """column-wise standardisation fitted on the training rows"""

    def fit(self, x):
        self.mean = x.mean(axis=0, keepdims=True)
        self.std = x.std(axis=0, keepdims=True) + 1e-8
        return self

    def __call__(self, x):
        return (x - self.mean) / self.std


class Regressor(nn.Module):
    def __init__(self, cin, hidden):
        super().__init__()
        layers = []
        for h in hidden:
            layers += [nn.Linear(cin, h), nn.ReLU()]
            cin = h
        layers.append(nn.Linear(cin, 1))
        self.net = nn.Sequential(*layers)

    def forward(self, x):
        return self.net(x)


def batches(x, y, size, rng):
    order = rng.permutation(len(x))
    for i in range(0, len(order), size):
        j = order[i:i + size]
        yield torch.from_numpy(x[j]), torch.from_numpy(y[j])


def main():
    x, y = read_table()
    n_val = int(len(x) * CONFIG["val_ratio"])
    x_val, y_val, x_train, y_train = x[:n_val], y[:n_val], x[n_val:], y[n_val:]
    scaler = Scaler().fit(x_train)
    x_train, x_val = scaler(x_train), scaler(x_val)
    torch.manual_seed(5)
    model = Regressor(CONFIG["features"], CONFIG["hidden"])
    optimizer = torch.optim.Adam(model.parameters(), lr=CONFIG["lr"])
    criterion = nn.MSELoss()
    rng = np.random.RandomState(0)
    for epoch in range(CONFIG["epochs"]):
        running = 0.0
        for xb, yb in batches(x_train, y_train, CONFIG["batch_size"], rng):
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            running += loss.item() * len(xb)
        with torch.no_grad():
            val = criterion(model(torch.from_numpy(x_val)), torch.from_numpy(y_val)).item()
        print(f"epoch {epoch + 1}: train {running / len(x_train):.4f} val {val:.4f}")


if __name__ == "__main__":
    main()
