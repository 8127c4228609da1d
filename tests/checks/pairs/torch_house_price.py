"""house_price with a loss module, zero_grad, names of its own, and the evaluation before the epoch's line."""

import math
from dataclasses import dataclass

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


@dataclass
class Settings:
    samples: int = 1000
    held_out: float = 0.2
    width: int = 64
    rate: float = 1e-2
    momentum: float = 0.9
    decay: float = 0.0001
    epochs: int = 10
    batch: int = 40
    seed: int = 2024


class Scaler:
    def __init__(self, reference):
        self.mean = reference.mean(0, keepdim=True)
        self.deviation = reference.std(0, keepdim=True)

    def __call__(self, values):
        return (values - self.mean) / self.deviation


def draw(generator, count):
    size = 40 + 160 * torch.rand(count, generator=generator)
    rooms = (size / 28 + 0.7 * torch.randn(count, generator=generator)).round().clamp(1, 9)
    built = 1930 + 90 * torch.rand(count, generator=generator)
    far = torch.rand(count, generator=generator) * 25
    floor = torch.randint(0, 8, (count,), generator=generator).float()
    energy = torch.randint(1, 8, (count,), generator=generator).float()
    cost = 2100 * size * torch.exp(-far / 18) + 9000 * rooms + 350 * (built - 1930) - 4000 * energy
    cost = cost + torch.randn(count, generator=generator) * 22000
    columns = [size, rooms, built, far, floor, energy]
    return torch.stack(columns, dim=1), cost.unsqueeze(1)


def network(width):
    layers = [nn.Linear(6, width), nn.ReLU(inplace=True), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)]
    return nn.Sequential(*layers)


def error(net, loader, scaler):
    net.eval()
    squares, count = 0.0, 0
    with torch.no_grad():
        for inputs, targets in loader:
            squares += ((net(inputs) - targets) ** 2).sum().item()
            count += targets.shape[0]
    mean = squares / count
    return math.sqrt(mean) * scaler.deviation.item(), mean


def run(settings):
    torch.manual_seed(settings.seed)
    generator = torch.Generator().manual_seed(settings.seed)
    inputs, prices = draw(generator, settings.samples)
    held = int(settings.samples * settings.held_out)
    first, second = random_split(range(settings.samples), [settings.samples - held, held], generator=generator)
    train, valid = list(first), list(second)
    of_inputs, of_prices = Scaler(inputs[train]), Scaler(prices[train])
    train_set = TensorDataset(of_inputs(inputs[train]), of_prices(prices[train]))
    valid_set = TensorDataset(of_inputs(inputs[valid]), of_prices(prices[valid]))
    train_loader = DataLoader(train_set, shuffle=True, batch_size=settings.batch)
    valid_loader = DataLoader(valid_set, batch_size=64, shuffle=False)
    net = network(settings.width)
    optimizer = torch.optim.SGD(
        net.parameters(), momentum=settings.momentum, weight_decay=settings.decay, lr=settings.rate, nesterov=False
    )
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.3, threshold=0.02)
    for epoch in range(settings.epochs):
        net.train()
        for features, targets in train_loader:
            optimizer.zero_grad()
            loss = (net(features) - targets).pow(2).mean()
            loss.backward()
            optimizer.step()
        rooted, mean = error(net, valid_loader, of_prices)
        schedule.step(mean)
        print(epoch, mean, rooted)


if __name__ == "__main__":
    run(Settings())
