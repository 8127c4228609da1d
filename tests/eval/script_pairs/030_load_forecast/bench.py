"""Electric load forecasting with an LSTM; gradients accumulated over two half batches."""
import numpy as np
import torch
from torch import nn


class Settings:
    window = 16
    horizon = 4
    hidden = 24
    half_batch = 16
    accumulate = 2
    epochs = 4
    lr = 0.1
    step_size = 2
    gamma = 0.2
    clip = 2.0


def load_curve(n=360):
    rng = np.random.RandomState(27)
    t = np.arange(n)
    return (100 + 30 * np.sin(t / 24 * 2 * np.pi) + 10 * np.sin(t / 168 * 2 * np.pi) + 3 * rng.standard_normal(n))


def make_windows(values):
    xs, ys = [], []
    for i in range(len(values) - Settings.window - Settings.horizon + 1):
        xs.append(values[i:i + Settings.window])
        ys.append(values[i + Settings.window:i + Settings.window + Settings.horizon])
    return np.array(xs, dtype=np.float32)[..., None], np.array(ys, dtype=np.float32)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(1, Settings.hidden, batch_first=True)
        self.drop = nn.Dropout(0.1)
        self.out = nn.Linear(Settings.hidden, Settings.horizon)

    def forward(self, x):
        h, _ = self.lstm(x)
        return self.out(self.drop(h[:, -1]))


def main():
    torch.manual_seed(15)
    values = load_curve()
    cut = 280
    low, high = values[:cut].min(), values[:cut].max()
    scaled = (values - low) / (high - low)
    x_train, y_train = make_windows(scaled[:cut])
    x_test, y_test = make_windows(scaled[cut:])
    model = Forecaster()
    criterion = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=Settings.lr, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=Settings.step_size, gamma=Settings.gamma)
    rng = np.random.RandomState(4)
    full = Settings.half_batch * Settings.accumulate
    for epoch in range(Settings.epochs):
        model.train()
        order = rng.permutation(len(x_train))
        order = order[:len(order) // full * full]
        losses = []
        for k in range(0, len(order), Settings.half_batch):
            j = order[k:k + Settings.half_batch]
            loss = criterion(model(torch.from_numpy(x_train[j])), torch.from_numpy(y_train[j]))
            (loss / Settings.accumulate).backward()
            losses.append(loss.item())
            if (k // Settings.half_batch + 1) % Settings.accumulate == 0:
                nn.utils.clip_grad_norm_(model.parameters(), Settings.clip)
                optimizer.step()
                optimizer.zero_grad()
        scheduler.step()
        model.eval()
        with torch.no_grad():
            pred = model(torch.from_numpy(x_test)).numpy()
        mape = np.abs((pred - y_test) * (high - low) / (y_test * (high - low) + low)).mean() * 100
        print(f"epoch {epoch} mse {np.mean(losses):.5f} MAPE {mape:.3f}%")


if __name__ == "__main__":
    main()
