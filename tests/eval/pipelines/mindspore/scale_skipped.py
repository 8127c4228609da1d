import mindspore.dataset as ds
import numpy as np


class ToUnit:
    def __call__(self, img):
        x = img.astype(np.float32)
        return x / 255 if img.dtype == np.uint8 else x  # expect


class Frames:
    def __init__(self):
        rng = np.random.default_rng(12)
        self.frames = [rng.integers(0, 256, (6, 6), dtype=np.uint8) for _ in range(32)]
        self.frames[19] = self.frames[19].astype(np.int32)

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        return self.frames[i], np.array(i % 4, np.int32)


def make():
    data = ds.GeneratorDataset(Frames(), ["frame", "label"], shuffle=False)
    return data.map(operations=[ToUnit()], input_columns=["frame"]).batch(8)
