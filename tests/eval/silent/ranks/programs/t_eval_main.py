"""Train/validate loop of a small sequence tagger."""
import logging
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

log = logging.getLogger("tagger")


class Tagger(nn.Module):
    def __init__(self, vocab=60, dim=24, tags=5):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)
        self.out = nn.Linear(dim, tags)

    def forward(self, ids):
        h = self.emb(ids).transpose(1, 2)
        return self.out(torch.relu(self.conv(h)).transpose(1, 2))


def split(n, seed):
    g = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 60, (n, 14), generator=g)
    return TensorDataset(ids, ids % 5)


class Accuracy:
    def __init__(self):
        self.state = torch.zeros(2)

    def update(self, pred, target):
        self.state += torch.tensor([(pred == target).sum().item(), target.numel()])

    def compute(self):
        parts = [torch.zeros_like(self.state) for _ in range(dist.get_world_size())]
        dist.all_gather(parts, self.state)
        correct, total = torch.stack(parts).sum(0).tolist()
        return correct / total


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    metric = Accuracy()
    for ids, tags in loader:
        metric.update(model(ids).argmax(-1), tags)
    model.train()
    return metric.compute()


def main(eval_every=5):
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(13)
    model = DDP(Tagger())
    train_set, val_set = split(160, 1), split(40, 2)
    sampler = DistributedSampler(train_set, seed=13)
    train_loader = DataLoader(train_set, batch_size=8, sampler=sampler)
    val_loader = DataLoader(val_set, batch_size=20)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    step = 0
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for ids, tags in train_loader:
            loss = nn.functional.cross_entropy(model(ids).flatten(0, 1), tags.flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if step % eval_every == 0 and rank == 0:
                acc = evaluate(model.module, val_loader)
                log.info("step %d loss %.4f acc %.3f", step, loss.item(), acc)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
