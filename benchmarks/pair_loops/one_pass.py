"""The CPU seconds of one forward and backward of ResNet-50 at 2x3x224x224, framework by name; the median of three."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "resnet50"))
ARRAY = np.random.default_rng(0).standard_normal((2, 3, 224, 224)).astype(np.float32)


def in_torch() -> Callable[[], object]:
    """A training pass in torch."""
    import torch
    from resnet_torch import resnet50

    model = resnet50().train()

    def run() -> object:
        model.zero_grad()
        model(torch.from_numpy(ARRAY)).sum().backward()
        return next(model.parameters()).grad

    return run


def in_mindspore() -> Callable[[], object]:
    """A training pass in MindSpore, op by op."""
    import mindspore
    from resnet_mindspore import resnet50

    model = resnet50().set_train()
    backward = mindspore.grad(lambda x: model(x).sum(), None, model.trainable_params())

    def run() -> object:
        return backward(mindspore.Tensor(ARRAY))[0].asnumpy()

    return run


def main() -> None:
    """Print the seconds."""
    run = {"torch": in_torch, "mindspore": in_mindspore}[sys.argv[1]]()
    taken = []
    for _ in range(4):
        start = time.process_time()
        run()
        taken.append(time.process_time() - start)
    print(statistics.median(taken[1:]))


if __name__ == "__main__":
    main()
