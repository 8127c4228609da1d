import mindspore.dataset as ds
import numpy as np


class CropTo:
    def __init__(self, size):
        self.size = size

    def __call__(self, img):
        h, w = img.shape[:2]
        if h < self.size or w < self.size:
            raise ValueError(f"crop size {self.size} is larger than image {h}x{w}")  # expect
        return np.ascontiguousarray(img[: self.size, : self.size])


class Scale:
    def __call__(self, img):
        return img.astype(np.float32) / 255


class Images:
    def __init__(self):
        rng = np.random.default_rng(0)
        shapes = [(32, 32, 3)] * 32
        shapes[13] = (20, 12, 3)
        self.images = [rng.integers(0, 256, s, dtype=np.uint8) for s in shapes]

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], np.int32(i % 4)


def make():
    data = ds.GeneratorDataset(Images(), ["image", "label"], shuffle=False)
    data = data.map(operations=[CropTo(24), Scale()], input_columns=["image"])
    return data.batch(8)
