"""Files to compare, each written by the library whose format it is."""

from __future__ import annotations

import csv
import json
import math
import shutil
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray[Any, Any]]

MSPROBE = Path(__file__).resolve().parent.parent / "formats" / "msprobe"
# What MindSpore calls the tensors of a BatchNorm.
_MINDSPORE_NORM = {
    "weight": "gamma",
    "bias": "beta",
    "running_mean": "moving_mean",
    "running_var": "moving_variance",
}


def torch_net() -> Any:
    """A small ResNet-like network with some history in its BatchNorms."""
    import torch
    from torch import nn

    torch.manual_seed(5)
    block = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1))
    net = nn.Sequential()
    net.add_module("conv1", nn.Conv2d(3, 8, 3, padding=1))
    net.add_module("bn1", nn.BatchNorm2d(8))
    net.add_module("layer1", block)
    net.add_module("flat", nn.Flatten())
    net.add_module("fc", nn.Linear(8 * 64, 10))
    with torch.no_grad():
        for one in (net.bn1, block[1]):
            one.weight.uniform_(0.5, 1.5)
            one.bias.normal_()
        net(torch.randn(4, 3, 8, 8))
    return net


def arrays_of(net: Any) -> Arrays:
    """A network's weights under torch's names."""
    return {name: one.detach().numpy().copy() for name, one in net.state_dict().items()}


@cache
def _weights() -> Arrays:
    return arrays_of(torch_net())


def weights(changed: Mapping[str, float] | None = None) -> Arrays:
    """The small network's weights, some of them scaled."""
    found = dict(_weights())
    for name, factor in (changed or {}).items():
        found[name] = (found[name] * np.float32(factor)).astype(np.float32)
    return found


def write_pth(path: Path, arrays: Arrays, around: Any = None) -> Path:
    """As torch saves it; ``around`` makes what is saved of the state_dict."""
    import torch

    state = {name: torch.from_numpy(np.ascontiguousarray(one).reshape(one.shape)) for name, one in arrays.items()}
    torch.save(around(state) if around else state, path)
    return path


def mindspore_names(arrays: Arrays) -> Arrays:
    """The same weights as MindSpore's network calls them."""
    found = {}
    for name, one in arrays.items():
        module, _, leaf = name.rpartition(".")
        is_norm = f"{module}.running_mean" in arrays
        if leaf != "num_batches_tracked":
            found[f"{module}.{_MINDSPORE_NORM[leaf] if is_norm else leaf}"] = one
    return found


def write_ckpt(path: Path, arrays: Arrays, **options: Any) -> Path:
    """As MindSpore saves its own network of this structure, whose parameters are set to these weights."""
    import mindspore as ms

    net = _mindspore_net()
    named = mindspore_names(arrays)
    assert {one.name for one in net.get_parameters()} == set(named)
    for one in net.get_parameters():
        one.set_data(ms.Tensor(named[one.name]))
    ms.save_checkpoint(net, str(path), **options)
    return path


def _mindspore_net() -> Any:
    from collections import OrderedDict

    from mindspore import nn

    def conv(inputs: int) -> Any:
        return nn.Conv2d(inputs, 8, 3, pad_mode="pad", padding=1, has_bias=True)

    block = nn.SequentialCell(conv(8), nn.BatchNorm2d(8), nn.ReLU(), conv(8))
    parts = [("conv1", conv(3)), ("bn1", nn.BatchNorm2d(8)), ("layer1", block)]
    return nn.SequentialCell(OrderedDict([*parts, ("flat", nn.Flatten()), ("fc", nn.Dense(8 * 64, 10))]))


def write_safetensors(path: Path, arrays: Arrays) -> Path:
    """As the safetensors library saves it."""
    from safetensors.numpy import save_file

    # NumPy would give an array without sides one.
    save_file({name: np.ascontiguousarray(one).reshape(one.shape) for name, one in arrays.items()}, path)
    return path


def write_sharded(folder: Path, arrays: Arrays) -> Path:
    """Two shards and their index."""
    folder.mkdir()
    places = {name: f"model-0000{1 + place % 2}-of-00002.safetensors" for place, name in enumerate(arrays)}
    for shard in set(places.values()):
        write_safetensors(folder / shard, {name: one for name, one in arrays.items() if places[name] == shard})
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))
    return folder


def write_npz(path: Path, arrays: Arrays) -> Path:
    """As NumPy saves it."""
    np.savez(path, **arrays)
    return path


def write_npy_folder(folder: Path, arrays: Arrays) -> Path:
    """One .npy each."""
    folder.mkdir()
    for name, one in arrays.items():
        np.save(folder / f"{name}.npy", one)
    return folder


def falling(steps: int = 60, fork: int | None = None) -> list[float]:
    """A falling loss with some wiggle, as a log with six digits shows it; from ``fork`` on it goes another way."""
    found = []
    for step in range(steps):
        value = 2.3 * math.exp(-step / 25) + 0.03 * math.sin(step * 1.7)
        if fork is not None and step >= fork:
            value += 0.2 + 0.01 * (step - fork)
        found.append(round(value, 6))
    return found


def write_log(path: Path, losses: Sequence[float]) -> Path:
    """What a training script prints."""
    lines = [f"[12:00:{step % 60:02}] epoch: 0 step: {step} loss: {loss:.6f}\n" for step, loss in enumerate(losses)]
    path.write_text("training starts\n" + "".join(lines))
    return path


def write_csv(path: Path, losses: Sequence[float]) -> Path:
    """A table with a head."""
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["step", "loss", "accuracy"])
        table.writerows([step, f"{loss:.6f}", 0.5] for step, loss in enumerate(losses))
    return path


def write_jsonl(path: Path, losses: Sequence[float]) -> Path:
    """One object a line."""
    path.write_text("".join(json.dumps({"step": step, "loss": loss}) + "\n" for step, loss in enumerate(losses)))
    return path


def write_tensorboard(folder: Path, losses: Sequence[float], tag: str = "loss") -> Path:
    """As torch's SummaryWriter writes it; the one event file."""
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(folder)) as writer:
        for step, loss in enumerate(losses):
            writer.add_scalar(tag, loss, step)
    (file,) = folder.iterdir()
    return file


def copy_dump(folder: Path, name: str = "torch_tensor_L0") -> Path:
    """A dump that msprobe wrote."""
    shutil.copytree(MSPROBE / name, folder)
    return folder
