import torch
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader

from .net import Autoencoder
from .patches import AddNoise, WavePatches
from .settings import Settings


def test_error(net, loader, corrupt):
    net.eval()
    err, n = 0.0, 0
    with torch.no_grad():
        for clean in loader:
            err += mse_loss(net(corrupt(clean)), clean).item() * len(clean)
            n += len(clean)
    return err / n


def fit(s: Settings):
    torch.manual_seed(s.seed)
    train = DataLoader(WavePatches(s.n_train, s.side, s.seed), batch_size=s.batch, shuffle=True)
    test = DataLoader(WavePatches(s.n_test, s.side, s.seed + 1), batch_size=s.n_test)
    corrupt, corrupt_fixed = AddNoise(s.sigma), AddNoise(s.sigma, seed=0)

    net = Autoencoder()
    opt = torch.optim.NAdam(net.parameters(), lr=s.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, s.epochs * len(train), eta_min=1e-4)
    for epoch in range(s.epochs):
        net.train()
        total = 0.0
        for clean in train:
            opt.zero_grad()
            # the target is the clean patch, not the network's own input
            loss = mse_loss(net(corrupt(clean)), clean)
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item() * len(clean)
        print(f"epoch {epoch}  train {total / s.n_train:.4f}  test {test_error(net, test, corrupt_fixed):.4f}")


if __name__ == "__main__":
    fit(Settings())
