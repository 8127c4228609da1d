"""The port's pipelines: MindSpore, the right one and others with one thing changed."""

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore.dataset import transforms, vision
from PIL import Image

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def raw(count=12):
    rng = np.random.default_rng(0)
    small = rng.integers(0, 256, (count, 6, 8, 3), dtype=np.uint8)
    return np.stack([np.asarray(Image.fromarray(one).resize((48, 40), Image.Resampling.BICUBIC)) for one in small])


class Pictures:
    def __init__(self, order=None, first_label=0):
        self.images, self.order, self.first_label = raw(), order or list(range(12)), first_label

    def __len__(self):
        return 12

    def __getitem__(self, index):
        index = self.order[index]
        return self.images[index], np.int32(index % 4 + self.first_label)


def resize(image):
    return np.asarray(Image.fromarray(image).resize((32, 24), Image.Resampling.BILINEAR))


def normal(mean=MEAN, std=STD):
    return [vision.Rescale(1 / 255, 0), vision.Normalize(mean, std), vision.HWC2CHW()]


def build(steps, source=None, shuffle=False, batch=4):
    data = ds.GeneratorDataset(source or Pictures(), ["image", "label"], shuffle=shuffle)
    return data.map(steps, ["image"]).batch(batch)


def right():
    return build([resize, *normal()])


def right_in_one():
    mean, std = [255 * one for one in MEAN], [255 * one for one in STD]
    return build([resize, vision.Normalize(mean, std), vision.HWC2CHW()])


def interpolation():
    return build([vision.Resize((24, 32), vision.Inter.NEAREST), *normal()])


def output_size():
    return build([vision.Resize((24, 24)), *normal()])


def factor_255():
    return build([resize, vision.Normalize(MEAN, STD), vision.HWC2CHW()])


def mean_std():
    return build([resize, *normal((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))])


def swap(image):
    return image[:, :, ::-1].copy()


def channel_order():
    return build([swap, resize, *normal()])


def data_layout():
    return build([resize, *normal()[:2]])


def data_dtype():
    return build([resize, *normal(), transforms.TypeCast(ms.float16)])


def crop():
    return build([resize, vision.CenterCrop((20, 28)), *normal()])


def sample_order():
    return build([resize, *normal()], Pictures([5, 3, 1, 0, 2, 4, 6, 7, 8, 9, 11, 10]))


def shuffled():
    return build([resize, *normal()], shuffle=True)


def labels():
    return build([resize, *normal()], Pictures(first_label=1))


def batches():
    return build([resize, *normal()], batch=6)


def two_faults():
    return build([vision.Resize((24, 32), vision.Inter.NEAREST), *normal((0.5,) * 3, (0.5,) * 3)])


class Sentences:
    def __len__(self):
        return 8

    def __getitem__(self, index):
        ids = np.zeros(10, np.int64)
        ids[10 - (3 + index % 4) :] = np.arange(5, 8 + index % 4) + index
        return ids, np.int32(index % 2)


def data_padding():
    return ds.GeneratorDataset(Sentences(), ["ids", "label"], shuffle=False).batch(4)
