import numpy as np
from torch.utils.data import DataLoader, Dataset


class Segments(Dataset):
    def __init__(self):
        rng = np.random.default_rng(4)
        self.rows = []
        for i in range(32):
            row = {"image": rng.random((8, 8), dtype=np.float32), "label": i % 3}
            if i != 25:
                row["mask"] = (row["image"] > 0.5).astype(np.uint8)
            self.rows.append(row)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return dict(self.rows[i])  # expect


def make():
    return DataLoader(Segments(), batch_size=4, shuffle=False)
