"""The torch pipeline: Pillow's resize, a crop, and torchvision's usual normalisation, written out."""

import torch
from images import MEAN, RESIZED_SIDE, SIDE, STD, epoch_order, listed
from PIL import Image
from torch.utils.data import DataLoader, Dataset, Sampler


def resize(image):
    """The shorter side to RESIZED_SIDE."""
    factor = RESIZED_SIDE / min(image.size)
    return image.resize([round(side * factor) for side in image.size], Image.Resampling.BILINEAR)


def centre_crop(image):
    """The middle."""
    left, top = ((side - SIDE) // 2 for side in image.size)
    return image.crop((left, top, left + SIDE, top + SIDE))


def to_tensor(image):
    """Height, width, channels from 0 to 255 become channels, height, width from 0 to 1."""
    pixels = torch.frombuffer(bytearray(image.tobytes()), dtype=torch.uint8)
    return pixels.view(image.height, image.width, 3).permute(2, 0, 1).float() / 255


def normalise(image):
    """Mean and spread of ImageNet's channels."""
    return (image - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)


TRANSFORMS = [resize, centre_crop, to_tensor, normalise]


class ImageFolder(Dataset):
    """The images of one split."""

    def __init__(self, folder, split):
        self.files, self.labels = listed(folder, split)

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        image = Image.open(self.files[index])
        for transform in TRANSFORMS:
            image = transform(image)
        return image, self.labels[index]


class NumpyOrder(Sampler):
    """Hands out one rank's samples in NumPy's order, another one in every epoch."""

    def __init__(self, count, seed, rank, ranks):
        self.count, self.seed, self.rank, self.ranks = count, seed, rank, ranks
        self.epoch = 0

    def __iter__(self):
        order = epoch_order(self.count, self.seed, self.epoch, self.rank, self.ranks)
        self.epoch += 1
        return iter(order.tolist())

    def __len__(self):
        return self.count // self.ranks


def train_loader(folder, batch_size, seed, rank=0, ranks=1):
    """Shuffled, whole batches only."""
    data = ImageFolder(folder, "train")
    order = NumpyOrder(len(data), seed, rank, ranks)
    return DataLoader(data, batch_size, sampler=order, drop_last=True)


def val_loader(folder, batch_size):
    """In the order of the files."""
    return DataLoader(ImageFolder(folder, "val"), batch_size)
