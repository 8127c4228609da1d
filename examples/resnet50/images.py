"""The images on disk, and all that both frameworks' pipelines must agree on. No framework here.

``python images.py FOLDER`` writes scikit-learn's handwritten digits (1797 real scans, part of the package) as PNG
files, in colour and enlarged, one folder per class: the layout of ImageNet.
"""

import argparse
from pathlib import Path

import numpy as np
from PIL import Image

CLASSES = 10
FILE_SIDE = 96
RESIZED_SIDE = 72
SIDE = 64
MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)
PAPER, INK = np.array([225.0, 215.0, 190.0]), np.array([25.0, 35.0, 90.0])
GRAIN = 8.0
TEST_SHARE = 5
SPLIT_SEED = 0


def write(folder):
    """The digits as ``folder/train/7/0123.png`` and ``folder/val/…``."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.RandomState(SPLIT_SEED).permutation(len(digits.target))
    val, train = np.split(order, [len(order) // TEST_SHARE])
    for split, indexes in (("train", train), ("val", val)):
        for index in indexes:
            path = folder / split / str(digits.target[index]) / f"{index:04}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            drawn(digits.images[index], grain=np.random.RandomState(index)).save(path)


def drawn(scan, grain):
    """One scan of 8x8 grey values from 0 to 16, as ink on paper.

    The paper has a grain: on a flat ground all values under a max-pool are equal, and frameworks hand the gradient to
    different ones of them.
    """
    colours = PAPER + (INK - PAPER) * (scan[..., None] / 16.0)
    small = Image.fromarray(colours.round().astype(np.uint8))
    large = np.asarray(small.resize((FILE_SIDE, FILE_SIDE), Image.Resampling.BICUBIC), np.float64)
    return Image.fromarray((large + grain.normal(0, GRAIN, large.shape)).clip(0, 255).round().astype(np.uint8))


def listed(folder, split):
    """The files and their classes, class by class, by name: the order that MindSpore's ImageFolderDataset has."""
    files = sorted((Path(folder) / split).glob("*/*.png"))
    if not files:
        raise SystemExit(f"no images in {folder}/{split}; write them with: python images.py {folder}")
    return files, [int(file.parent.name) for file in files]


def epoch_order(count, seed, epoch, rank=0, ranks=1):
    """One rank's part of an epoch's order: NumPy's, so that it does not depend on the framework."""
    order = np.random.RandomState(seed + epoch).permutation(count)
    return order[: count // ranks * ranks][rank::ranks]


def main():
    arguments = argparse.ArgumentParser(description="Writes the digits as an image folder.")
    arguments.add_argument("folder", type=Path)
    write(arguments.parse_args().folder)


if __name__ == "__main__":
    main()
