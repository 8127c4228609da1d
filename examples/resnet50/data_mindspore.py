"""The MindSpore pipeline: the same batches as the torch pipeline's."""

import mindspore as ms
from images import CLASSES, MEAN, RESIZED_SIDE, SIDE, STD, epoch_order, listed
from mindspore import dataset
from mindspore.dataset import transforms, vision

# Resize works on Pillow images here, and then Pillow does it. On arrays it does not average over the pixels it leaves
# out: shrinking by a quarter, single pixels are off by up to a fifth of the range.
TRANSFORMS = [
    vision.Resize(RESIZED_SIDE, vision.Inter.BILINEAR),
    vision.CenterCrop(SIDE),
    # It works on 0 to 255, so mean and spread are those of 0 to 1, times 255.
    vision.Normalize([one * 255 for one in MEAN], [one * 255 for one in STD]),
    vision.HWC2CHW(),
]


def batches(folder, split, order, batch_size, drop_remainder):
    """The samples of one split in the given order."""
    data = dataset.ImageFolderDataset(
        f"{folder}/{split}",
        sampler=dataset.SubsetSampler(order),
        class_indexing={str(label): label for label in range(CLASSES)},
    )
    data = data.map([vision.Decode(to_pil=True), *TRANSFORMS], "image")
    data = data.map(transforms.TypeCast(ms.int32), "label")
    return data.batch(batch_size, drop_remainder=drop_remainder)


def train_batches(folder, batch_size, seed, epoch, rank=0, ranks=1):
    """One epoch: shuffled, whole batches only."""
    count = len(listed(folder, "train")[0])
    return batches(folder, "train", epoch_order(count, seed, epoch, rank, ranks).tolist(), batch_size, True)


def val_batches(folder, batch_size):
    """In the order of the files."""
    return batches(folder, "val", list(range(len(listed(folder, "val")[0]))), batch_size, False)
