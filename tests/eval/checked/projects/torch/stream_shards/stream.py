"""Shards on disk -> shuffled stream of (signal, label)."""

import random
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

N_BINS = 20


def write_shards(folder: Path, n_shards: int, per_shard: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    for s in range(n_shards):
        y = rng.integers(0, 3, per_shard)
        centre = np.array([5.0, 10.0, 15.0])[y] + rng.normal(0, 1.2, per_shard)
        bins = np.arange(N_BINS)
        peak = np.exp(-0.5 * ((bins[None] - centre[:, None]) / 1.8) ** 2)
        x = peak * rng.uniform(2, 4, (per_shard, 1)) + rng.normal(0, 0.4, (per_shard, N_BINS))
        np.savez(folder / f"part-{s:03d}.npz", x=x.astype(np.float32), y=y)


class ShardStream(IterableDataset):
    mean, std = 0.66, 0.98

    def __init__(self, folder: Path, train: bool, buffer: int = 96):
        # sorted: every worker must see the same list before it takes its share
        self.files = sorted(folder.glob("part-*.npz"))
        self.train, self.buffer = train, buffer

    def _records(self, files):
        for f in files:
            with np.load(f) as z:
                x, y = z["x"], z["y"]
            yield from zip(x, y)

    def _prepare(self, record, noise):
        x, y = record
        x = torch.from_numpy((x - self.mean) / self.std)
        if self.train:
            x = x + 0.1 * torch.from_numpy(noise.standard_normal(x.shape).astype(np.float32))
        return x, int(y)

    def __iter__(self):
        info = get_worker_info()
        wid, n_workers = (info.id, info.num_workers) if info else (0, 1)
        seed = info.seed if info else int(torch.randint(2**31, ()))  # differs by worker and by epoch
        noise, rnd = np.random.default_rng(seed), random.Random(seed)
        files = self.files[wid::n_workers]
        if not self.train:
            for rec in self._records(files):
                yield self._prepare(rec, noise)
            return
        rnd.shuffle(files)
        pool = []
        for rec in self._records(files):
            if len(pool) < self.buffer:
                pool.append(rec)
                continue
            k = rnd.randrange(self.buffer)
            pool[k], rec = rec, pool[k]
            yield self._prepare(rec, noise)
        rnd.shuffle(pool)
        for rec in pool:
            yield self._prepare(rec, noise)
