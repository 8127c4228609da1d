"""Healthy pipelines of MindSpore in many styles: nothing may be found in any of them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import transforms, vision
from PIL import Image

PIXELS = np.random.default_rng(0).integers(0, 256, (24, 12, 10, 3), dtype=np.uint8)


class Pictures:
    num_classes = 4

    def __init__(self):
        self.read = 0

    def __len__(self):
        return len(PIXELS)

    def __getitem__(self, index):
        self.read += 1
        return PIXELS[index], np.int32(index % 4)


def training():
    data = ds.GeneratorDataset(Pictures(), ["image", "label"], shuffle=True)
    flip = vision.RandomHorizontalFlip(0.5)
    scaled = [vision.Rescale(1 / 255, 0), vision.Normalize([0.5] * 3, [0.25] * 3), vision.HWC2CHW()]
    data = data.map([vision.Resize((8, 8)), flip, *scaled], ["image"])
    return data.map(transforms.TypeCast(ms.int32), ["label"]).batch(8, drop_remainder=True)


def composed():
    steps = transforms.Compose(
        [vision.ToPIL(), vision.Resize(8), vision.ToTensor(), vision.Normalize([0.5] * 3, [0.2] * 3, is_hwc=False)]
    )
    return ds.GeneratorDataset(Pictures(), ["image", "label"], shuffle=False).map(steps, ["image"]).batch(4)


def seeded():
    ds.config.set_seed(7)
    return ds.GeneratorDataset(Pictures(), ["image", "label"]).shuffle(24).batch(6)


def files():
    folder = Path(tempfile.mkdtemp(prefix="pictures_"))
    for index, pixels in enumerate(PIXELS):
        place = folder / "ab"[index % 2]
        place.mkdir(exist_ok=True)
        Image.fromarray(pixels).save(place / f"{index:02}.png")
    data = ds.ImageFolderDataset(str(folder), decode=True)
    return data.map([vision.Resize((8, 8)), vision.ToTensor()], ["image"]).batch(4)


def slices():
    return ds.NumpySlicesDataset({"x": np.random.rand(30, 3).astype(np.float32), "y": np.arange(30) % 2}).batch(7)


def beside():
    left = ds.NumpySlicesDataset({"x": np.ones((20, 2), np.float32)}, shuffle=False)
    right = ds.NumpySlicesDataset({"y": np.arange(20, dtype=np.int32) % 2}, shuffle=False)
    return ds.zip((left, right)).shuffle(20).batch(5)


def joined():
    parts = [ds.NumpySlicesDataset({"x": np.full((9, 2), k, np.float32)}, shuffle=False) for k in (0.0, 1.0)]
    return parts[0].concat(parts[1]).repeat(2).batch(6)


def taken():
    data = ds.NumpySlicesDataset({"x": np.random.rand(30, 3).astype(np.float32), "y": np.arange(30)}, shuffle=False)
    data = data.skip(3).take(20).rename("x", "input").project(["input"])
    return data.filter(lambda x: x.sum() > 0.5, ["input"]).batch(4)


def split_in_two(x):
    return x[:2], x[2:]


def columns():
    data = ds.NumpySlicesDataset({"x": np.random.rand(30, 4).astype(np.float32)}, shuffle=True)
    return data.map(split_in_two, ["x"], ["left", "right"]).batch(5)


class Rows:
    def __len__(self):
        return 24

    def __getitem__(self, index):
        return np.arange(1 + index % 5, dtype=np.int32), np.int32(index % 2)


def padded():
    data = ds.GeneratorDataset(Rows(), ["ids", "label"], shuffle=True)
    return data.padded_batch(6, pad_info={"ids": ([8], 0), "label": ([], 0)})


def in_buckets():
    data = ds.GeneratorDataset(Rows(), ["ids", "label"], shuffle=True)
    return data.bucket_batch_by_length(["ids"], [3, 5], [4, 4, 4], pad_info={"ids": ([None], 0), "label": ([], 0)})


def gather(ids, labels, info):
    longest = max(map(len, ids))
    return [np.pad(one, (0, longest - len(one))) for one in ids], labels


def gathered():
    data = ds.GeneratorDataset(Rows(), ["ids", "label"], shuffle=True)
    return data.batch(6, per_batch_map=gather, input_columns=["ids", "label"])


def numbers():
    for index in range(18):
        yield np.array([index], np.float32), np.array(index % 3, np.int32)


def stream():
    return ds.GeneratorDataset(numbers, ["x", "y"]).shuffle(18).batch(6)


def noise(x):
    return x + np.random.normal(size=x.shape).astype(np.float32)


def noisy():
    data = ds.NumpySlicesDataset({"x": np.zeros((20, 4), np.float32)}, shuffle=True)
    return data.map(noise, ["x"]).batch(5)


def after_the_batch():
    data = ds.NumpySlicesDataset({"x": np.random.rand(20, 4).astype(np.float32)}, shuffle=True).batch(5)
    return data.map(lambda x: x / x.max(axis=1, keepdims=True), ["x"])
