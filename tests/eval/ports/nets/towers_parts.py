"""The data and the loss of the two towers: pictures, sentences padded at their end, answers."""

from __future__ import annotations

import numpy as np

ROWS, LENGTH = 12, 9


def raw():
    """Pictures of bytes, sentences of several lengths, answers."""
    random = np.random.default_rng(11)
    images = random.integers(0, 256, (ROWS, 33, 33, 3)).astype(np.uint8)
    sentences = [random.integers(1, 30, int(length)) for length in random.integers(4, LENGTH + 1, ROWS)]
    return images, sentences, random.integers(0, 6, ROWS)


def bench_dataset():
    import torch

    class Rows(torch.utils.data.Dataset):
        def __init__(self):
            self.images, self.sentences, self.answers = raw()

        def __len__(self):
            return ROWS

        def __getitem__(self, index):
            image = torch.from_numpy(self.images[index]).permute(2, 0, 1).float() / 255
            image = (image - 0.5) / 0.25
            tokens = torch.zeros(LENGTH, dtype=torch.int64)
            sentence = self.sentences[index]
            tokens[: len(sentence)] = torch.from_numpy(sentence)
            return image, tokens, int(self.answers[index])

    return torch.utils.data.DataLoader(Rows(), batch_size=4)


def port_dataset():
    from mindspore import dataset

    def rows():
        for image, sentence, answer in zip(*raw(), strict=True):
            image = image.transpose(2, 0, 1).astype(np.float32)
            tokens = np.zeros(LENGTH, np.int64)
            tokens[: len(sentence)] = sentence
            yield (image / 255 - 0.5) / np.float32(0.25), tokens, np.int64(answer)

    return dataset.GeneratorDataset(rows, ["image", "tokens", "answer"], shuffle=False).batch(4)


def bench_loss():
    from torch import nn

    return nn.CrossEntropyLoss()


def port_loss():
    from mindspore import nn

    return nn.CrossEntropyLoss()
