"""Run folders made by hand: a network of four layers in a row, as two frameworks would record it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from trueline.formats.run_folder.reader import Run, open_run
from trueline.formats.run_folder.writer import RankWriter
from trueline.kernel import summarise
from trueline.model.key import Key
from trueline.model.location import Location
from trueline.model.run import CallInfo, ModuleInfo, ParamInfo, RunInfo

LAYERS = ("conv", "bn", "block.conv1", "fc")
SOURCE = (
    b"import nn\nconv = nn.Conv2d(1, 8, 3)\nbn = nn.BatchNorm2d(8)\nconv1 = nn.Conv2d(8, 8, 3)\nfc = nn.Linear(8, 2)\n"
)


def activations(seed: int = 0) -> dict[str, np.ndarray]:
    """One output for each layer, and the network's input under the empty name."""
    random = np.random.RandomState(seed)
    return {name: random.randn(4, 8).astype(np.float32) for name in ("", *LAYERS)}


def off_by(array: np.ndarray, share: float) -> np.ndarray:
    """The array with every element moved by a share of the largest."""
    moved = array + share * np.abs(array).max() * np.sign(array)
    return moved.astype(array.dtype)


def keys_of(values: Mapping[str, np.ndarray], *, inputs: bool = True) -> dict[Key, np.ndarray]:
    """The tensors as a recorder keeps them: each layer's input, then its output."""
    kept = {}
    before = values[""]
    for name in LAYERS:
        if inputs:
            kept[Key.of(name, "in")] = before
        before = values[name]
        kept[Key.of(name, "out")] = before
    return kept


def make_run(
    folder: Path,
    losses: Sequence[float],
    tensors: Mapping[int, Mapping[Key, np.ndarray]] | None = None,
    *,
    framework: str = "torch",
    params: Mapping[str, np.ndarray] | None = None,
) -> Run:
    """Write a finished run and open it."""
    writer = RankWriter(folder)
    hash = writer.write_source(SOURCE)
    assert hash == hashlib.sha256(SOURCE).hexdigest()
    writer.write_info(RunInfo(id=folder.name, framework=framework, sources={"net.py": hash}))
    writer.write_params(
        [
            ParamInfo(name, array.shape, str(array.dtype), True, initial=summarise(array))
            for name, array in (params or {}).items()
        ]
    )
    modules = [
        ModuleInfo(name, f"{framework}.nn.Layer", {}, {"size": place}, Location("net.py", place + 2))
        for place, name in enumerate(LAYERS)
    ]
    calls = [CallInfo(name, 0, "train", feeds_from=(place - 1,) if place else ()) for place, name in enumerate(LAYERS)]
    writer.write_modules(modules, calls)
    for step, loss in enumerate(losses):
        common = {"step": step, "phase": "train", "t": float(step)}
        events = [{"event": "loss", "value": loss, **common}, {"event": "end", "seconds": 1.0, **common}]
        writer.finish_step(step, "train", events, tensors=(tensors or {}).get(step))
    writer.close()
    return open_run(folder)
