import numpy as np
import mindspore.dataset as ds

# common, uncommon, rare
COUNTS = (150, 30, 12)
CENTRES = np.array([[1.5, 0.0, -1.0, 0.5], [-1.0, 1.5, 0.5, 0.0], [0.0, -1.5, 1.5, -0.5]])


def species(counts, seed):
    g = np.random.default_rng(seed)
    y = np.repeat(np.arange(3), counts)
    x = CENTRES[y] + 0.6 * g.standard_normal((len(y), 4))
    return x.astype(np.float32), y.astype(np.int32)


class Balanced(ds.Sampler):
    """Draws with replacement, every class equally often, and anew in each epoch."""

    def __init__(self, labels, seed):
        super().__init__()
        weight = 1.0 / np.bincount(labels)[labels]
        self.prob = weight / weight.sum()
        self.rng = np.random.default_rng(seed)

    def __iter__(self):
        yield from self.rng.choice(len(self.prob), size=len(self.prob), p=self.prob).tolist()


def train_loader(seed, batch):
    x, y = species(COUNTS, seed)
    # the sampler already mixes, shuffle= next to it is not allowed
    return ds.NumpySlicesDataset((x, y), ["x", "y"], sampler=Balanced(y, seed)).batch(batch)


def valid_loader(seed, batch):
    x, y = species((20, 20, 20), seed)
    return ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(batch)
