"""The kernel against numpy.dot and plain NumPy over the same arrays: 256 MB of float32 a side, warm, interleaved."""

from __future__ import annotations

import os

# One BLAS thread, as the kernel's one; it must be said before NumPy is imported.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parent))
from measure import Sample, interleave

from trueline import kernel

SMALL_CALLS = 2000
ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Target:
    """A measured ratio and the limit it must keep."""

    name: str
    measured: float
    sign: str
    limit: float

    @property
    def kept(self) -> bool:
        """The limit holds."""
        return self.measured <= self.limit if self.sign == "<=" else self.measured >= self.limit


def plain_distance(a: NDArray[Any], b: NDArray[Any], rtol: float = 1e-5, atol: float = 1e-8) -> tuple[Any, ...]:
    """The same metrics as one would write them in NumPy."""
    finite_a, finite_b = np.isfinite(a), np.isfinite(b)
    both = finite_a & finite_b
    same = np.count_nonzero((np.isnan(a) & np.isnan(b)) | ((a == b) & ~both))
    left, right = np.where(both, a, 0).astype(np.float64), np.where(both, b, 0).astype(np.float64)
    apart, size = np.abs(left - right), np.abs(right)
    norm = np.linalg.norm(right)
    return (
        apart.max(),
        apart.mean(),
        size.max(),
        apart.max() / size.max(),
        np.linalg.norm(apart) / norm,
        np.dot(left, right) / (np.linalg.norm(left) * norm),
        np.count_nonzero(apart <= atol + rtol * size),
        np.count_nonzero(left == right),
        np.unravel_index(apart.argmax(), a.shape),
        np.count_nonzero(~finite_a),
        np.count_nonzero(~finite_b),
        same,
    )


def measure_kernel(megabytes: int, repeat: int) -> tuple[list[Target], dict[str, Sample]]:
    """All ratios of one run."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal(megabytes << 18, dtype=np.float32)
    b = a + np.float32(1e-4) * rng.standard_normal(a.size, dtype=np.float32)
    small = np.zeros(64, np.float32)

    def summarise_small() -> None:
        for _ in range(SMALL_CALLS):
            kernel.summarise(small)

    cpu = interleave(
        {
            "numpy.dot(a, b)": lambda: np.dot(a, b),
            "distance": lambda: kernel.distance(a, b, threads=1),
            "numpy.dot(a, a)": lambda: np.dot(a, a),
            "summarise": lambda: kernel.summarise(a, threads=1),
            "fingerprint": lambda: kernel.fingerprint(a, threads=1),
            f"summarise of 64 numbers, {SMALL_CALLS} times": summarise_small,
        },
        repeat=repeat,
    )
    plain = interleave(
        {"distance again": lambda: kernel.distance(a, b, threads=1), "plain NumPy": lambda: plain_distance(a, b)},
        repeat=max(3, repeat // 5),
    )
    taken = {
        **cpu,
        **plain,
        **_on_two_cores("distance", lambda threads: kernel.distance(a, b, threads=threads), repeat),
        **_on_two_cores("summarise", lambda threads: kernel.summarise(a, threads=threads), repeat),
    }

    def ratio(name: str, other: str) -> float:
        return taken[name].median / taken[other].median

    targets = [
        Target("distance / numpy.dot(a, b), CPU", ratio("distance", "numpy.dot(a, b)"), "<=", 3.0),
        Target("summarise / numpy.dot(a, a), CPU", ratio("summarise", "numpy.dot(a, a)"), "<=", 4.0),
        Target("plain NumPy / distance, CPU", ratio("plain NumPy", "distance again"), ">=", 8.0),
        Target(
            "distance, 1 thread / 2 threads, wall",
            ratio("distance, 1 thread, wall", "distance, 2 threads, wall"),
            ">=",
            1.7,
        ),
        Target(
            "summarise, 1 thread / 2 threads, wall",
            ratio("summarise, 1 thread, wall", "summarise, 2 threads, wall"),
            ">=",
            1.7,
        ),
    ]
    return targets, taken


def _on_two_cores(name: str, call: Callable[[int], object], repeat: int) -> dict[str, Sample]:
    """The quietest of some attempts: another program on the second core can only hide a gain in wall time."""
    one, two = f"{name}, 1 thread, wall", f"{name}, 2 threads, wall"
    attempts = [
        interleave({one: lambda: call(1), two: lambda: call(2)}, repeat=repeat, clock=time.perf_counter)
        for _ in range(ATTEMPTS)
    ]
    return max(attempts, key=lambda found: found[one].median / found[two].median)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; 1 where a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--repeat", type=int, default=15)
    chosen = parser.parse_args(arguments)
    if not kernel.native_available():
        print("the native kernel is not built: python native/compile.py")
        return 1
    targets, taken = measure_kernel(chosen.megabytes, chosen.repeat)
    print(f"{'milliseconds':<44}{'median':>10}{'low':>10}{'high':>10}")
    for name, sample in taken.items():
        print(f"{name:<44}{sample.median * 1e3:>10.2f}{sample.low * 1e3:>10.2f}{sample.high * 1e3:>10.2f}")
    print(f"\n{'ratio':<44}{'measured':>10}{'target':>10}")
    for one in targets:
        print(f"{one.name:<44}{one.measured:>10.2f}{one.sign + ' ' + format(one.limit, 'g'):>10}")
    if chosen.json is not None:
        found = {
            "targets": [{**asdict(one), "kept": one.kept} for one in targets],
            "seconds": {name: asdict(sample) for name, sample in taken.items()},
        }
        chosen.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    missed = [one.name for one in targets if not one.kept]
    if missed:
        print(f"\nmissed: {'; '.join(missed)}")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
