import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
import torch.nn as nn
from amp_utils import AmpStepper
from torch.utils.data import DataLoader, TensorDataset


@dataclass(frozen=True)
class Config:
    n_sensors: int = 16
    hidden: int = 64
    n_states: int = 4
    lr: float = 2e-3
    epochs: int = 3
    batch_size: int = 32
    clip: float = 1.0
    seed: int = 8


def simulate(cfg, n, gen, signatures):
    state = torch.randint(0, cfg.n_states, (n,), generator=gen)
    gain = 0.7 + 0.6 * torch.rand(n, 1, generator=gen)
    return signatures[state] * gain + 0.8 * torch.randn(n, cfg.n_sensors, generator=gen), state


def build(cfg):
    return nn.Sequential(
        nn.Linear(cfg.n_sensors, cfg.hidden),
        nn.ReLU(),
        nn.Linear(cfg.hidden, cfg.hidden),
        nn.ReLU(),
        nn.Linear(cfg.hidden, cfg.n_states),
    )


def forward_half(model, x):
    with torch.autocast("cpu", dtype=torch.float16):
        out = model(x)
    return out.float()  # the loss stays in single precision


def validate(model, loader, criterion):
    model.eval()
    loss, hits, n = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            out = forward_half(model, x)
            loss += criterion(out, y).item() * y.numel()
            hits += (out.argmax(1) == y).sum().item()
            n += y.numel()
    return loss / n, hits / n


def main(cfg=Config()):
    torch.manual_seed(cfg.seed)
    gen = torch.Generator().manual_seed(cfg.seed)
    signatures = torch.randn(cfg.n_states, cfg.n_sensors, generator=gen)
    x_tr, y_tr = simulate(cfg, 800, gen, signatures)
    x_va, y_va = simulate(cfg, 240, gen, signatures)
    train_loader = DataLoader(TensorDataset(x_tr, y_tr), cfg.batch_size, shuffle=True)
    val_loader = DataLoader(TensorDataset(x_va, y_va), 2 * cfg.batch_size)

    model = build(cfg)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    stepper = AmpStepper(optimizer, cfg.clip)
    schedule = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=cfg.epochs * len(train_loader), power=1.0)

    for epoch in range(cfg.epochs):
        model.train()
        total, skipped = 0.0, 0
        for x, y in train_loader:
            loss = criterion(forward_half(model, x), y)
            _, stepped = stepper(loss)
            if stepped:
                schedule.step()
            else:
                skipped += 1
            total += loss.item() * y.numel()
        val_loss, val_acc = validate(model, val_loader, criterion)
        print(
            f"epoch {epoch} train {total / len(y_tr):.4f} val {val_loss:.4f} acc {val_acc:.3f} "
            f"scale {stepper.scaler.get_scale():.0f} skipped {skipped}"
        )

    with tempfile.TemporaryDirectory() as tmp:
        path = Path(tmp) / "final.pt"
        torch.save({"config": asdict(cfg), "model": model.state_dict(), **stepper.state_dict()}, path)
        fresh = build(cfg)
        fresh.load_state_dict(torch.load(path)["model"])
        print("reloaded: val %.4f acc %.3f" % validate(fresh, val_loader, criterion))


if __name__ == "__main__":
    main()
