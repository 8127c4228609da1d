"""What the margins on measured noise are taken from: pairs that are equal and pairs with a fault, against the floors.

Each ratio is a pair's distance over the floor that the benchmark's own repeated runs measured, without any margin.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from trueline.compare.noise_floor import drifts_of, read_noise
from trueline.formats.run_folder.reader import Run, open_run
from trueline.model.key import Key, Kind
from trueline.model.noise import Noise

NETS = Path(__file__).parent / "noise_nets"
SHOWN = (0, 1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32, 36, 39)
LEAVES = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
}
# (benchmark, run in question): framework, network, optimizer, seed, and what is different about it.
EQUAL: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    *[(("torch", "resnet", o, s), ("torch", "resnet", o, s, "channels_last")) for o in ("sgd", "adam") for s in "01"],
    *[(("torch", "resnet", "sgd", s), ("mindspore", "resnet", "sgd", s)) for s in "01"],
    *[(("torch", "transformer", "sgd", s), ("mindspore", "transformer", "sgd", s)) for s in "01"],
    (("mindspore", "resnet", "sgd", "0"), ("torch", "resnet", "sgd", "0")),
    (("mindspore", "resnet", "sgd", "0"), ("torch", "resnet", "sgd", "0", "channels_last")),
    (("mindspore", "transformer", "sgd", "0"), ("torch", "transformer", "sgd", "0")),
]
FAULTY: list[tuple[tuple[str, ...], tuple[str, ...]]] = [
    *[(("torch", "resnet", "sgd", "0"), (f, "resnet", "sgd", "0", "bn_eps")) for f in ("torch", "mindspore")],
    *[(("torch", "resnet", "sgd", "0"), (f, "resnet", "sgd", "0", "weight_scaled")) for f in ("torch", "mindspore")],
    *[(("torch", "transformer", "sgd", "0"), (f, "transformer", "sgd", "0", "gelu_tanh")) for f in ("mindspore",)],
    *[(("torch", "transformer", "sgd", "0"), (f, "transformer", "sgd", "0", "ln_eps")) for f in ("mindspore",)],
]


def recorded(folder: Path, of: tuple[str, ...], *, noise: bool) -> Run:
    """A run, recorded unless it is there already."""
    framework, net, optimizer, seed, *rest = of
    path = folder / "-".join((*of, *(["noise"] if noise else [])))
    if not path.exists():
        other = rest[0] if rest else "plain"
        chosen = ["--layout", other] if other in ("plain", "channels_last") else ["--fault", other]
        keep = ["--noise", "--noise-steps", "40"] if noise else ["--tensors", "--inputs", "--grads", "--weights"]
        script = [str(NETS / f"train_{framework}.py"), "--net", net, "--optimizer", optimizer, "--seed", seed, *chosen]
        command = [sys.executable, "-m", "trueline", "run", "--quiet", "-o", str(path), *keep, *script]
        subprocess.run(command, check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    return open_run(path)


def torch_named(tensors: Mapping[Key, Any]) -> dict[Key, Any]:
    """The tensors under the names that torch gives them."""
    found = {}
    for key, array in tensors.items():
        leaf = LEAVES.get(key.index, key.index) if key.kind in (Kind.PARAM, Kind.GRAD, Kind.BUFFER) else key.index
        found[replace(key, index=leaf)] = array
    return found


@dataclass(frozen=True, slots=True)
class Row:
    """A pair of tensors: its distance, over what tries of one rounding unit showed, and over the floor of verdicts."""

    step: int
    key: Key
    level: float
    narrow: float
    wide: float


def levels(bench: Run, run: Run, noise: Noise) -> Iterator[Row]:
    """Every pair of tensors whose floor was measured."""
    for step in (0, 1):
        here, there = torch_named(run.rank().tensors(step)), torch_named(bench.rank().tensors(step))
        keys = {replace(key, index=torch_index(key)): key for key, at in noise.drifts if at == step}
        for key, drift in drifts_of(here, there).items():
            if key in keys and drift.unit:
                measured, floor = noise.drifts[keys[key], step], noise.floor(keys[key], step)
                yield Row(
                    step, key, drift.level, drift.level / max(measured.level, drift.unit), drift.level / (floor or 1)
                )


def torch_index(key: Key) -> str:
    """A key's index as torch would have it."""
    return LEAVES.get(key.index, key.index) if key.kind in (Kind.PARAM, Kind.GRAD, Kind.BUFFER) else key.index


def main() -> int:
    """Print the table; 1 when an equal pair is outside or a fault is inside its floors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--keep", type=Path, help="where runs are recorded, and found again")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        return measure(options.keep or Path(temporary))


def measure(folder: Path) -> int:
    """Record, compare, print."""
    missed = []
    for pairs, equal in ((EQUAL, True), (FAULTY, False)):
        for one, other in pairs:
            bench = recorded(folder, one, noise=True)
            missed += show(one, other, bench, recorded(folder, other, noise=False), equal)
    for line in missed:
        print("MISSED", line)
    return 1 if missed else 0


def show(one: Sequence[str], other: Sequence[str], bench: Run, run: Run, equal: bool) -> list[str]:
    """One pair's lines."""
    noise = read_noise(bench)
    assert noise is not None
    name = f"{' '.join(one)} | {' '.join(other)}"
    rows = sorted(levels(bench, run, noise), key=lambda row: row.narrow, reverse=True)
    beyond = [row for row in rows if row.wide > 1]
    print(f"{name}: {len(rows)} tensors; over what one rounding unit showed, and over the floor")
    for row in [*rows[:3], *beyond[:2]]:
        print(f"  {row.narrow:10.2f} {row.wide:8.2f}  step {row.step} {row.key}  distance {row.level:.2e}")
    print("  largest over the floor:", ", ".join(f"{kind} {ratio:.2f}" for kind, ratio in by_kind(rows).items()))
    at = dict(zip(run.rank().curve("loss").steps, run.rank().curve("loss").values, strict=True))
    curve = bench.rank().curve("loss")
    gaps = [abs(at[step] - value) for step, value in zip(curve.steps, curve.values, strict=True)]
    bands = [noise.loss_band(step) or 0.0 for step in curve.steps]
    print("  loss gap  " + " ".join(f"{gaps[step]:.0e}" for step in SHOWN))
    print("  loss band " + " ".join(f"{bands[step]:.0e}" for step in SHOWN), f"growth {noise.growth:.3f}")
    worst = max(gap / band for gap, band in zip(gaps, bands, strict=True))
    print(f"  largest loss gap over its band: {worst:.2f}", flush=True)
    outside = bool(beyond) or worst > 1
    return [name] if outside == equal else []


def by_kind(rows: Sequence[Row]) -> dict[str, float]:
    """The largest of each kind of tensor and step."""
    found: dict[str, float] = {}
    for row in rows:
        kind = f"{row.key.kind.value} {row.step}"
        found[kind] = max(found.get(kind, 0.0), row.wide)
    return found


if __name__ == "__main__":
    sys.exit(main())
