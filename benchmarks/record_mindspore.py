"""What recording costs in MindSpore's PyNative mode: reported, without a limit."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from measure import RATIO_HEADER, print_ratios, ratios_to_first
from mindspore import nn

from trueline.adapters import adapter_of
from trueline.record.project import Project
from trueline.record.recorder import Recorder
from trueline.record.sink import new_info
from trueline.record.wanted import Wanted

VARIANTS: dict[str, dict[str, bool] | None] = {"plain": None, "default": {}, "stats": {"stats": True}}


def network() -> Any:
    """Eight convolutions with normalisation, and a classifier."""
    layers: list[Any] = []
    for before, after in [(3, 32)] + [(32, 32)] * 7:
        layers += [nn.Conv2d(before, after, 3, pad_mode="pad", padding=1), nn.BatchNorm2d(after), nn.ReLU()]
    return nn.SequentialCell([*layers, nn.Flatten(), nn.Dense(32 * 16 * 16, 10)])


class Variant:
    """One way of training the same network."""

    def __init__(self, wanted: dict[str, bool] | None, folder: Path) -> None:
        ms.set_seed(0)
        self.net = network()
        self.net.set_train()
        self.optimizer = nn.Momentum(self.net.trainable_params(), 0.001, 0.9)
        loss_fn = nn.CrossEntropyLoss()
        self.gradients_of = ms.value_and_grad(lambda x, y: loss_fn(self.net(x), y), None, self.optimizer.parameters)
        draw = np.random.RandomState(0)
        images, labels = draw.randn(128, 3, 16, 16).astype("float32"), draw.randint(0, 10, 128).astype("int32")
        self.data = ds.NumpySlicesDataset((images, labels), ["x", "y"], shuffle=False).batch(16)
        self.batches: Any = iter(())
        self.recorder = None
        if wanted is not None:
            info = new_info(argv=sys.argv)
            self.recorder = Recorder(Wanted(folder, **wanted), info, Project(Path.cwd()), lambda said: print(said))

    def step(self) -> float:
        """CPU seconds of one step, the recorder's work included."""
        hooks = self.recorder.listen(adapter_of("mindspore")) if self.recorder is not None else None
        began = time.process_time()
        try:
            x, y = next(self.batches)
        except StopIteration:
            self.batches = iter(self.data.create_tuple_iterator(num_epochs=1))
            x, y = next(self.batches)
        loss, gradients = self.gradients_of(x, y)
        self.optimizer(gradients)
        loss.asnumpy()
        spent = time.process_time() - began
        if hooks is not None:
            hooks.remove()
        return spent


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=200)
    options = parser.parse_args()
    ms.set_device("CPU")
    print(RATIO_HEADER)
    with tempfile.TemporaryDirectory() as folder:
        variants = {name: Variant(wanted, Path(folder) / name) for name, wanted in VARIANTS.items()}
        found = ratios_to_first({name: one.step for name, one in variants.items()}, repeat=options.repeat)
        assert all(one.recorder is None or one.recorder.on for one in variants.values()), "a recorder went off"
    print_ratios("cnn", found, {})
    return 0


if __name__ == "__main__":
    sys.exit(main())
