import io

import torch
from lora import LoRALinear, Regressor, freeze_all_but_adapters
from torch.nn import MSELoss
from torch.utils.data import DataLoader, TensorDataset


def domain(n, seed, tilt):
    """The same physics, but in the second domain one coefficient has drifted."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 8, generator=g)
    y = torch.tanh(x[:, 0] + 0.5 * x[:, 1]) + tilt * x[:, 2] * 0.6 + 0.3 * x[:, 3] * x[:, 0]
    return TensorDataset(x, y + 0.1 * torch.randn(n, generator=g))


def epoch_of_training(model, loader, criterion, optimizer):
    model.train()
    s, n = 0.0, 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        s += loss.item() * len(y)
        n += len(y)
    return s / n


def mean_error(model, loader, criterion):
    model.eval()
    with torch.no_grad():
        pairs = [(criterion(model(x), y).item(), len(y)) for x, y in loader]
    return sum(e * k for e, k in pairs) / sum(k for _, k in pairs)


def train_base(criterion):
    model = Regressor()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    train = DataLoader(domain(800, 0, tilt=1.0), batch_size=32, shuffle=True)
    val = DataLoader(domain(200, 1, tilt=1.0), batch_size=200)
    for epoch in range(3):
        loss = epoch_of_training(model, train, criterion, optimizer)
        print(f"base    {epoch}: {loss:.4f}  val {mean_error(model, val, criterion):.4f}")
    buffer = io.BytesIO()
    torch.save(model.state_dict(), buffer)
    buffer.seek(0)
    return buffer


def main():
    torch.manual_seed(88)
    criterion = MSELoss()
    checkpoint = train_base(criterion)

    model = Regressor(linear=LoRALinear)
    missing, unexpected = model.load_state_dict(torch.load(checkpoint), strict=False)
    # everything of the base must be there, only the adapters may be new
    assert not unexpected and all("lora_" in k for k in missing), (missing, unexpected)

    trainable = freeze_all_but_adapters(model)
    print(f"adapting {sum(p.numel() for p in trainable)} weights")
    optimizer = torch.optim.Adam(trainable, lr=6e-3)
    train = DataLoader(domain(480, 2, tilt=-1.0), batch_size=24, shuffle=True)
    val = DataLoader(domain(200, 3, tilt=-1.0), batch_size=200)
    print(f"before adaptation: val {mean_error(model, val, criterion):.4f}")
    for epoch in range(4):
        loss = epoch_of_training(model, train, criterion, optimizer)
        print(f"adapter {epoch}: {loss:.4f}  val {mean_error(model, val, criterion):.4f}")


if __name__ == "__main__":
    main()
