import torch
from minilit import Callback, LitModule, Trainer
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

#      a  b  c  d  e  f  g
SEGMENTS = [
    [1, 1, 1, 1, 1, 1, 0],
    [0, 1, 1, 0, 0, 0, 0],
    [1, 1, 0, 1, 1, 0, 1],
    [1, 1, 1, 1, 0, 0, 1],
    [0, 1, 1, 0, 0, 1, 1],
    [1, 0, 1, 1, 0, 1, 1],
    [1, 0, 1, 1, 1, 1, 1],
    [1, 1, 1, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 1, 1],
    [1, 1, 1, 1, 0, 1, 1],
]
STROKES = [
    (slice(2, 4), slice(4, 9)),
    (slice(3, 8), slice(8, 10)),
    (slice(8, 13), slice(8, 10)),
    (slice(12, 14), slice(4, 9)),
    (slice(8, 13), slice(3, 5)),
    (slice(3, 8), slice(3, 5)),
    (slice(7, 9), slice(4, 9)),
]


def render(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 10, (n,), generator=g)
    x = torch.zeros(n, 1, 16, 12)
    for i, digit in enumerate(y.tolist()):
        for on, (rows, cols) in zip(SEGMENTS[digit], STROKES):
            if on:
                x[i, 0, rows, cols] = 1.0
        dy, dx = torch.randint(-1, 2, (2,), generator=g).tolist()
        x[i] = torch.roll(x[i], (dy, dx), dims=(1, 2))
    x = (x + 0.25 * torch.randn(x.shape, generator=g)).clamp(0, 1)
    return TensorDataset((x - 0.3) / 0.36, y)


class DigitModule(LitModule):
    def __init__(self, lr=6e-3):
        super().__init__()
        self.lr = lr
        self.net = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 16, 3, padding=1),
            nn.BatchNorm2d(16),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(16 * 4 * 3, 10),
        )

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(self(x), y, label_smoothing=0.05)
        self.log("train_loss", loss, len(y))
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        self.log("val_loss", F.cross_entropy(logits, y), len(y))
        self.log("val_acc", (logits.argmax(1) == y).float().mean(), len(y))

    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), lr=self.lr)
        one_cycle = torch.optim.lr_scheduler.OneCycleLR(opt, self.lr, self.trainer.estimated_stepping_batches)
        return {"optimizer": opt, "lr_scheduler": {"scheduler": one_cycle, "interval": "step"}}


class PrintMetrics(Callback):
    def on_epoch_end(self, trainer, module, metrics):
        print(trainer.current_epoch, {k: round(v, 4) for k, v in metrics.items()})


if __name__ == "__main__":
    torch.manual_seed(31)
    train_dl = DataLoader(render(640, seed=1), batch_size=32, shuffle=True)
    val_dl = DataLoader(render(200, seed=2), batch_size=64)
    Trainer(max_epochs=3, gradient_clip_val=1.0, callbacks=[PrintMetrics()]).fit(DigitModule(), train_dl, val_dl)
