import numpy as np
import mindspore.dataset as ds


class Sequences:
    def __init__(self, n, cfg, seed):
        rng = np.random.default_rng(seed)
        self.rows = []
        for k in range(n):
            target = k % 2
            length = int(rng.integers(3, cfg["max_len"] + 1))
            x = rng.normal(0.35 if target else -0.35, 1.0, (length, cfg["features"]))
            self.rows.append((x.astype(np.float32), np.int32(length), np.int32(target)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


def collate(xs, lengths, targets, info):
    """zeros behind the end; the true lengths travel along"""
    longest = max(len(x) for x in xs)
    out = np.zeros((len(xs), longest, xs[0].shape[1]), np.float32)
    for row, x in zip(out, xs):
        row[: len(x)] = x
    return out, np.stack(lengths), np.stack(targets)


def loader(n, cfg, batch_size, seed, training):
    src = ds.GeneratorDataset(Sequences(n, cfg, seed), ["x", "length", "target"], shuffle=training)
    return src.batch(batch_size, drop_remainder=False, per_batch_map=collate)
