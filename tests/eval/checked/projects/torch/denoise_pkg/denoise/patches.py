import torch
from torch.utils.data import Dataset


class WavePatches(Dataset):
    """Clean patches made of two plane waves, values within [-1, 1]."""

    def __init__(self, n, side, seed):
        g = torch.Generator().manual_seed(seed)
        axis = torch.linspace(0, 1, side)
        yy, xx = torch.meshgrid(axis, axis, indexing="ij")
        f = torch.rand(n, 2, 2, 1, 1, generator=g) * 6
        phase = torch.rand(n, 2, 1, 1, generator=g) * 6.2832
        waves = torch.sin(f[:, :, 0] * yy + f[:, :, 1] * xx + phase)
        self.clean = waves.mean(dim=1, keepdim=True)

    def __len__(self):
        return self.clean.shape[0]

    def __getitem__(self, k):
        return self.clean[k]


class AddNoise:
    """Fresh noise on every call, or the same noise every time when a seed is given (for the test set)."""

    def __init__(self, sigma, seed=None):
        self.sigma, self.seed = sigma, seed

    def __call__(self, batch):
        g = None
        if self.seed is not None:
            g = torch.Generator().manual_seed(self.seed)
        return batch + self.sigma * torch.randn(batch.shape, generator=g)
