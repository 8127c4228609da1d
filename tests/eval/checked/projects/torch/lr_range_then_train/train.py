import torch
from lr_finder import find_lr
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(55)


def checker_points(n):
    """Which of 3 spirals does the point lie on? Radius and angle features make it tractable."""
    arm = torch.randint(0, 3, (n,))
    r = 0.3 + 1.7 * torch.rand(n)
    angle = 1.6 * r + arm * 2.0944 + 0.5 * torch.randn(n)
    feats = torch.stack([r * angle.cos(), r * angle.sin(), angle.cos(), angle.sin(), r - 1.15], dim=1)
    return feats / feats.new_tensor([0.9, 0.9, 0.7, 0.7, 0.5]), arm


def make_model():
    return nn.Sequential(nn.Linear(5, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))


@torch.no_grad()
def score(model, loader, criterion):
    training = model.training
    model.eval()
    loss, good, n = 0.0, 0, 0
    for x, y in loader:
        z = model(x)
        loss += criterion(z, y).item() * y.numel()
        good += (z.argmax(1) == y).sum().item()
        n += y.numel()
    model.train(training)
    return loss / n, good / n


def main():
    train_ds, val_ds = TensorDataset(*checker_points(1200)), TensorDataset(*checker_points(400))
    train_loader = DataLoader(train_ds, batch_size=32, shuffle=True)
    # same samples in file order, to report the fit next to the validation figures
    fit_loader = DataLoader(train_ds, batch_size=400, shuffle=False)
    val_loader = DataLoader(val_ds, batch_size=400, shuffle=False)

    model, criterion = make_model(), nn.CrossEntropyLoss()
    lr = find_lr(model, train_loader, criterion)
    print(f"using lr {lr:.4f}")

    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
    for epoch in range(4):
        for x, y in train_loader:
            optimizer.zero_grad()
            criterion(model(x), y).backward()
            optimizer.step()
        fit, val = score(model, fit_loader, criterion), score(model, val_loader, criterion)
        print(f"epoch {epoch}  fit {fit[0]:.4f} ({fit[1]:.3f})  val {val[0]:.4f} ({val[1]:.3f})")


if __name__ == "__main__":
    main()
