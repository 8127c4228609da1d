"""Grey-level drawings of squares, crosses and discs (uint8, like they would come from disk)."""

import numpy as np
import mindspore.dataset as ds
import mindspore.dataset.transforms as T
import mindspore.dataset.vision as V
from mindspore import dtype as mstype

SIZE = 16
MEAN, STD = 0.19, 0.28


def _draw(kind, rng):
    img = np.zeros((SIZE, SIZE), np.float32)
    cx, cy = rng.integers(5, SIZE - 5, size=2)
    r = int(rng.integers(3, 5))
    if kind == 0:
        img[cy - r : cy + r + 1, cx - r : cx + r + 1] = 1.0
        img[cy - r + 2 : cy + r - 1, cx - r + 2 : cx + r - 1] = 0.0
    elif kind == 1:
        img[cy - r : cy + r + 1, cx] = 1.0
        img[cy, cx - r : cx + r + 1] = 1.0
    else:
        yy, xx = np.mgrid[:SIZE, :SIZE]
        img[(yy - cy) ** 2 + (xx - cx) ** 2 <= r * r] = 1.0
    img = img * rng.uniform(0.7, 1.0) + rng.uniform(0.0, 0.1, img.shape)
    return (np.clip(img, 0, 1) * 255).astype(np.uint8)[:, :, None]


class Shapes:
    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.labels = (np.arange(n) % 3).astype(np.int32)
        self.images = [_draw(k, rng) for k in self.labels]

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


def build(n, seed, training, batch_size):
    """One pipeline for both phases; only the flip and the shuffling depend on `training`."""
    data = ds.GeneratorDataset(Shapes(n, seed), ["image", "label"], shuffle=training, num_parallel_workers=1)
    steps = [V.RandomHorizontalFlip(0.5)] if training else []
    # Rescale brings 0..255 to 0..1, so mean and std below are on the 0..1 scale
    steps += [V.Rescale(1.0 / 255.0, 0.0), V.Normalize([MEAN], [STD], is_hwc=True), V.HWC2CHW()]
    data = data.map(steps, input_columns="image", num_parallel_workers=1)
    data = data.map(T.TypeCast(mstype.int32), input_columns="label", num_parallel_workers=1)
    return data.batch(batch_size, drop_remainder=training)
