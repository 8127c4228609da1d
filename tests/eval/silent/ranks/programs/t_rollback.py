"""Classifier training with a guard that returns to a good state after a loss spike."""
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def make_data(n=320, dim=16, classes=4):
    gen = torch.Generator().manual_seed(77)
    centers = torch.randn(classes, dim, generator=gen) * 2
    y = torch.arange(n) % classes
    x = centers[y] + torch.randn(n, dim, generator=gen)
    x[176:192] = x[176:192].roll(1, 0) * 15.0
    return TensorDataset(x, y)


class Net(nn.Module):
    def __init__(self, dim=16, hidden=32, classes=4):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.out = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.out(self.body(x))


class SpikeGuard:
    def __init__(self, model, factor=8.0, every=4):
        self.model, self.factor, self.every = model, factor, every
        self.mean = None
        self.saved = None
        self.is_main = dist.get_rank() == 0

    def snapshot(self):
        if self.is_main:
            self.saved = {k: v.detach().clone() for k, v in self.model.module.state_dict().items()}

    def restore(self):
        if self.saved is not None:
            self.model.module.load_state_dict(self.saved)

    def update(self, step, loss):
        value = loss.detach().clone()
        dist.all_reduce(value)
        value = value.item() / dist.get_world_size()
        if self.mean is not None and value > self.factor * self.mean:
            self.restore()
            return True
        self.mean = value if self.mean is None else 0.9 * self.mean + 0.1 * value
        if step % self.every == 0:
            self.snapshot()
        return False


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(Net())
    opt = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    data = make_data()
    sampler = DistributedSampler(data, shuffle=False)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    guard = SpikeGuard(model)
    step = 0
    for epoch in range(1):
        sampler.set_epoch(epoch)
        for x, y in loader:
            opt.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            if guard.update(step, loss) and dist.get_rank() == 0:
                print(f"step {step}: spike {loss.item():.2f}, weights restored")
            step += 1
    if dist.get_rank() == 0:
        print("done", step, loss.item())
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
