import tempfile
from pathlib import Path

import torch
from stream import N_BINS, ShardStream, write_shards
from torch import nn
from torch.utils.data import DataLoader


def build_model():
    return nn.Sequential(
        nn.Unflatten(1, (1, N_BINS)),
        nn.Conv1d(1, 6, 5, padding=2),
        nn.Tanh(),
        nn.AvgPool1d(2),
        nn.Flatten(),
        nn.Linear(60, 3),
    )


def train(model, loader, optimizer, criterion):
    model.train()
    loss_sum = count = 0
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * y.size(0)
        count += y.size(0)
    return loss_sum / count, count


def test(model, loader, criterion):
    model.eval()
    loss_sum = correct = count = 0
    with torch.no_grad():
        for x, y in loader:
            logits = model(x)
            loss_sum += criterion(logits, y).item() * y.size(0)
            correct += (logits.argmax(1) == y).sum().item()
            count += y.size(0)
    return loss_sum / count, correct / count


def main():
    torch.manual_seed(1234)
    with tempfile.TemporaryDirectory() as root:
        train_dir, test_dir = Path(root, "train"), Path(root, "test")
        for folder, shards, seed in ((train_dir, 6, 0), (test_dir, 2, 1)):
            folder.mkdir()
            write_shards(folder, shards, 120, seed)

        # an iterable dataset brings its own order, DataLoader(shuffle=True) would refuse it
        train_loader = DataLoader(ShardStream(train_dir, train=True), batch_size=30, num_workers=2)
        test_loader = DataLoader(ShardStream(test_dir, train=False), batch_size=80)

        model = build_model()
        criterion = nn.CrossEntropyLoss()
        optimizer = torch.optim.Adagrad(model.parameters(), lr=0.03)
        for epoch in range(1, 4):
            loss, n = train(model, train_loader, optimizer, criterion)
            test_loss, acc = test(model, test_loader, criterion)
            print(f"epoch {epoch}: {n} records, loss {loss:.4f} / test {test_loss:.4f}, accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
