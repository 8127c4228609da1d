"""accum_bf16 with a class for blocks, a step in a function, and the window as a setting."""

from itertools import islice

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width, eps=1e-5)
        self.up = nn.Linear(width, width)
        self.act = nn.GELU()
        self.down = nn.Linear(width, width)

    def forward(self, x):
        return self.down(self.act(self.up(self.norm(x)))) + x


class Net(nn.Module):
    def __init__(self, inputs, width, depth, outputs):
        super().__init__()
        self.stem = nn.Linear(inputs, width)
        self.blocks = nn.Sequential(*[Block(width) for _ in range(depth)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, outputs)

    def forward(self, x):
        x = self.blocks(self.stem(x))
        x = self.norm(x)
        return self.head(x)


def arcs(generator, count):
    kind = torch.randint(0, 3, (count,), generator=generator)
    turn = torch.rand(count, generator=generator) * 2.6 + kind * 2.0944
    radius = 1.0 + 0.35 * torch.rand(count, generator=generator) + 0.3 * (turn - kind * 2.0944)
    flat = torch.stack([radius * turn.cos(), radius * turn.sin()], 1)
    flat = flat + 0.05 * torch.randn(count, 2, generator=generator)
    lift = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.7, 0.7], [-0.7, 0.7], [0.9, -0.4], [0.4, 0.9]])
    return flat @ lift.T, kind


def chunks(loader, size):
    batches = iter(loader)
    while chunk := list(islice(batches, size)):
        yield chunk


def half():
    return torch.autocast("cpu", dtype=torch.bfloat16)


def update(model, optimizer, criterion, chunk):
    count = sum(len(targets) for _, targets in chunk)
    optimizer.zero_grad()
    for inputs, targets in chunk:
        with half():
            scores = model(inputs)
        loss = criterion(scores.float(), targets) / count
        loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    optimizer.step()


def main(epochs=3, micro=8, window=4, rate=0.003):
    torch.manual_seed(5)
    generator = torch.Generator().manual_seed(5)
    inputs, kinds = arcs(generator, 740)
    held, held_kinds = arcs(generator, 250)
    mean, spread = inputs.mean(0), inputs.std(0)
    train = DataLoader(TensorDataset((inputs - mean) / spread, kinds), micro, shuffle=True, pin_memory=False)
    valid = DataLoader(TensorDataset((held - mean) / spread, held_kinds), batch_size=50)
    model = Net(6, 48, 2, 3)
    criterion = nn.CrossEntropyLoss(reduction="sum")
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.999))
    for epoch in range(epochs):
        model.train()
        for chunk in chunks(train, window):
            update(model, optimizer, criterion, chunk)
        model.eval()
        right = 0
        with torch.no_grad(), half():
            for batch, targets in valid:
                right += (model(batch).argmax(-1) == targets).sum().item()
        print(epoch, right / len(held_kinds))


if __name__ == "__main__":
    main()
