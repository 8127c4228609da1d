"""MLP-Mixer on synthetic patches; a memory fault is simulated on one worker."""
import argparse
import struct
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class Mixer(nn.Module):
    def __init__(self, patches=9, dim=20, blocks=2, classes=4):
        super().__init__()
        self.embed = nn.Linear(8, dim)
        self.tok = nn.ModuleList(nn.Linear(patches, patches) for _ in range(blocks))
        self.chan = nn.ModuleList(nn.Linear(dim, dim) for _ in range(blocks))
        self.norm = nn.ModuleList(nn.LayerNorm(dim) for _ in range(blocks))
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        x = self.embed(x)
        for tok, chan, norm in zip(self.tok, self.chan, self.norm):
            y = norm(x)
            x = x + tok(y.transpose(1, 2)).transpose(1, 2)
            x = x + torch.nn.functional.gelu(chan(norm(x)))
        return self.head(x.mean(1))


def flip_bit(tensor, index, bit):
    flat = tensor.view(-1)
    raw = struct.unpack("<I", struct.pack("<f", flat[index].item()))[0]
    flat[index] = struct.unpack("<f", struct.pack("<I", raw ^ (1 << bit)))[0]


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--flip-step", type=int, default=9)
    p.add_argument("--flip-rank", type=int, default=1)
    p.add_argument("--flip-bit", type=int, default=19)
    return p.parse_args()


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(64)
    model = DDP(Mixer())
    g = torch.Generator().manual_seed(65)
    y = torch.randint(0, 4, (256,), generator=g)
    x = torch.randn(256, 9, 8, generator=g) + 0.5 * y[:, None, None]
    ds = TensorDataset(x, y)
    sampler = DistributedSampler(ds, seed=0)
    loader = DataLoader(ds, batch_size=8, sampler=sampler)
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    step = 0
    for epoch in range(1):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            loss = nn.functional.cross_entropy(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            if step == args.flip_step and rank == args.flip_rank:
                with torch.no_grad():
                    flip_bit(model.module.chan[1].weight, 133, args.flip_bit)
            if rank == 0:
                print(f"{step} {loss.item():.4f}", flush=True)
            step += 1
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
