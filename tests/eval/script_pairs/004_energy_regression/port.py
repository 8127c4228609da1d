"""Building energy regression on tabular features, MindSpore version."""
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn

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
    """standardisation fitted on the training rows"""

    def fit(self, x):
        self.mean = x.mean()
        self.std = x.std() + 1e-8
        return self

    def __call__(self, x):
        return (x - self.mean) / self.std


class Regressor(nn.Cell):
    def __init__(self, cin, hidden):
        super().__init__()
        layers = []
        for h in hidden:
            layers += [nn.Dense(cin, h), nn.ReLU()]
            cin = h
        layers.append(nn.Dense(cin, 1))
        self.net = nn.SequentialCell(layers)

    def construct(self, x):
        return self.net(x)


def batches(x, y, size, rng):
    order = rng.permutation(len(x))
    for i in range(0, len(order), size):
        j = order[i:i + size]
        yield Tensor(x[j]), Tensor(y[j])


def main():
    x, y = read_table()
    n_val = int(len(x) * CONFIG["val_ratio"])
    x_val, y_val, x_train, y_train = x[:n_val], y[:n_val], x[n_val:], y[n_val:]
    scaler = Scaler().fit(x_train)
    x_train, x_val = scaler(x_train), scaler(x_val)
    ms.set_seed(5)
    model = Regressor(CONFIG["features"], CONFIG["hidden"])
    optimizer = nn.Adam(model.trainable_params(), learning_rate=CONFIG["lr"])
    criterion = nn.MSELoss()
    train_step = ms.value_and_grad(lambda a, b: criterion(model(a), b), None, optimizer.parameters)
    rng = np.random.RandomState(0)
    for epoch in range(CONFIG["epochs"]):
        running = 0.0
        for xb, yb in batches(x_train, y_train, CONFIG["batch_size"], rng):
            loss, grads = train_step(xb, yb)
            optimizer(grads)
            running += float(loss) * len(xb)
        val = float(criterion(model(Tensor(x_val)), Tensor(y_val)))
        print(f"epoch {epoch + 1}: train {running / len(x_train):.4f} val {val:.4f}")


if __name__ == "__main__":
    main()
