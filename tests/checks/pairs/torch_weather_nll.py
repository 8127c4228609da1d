"""weather_nll without its file of settings, its network as a chain, its evaluation over batches."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

KINDS = ("clear", "cloudy", "rain", "storm")


def chain(inputs, widths, outputs, dropout):
    layers = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU(), nn.Dropout(dropout)]
        inputs = width
    return nn.Sequential(*layers, nn.Linear(inputs, outputs), nn.LogSoftmax(dim=-1))


def readings(count, shares, means, generator):
    spread = torch.tensor([6.0, 12.0, 4.0, 2.2, 0.8])
    kinds = torch.multinomial(torch.tensor(shares), count, replacement=True, generator=generator)
    return means[kinds] + torch.randn(count, means.shape[1], generator=generator) * spread, kinds


def weights_of(kinds):
    counts = torch.bincount(kinds, minlength=len(KINDS)).float()
    return counts.sum() / (len(KINDS) * counts)


def main(epochs=4, batch=48):
    torch.manual_seed(7)
    generator = torch.Generator().manual_seed(5)
    means = torch.tensor(
        [
            [1022.0, 45.0, 6.0, 0.0, 4.0],
            [1015.0, 60.0, 8.0, 1.0, 2.6],
            [1008.0, 80.0, 11.0, 3.0, 1.5],
            [998.0, 88.0, 19.0, 7.0, 0.9],
        ]
    )
    shares = [0.55, 0.27, 0.13, 0.05]
    inputs, kinds = readings(1200, shares, means, generator)
    held, held_kinds = readings(400, shares, means, generator)
    center, spread = inputs.mean(0), inputs.std(0)
    train = DataLoader(TensorDataset((inputs - center) / spread, kinds), batch_size=batch, shuffle=True)
    valid = DataLoader(TensorDataset((held - center) / spread, held_kinds), batch_size=100)
    model = chain(5, [40, 40], len(KINDS), 0.1)
    criterion = nn.NLLLoss(weight=weights_of(kinds))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=5e-4, nesterov=True)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2, 3], gamma=0.2)
    for epoch in range(epochs):
        model.train()
        for rows, targets in train:
            optimizer.zero_grad()
            criterion(model(rows), targets).backward()
            optimizer.step()
        schedule.step()
        model.eval()
        right = seen = 0
        with torch.no_grad():
            for rows, targets in valid:
                right += (model(rows).argmax(-1) == targets).sum().item()
                seen += len(targets)
        print(f"{epoch} {right / seen:.3f}")


if __name__ == "__main__":
    main()
