from typing import NamedTuple


class Settings(NamedTuple):
    side: int = 12
    n_train: int = 384
    n_test: int = 96
    sigma: float = 0.3
    batch: int = 32
    epochs: int = 4
    lr: float = 6e-3
    seed: int = 99
