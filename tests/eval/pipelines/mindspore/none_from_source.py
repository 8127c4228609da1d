import tempfile
from pathlib import Path

import mindspore.dataset as ds
import numpy as np


class Arrays:
    def __init__(self, folder):
        self.files = sorted(folder.glob("*.npy"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        try:
            return (np.load(self.files[i]),)
        except ValueError:
            return None  # expect


def make():
    folder = Path(tempfile.mkdtemp(prefix="arrays_"))
    for i in range(16):
        np.save(folder / f"{i:03d}.npy", np.full(4, i, np.float32))
    (folder / "011.npy").write_bytes(b"not an array")
    return ds.GeneratorDataset(Arrays(folder), ["x"], shuffle=False).batch(4)
