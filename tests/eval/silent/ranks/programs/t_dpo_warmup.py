"""Supervised warm-up followed by preference tuning of a tiny token model."""
import argparse
import copy
import time

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

VOCAB, SEQ = 48, 12


class PairDataset(Dataset):
    def __init__(self, n=128, seed=11):
        g = torch.Generator().manual_seed(seed)
        self.chosen = torch.randint(0, VOCAB, (n, SEQ), generator=g)
        self.rejected = torch.randint(0, VOCAB, (n, SEQ), generator=g)

    def __len__(self):
        return len(self.chosen)

    def __getitem__(self, i):
        return self.chosen[i], self.rejected[i]


class TinyLM(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        h, _ = self.rnn(self.embed(ids))
        return self.head(h)


def sequence_logp(logits, ids):
    logp = F.log_softmax(logits[:, :-1], dim=-1)
    return logp.gather(-1, ids[:, 1:, None]).squeeze(-1).sum(-1)


def dpo_loss(policy_c, policy_r, ref_c, ref_r, beta=0.1):
    margin = (policy_c - policy_r) - (ref_c - ref_r)
    return -F.logsigmoid(beta * margin).mean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--warmup", type=int, default=4)
    ap.add_argument("--lr", type=float, default=0.05)
    args = ap.parse_args()

    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(3)
    policy = DDP(TinyLM())
    data = PairDataset()
    sampler = DistributedSampler(data, shuffle=True, seed=5)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    optim = torch.optim.SGD(policy.parameters(), lr=args.lr)
    reference = None

    for epoch in range(2):
        sampler.set_epoch(epoch)
        for i, (chosen, rejected) in enumerate(loader):
            step = epoch * len(loader) + i
            optim.zero_grad()
            if step < args.warmup:
                logits = policy(chosen)
                loss = F.cross_entropy(logits[:, :-1].reshape(-1, VOCAB), chosen[:, 1:].reshape(-1))
            else:
                unwrapped = policy.module if isinstance(policy, DDP) else policy
                if reference is None:
                    reference = copy.deepcopy(unwrapped).eval().requires_grad_(False)
                both = torch.cat([chosen, rejected])
                lp = sequence_logp(unwrapped(both), both)
                with torch.no_grad():
                    ref = sequence_logp(reference(both), both)
                n = chosen.size(0)
                loss = dpo_loss(lp[:n], lp[n:], ref[:n], ref[n:])
            loss.backward()
            optim.step()
            if rank == 0 and step % 4 == 0:
                print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
