"""Datasets of no framework, good and bad."""

from __future__ import annotations

import os
import time

import numpy as np

IMAGES = np.load("images.npy")
LABELS = np.load("labels.npy")


class Digits:
    def __len__(self):
        return 100

    def __getitem__(self, at):
        return IMAGES[at], int(LABELS[at])


class Stream:
    def __iter__(self):
        for at in range(5):
            yield {"x": np.full(2, at), "y": at}


def generator():
    for at in range(3):
        yield IMAGES[at * 8 : at * 8 + 8], LABELS[at * 8 : at * 8 + 8]


class Crashing(Digits):
    def __getitem__(self, at):
        if at == 50:
            os.kill(os.getpid(), 11)
        if at == 10:
            time.sleep(2.1)
        return super().__getitem__(at)


def empty():
    return []


def number():
    return 3


def needs(root):
    return root


def always_raises():
    class Bad(Digits):
        def __getitem__(self, at):
            raise KeyError("no such file")

    return Bad()


def raises_first():
    yield IMAGES[0] / LABELS["no such name"]


class Unspeakable(Exception):
    def __str__(self):
        raise KeyError("words")


class Wordless(Digits):
    def __getitem__(self, at):
        raise Unspeakable


class Sizeless(Digits):
    def __len__(self):
        raise RuntimeError("no length today")


class Negative(Digits):
    def __len__(self):
        return -1


class Endless(Digits):
    def __len__(self):
        return 1 << 80


class Interrupting(Digits):
    def __len__(self):
        raise KeyboardInterrupt
