"""Image-caption matching with on-the-fly decoding."""
import sys
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Records(Dataset):
    def __init__(self, n=160):
        g = torch.Generator().manual_seed(44)
        self.rows = []
        for i in range(n):
            feat = torch.randint(0, 255, (32,), generator=g).tolist()
            caption = torch.randint(1, 30, (6,), generator=g).tolist()
            self.rows.append({"id": i, "feat": bytes(feat), "caption": " ".join(map(str, caption))})
        self.rows[91]["caption"] = self.rows[91]["caption"].replace(" ", ";", 1)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        feat = torch.tensor(list(row["feat"]), dtype=torch.float32) / 255 - 0.5
        caption = torch.tensor([int(w) for w in row["caption"].split()])
        return feat, caption


class Matcher(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, dim))
        self.words = nn.EmbeddingBag(30, dim)
        self.logit_scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, feat, caption):
        a = nn.functional.normalize(self.image(feat), dim=-1)
        b = nn.functional.normalize(self.words(caption), dim=-1)
        return self.logit_scale.exp() * a @ b.t()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(6)
    model = DDP(Matcher())
    data = Records()
    sampler = DistributedSampler(data, shuffle=False)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    target = torch.arange(8)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for step, (feat, caption) in enumerate(loader):
            logits = model(feat, caption)
            loss = (nn.functional.cross_entropy(logits, target) + nn.functional.cross_entropy(logits.t(), target)) / 2
            opt.zero_grad()
            loss.backward()
            opt.step()
            if rank == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    time.sleep(0.3)
    dist.destroy_process_group()
    return 0


if __name__ == "__main__":
    sys.exit(main())
