"""Pictures with large shapes and fine detail, the same on both sides; sentences of numbers."""

from __future__ import annotations

import numpy as np

MEAN = (0.485, 0.456, 0.406)
STD = (0.229, 0.224, 0.225)


def pictures(count: int = 6, height: int = 48, width: int = 60) -> list[np.ndarray]:
    random = np.random.default_rng(11)
    rows, columns = np.mgrid[0:height, 0:width]
    found = []
    for _ in range(count):
        waves = [
            np.sin(rows / random.uniform(3, 15) + random.uniform(0, 6))
            * np.cos(columns / random.uniform(3, 15) + random.uniform(0, 6))
            for _ in range(3)
        ]
        picture = np.stack(waves, -1) * 80 + 128 + random.normal(0, 18, (height, width, 3))
        found.append(np.clip(picture, 0, 255).astype(np.uint8))
    return found


def sentences(count: int = 6, length: int = 12) -> list[np.ndarray]:
    random = np.random.default_rng(12)
    return [random.integers(5, 900, random.integers(3, length)) for _ in range(count)]


def filled(rows: list[np.ndarray], length: int = 12, value: int = 0, side: str = "right") -> np.ndarray:
    found = np.full((len(rows), length), value, dtype=np.int64)
    for place, row in enumerate(rows):
        if side == "right":
            found[place, : len(row)] = row
        else:
            found[place, length - len(row) :] = row
    return found
