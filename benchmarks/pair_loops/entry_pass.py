"""The CPU seconds of one forward and backward of a factory's network: SIDE (torch or mindspore), ENTRY, SHAPE.

The median of three, op by op and in order, as ``trueline pair`` runs it.
"""

from __future__ import annotations

import importlib
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt


def in_torch(factory: Callable[[], object], array: npt.NDArray[np.float32]) -> Callable[[], object]:
    """A training pass in torch."""
    import torch

    model = factory().train()  # type: ignore[attr-defined]

    def run() -> object:
        model.zero_grad()
        model(torch.from_numpy(array)).sum().backward()
        return next(model.parameters()).grad

    return run


def in_mindspore(factory: Callable[[], object], array: npt.NDArray[np.float32]) -> Callable[[], object]:
    """A training pass in MindSpore."""
    import mindspore

    from trueline.adapters.mindspore.steady import work_in_order

    work_in_order()
    model = factory().set_train()  # type: ignore[attr-defined]
    backward = mindspore.grad(lambda x: model(x).sum(), None, model.trainable_params())

    def run() -> object:
        return backward(mindspore.Tensor(array))[0].asnumpy()

    return run


def main() -> None:
    """Print the seconds."""
    side, entry, shape = sys.argv[1:]
    module, _, name = entry.partition(":")
    array = np.random.default_rng(0).standard_normal([int(size) for size in shape.split("x")]).astype(np.float32)
    run = {"torch": in_torch, "mindspore": in_mindspore}[side](getattr(importlib.import_module(module), name), array)
    taken = []
    for _ in range(4):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    print(statistics.median(taken[1:]))


if __name__ == "__main__":
    main()
