import torch
from torch.utils.data import Dataset


def stroke_library(n_kinds, length, gen):
    """Each kind of stroke is a smooth curve given by three harmonics."""
    t = torch.linspace(0, 6.2832, length)
    basis = torch.stack([f(k * t) for k in (1, 2, 3) for f in (torch.sin, torch.cos)])
    return torch.randn(n_kinds, 6, generator=gen) @ basis / 6**0.5


class StrokePairs(Dataset):
    """(a, b, same) with as many equal as unequal pairs.

    With ``resample=True`` the partner is drawn again on every access; validation keeps
    the pairs it was built with so that the numbers of two epochs can be compared.
    """

    def __init__(self, kinds, n, gen, resample):
        self.y = torch.arange(n) % len(kinds)
        self.x = kinds[self.y] + 0.35 * torch.randn(n, kinds.shape[1], generator=gen)
        self.n_kinds = len(kinds)
        self.resample = resample
        self.fixed = None if resample else [self._partner(i) for i in range(n)]

    def _partner(self, i):
        same = bool(torch.rand(()) < 0.5)
        pool = torch.nonzero((self.y == self.y[i]) == same).flatten()
        j = int(pool[torch.randint(len(pool), ())])
        return j, same

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        j, same = self._partner(i) if self.resample else self.fixed[i]
        return self.x[i], self.x[j], float(same)
