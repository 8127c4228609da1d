import pathlib

import numpy as np
import mindspore.dataset as ds


def write_parts(folder, parts, rows, seed):
    """Stands in for a folder of preprocessed parts."""
    rng = np.random.default_rng(seed)
    for k in range(parts):
        y = rng.integers(0, 2, rows)
        x = rng.normal(size=(rows, 6)) + np.where(y[:, None] > 0, 0.8, -0.8)
        np.savez(pathlib.Path(folder) / f"part-{k:03d}.npz", x=x.astype(np.float32), y=y.astype(np.int32))


def read_parts(folder):
    # sorted: every rank has to see the same order before the rows are dealt out
    files = sorted(pathlib.Path(folder).glob("part-*.npz"))
    loaded = [np.load(f) for f in files]
    return np.concatenate([p["x"] for p in loaded]), np.concatenate([p["y"] for p in loaded])


def loader(folder, batch, training, rank=0, world=1):
    x, y = read_parts(folder)
    if not training:
        return ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False).batch(batch)
    shard = dict(num_shards=world, shard_id=rank) if world > 1 else {}
    return ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=True, **shard).batch(batch, drop_remainder=True)
