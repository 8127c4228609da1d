"""``trueline compare`` beside the loops people write: CPU seconds of whole processes, memory, and growth."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from children import cpu, peak_anonymous, run
from cli import children_seconds
from measure import interleave

HERE = Path(__file__).resolve().parent
LOOPS = HERE / "compare_loops"
PAIRS, ELEMENTS = 200, 1_000_000
COUNTS = (1, 10, 100, 1_000, 10_000)
NPY_LIMIT, WEIGHTS_LIMIT, MEMORY_LIMIT = 0.25, 0.1, 300.0
missed: list[str] = []


def compare(*paths: Path) -> list[str]:
    """The command line to measure."""
    return ["-m", "trueline", "compare", *(str(path) for path in paths)]


def npy_folders(folder: Path) -> None:
    """200 pairs of a million float32, one element in a hundred perturbed."""
    random = np.random.default_rng(0)
    here, there = folder / "a", folder / "b"
    here.mkdir()
    there.mkdir()
    for place in range(PAIRS):
        values = random.standard_normal(ELEMENTS, dtype=np.float32)
        np.save(there / f"layer{place}.npy", values)
        values[random.integers(0, ELEMENTS, ELEMENTS // 100)] *= np.float32(1.001)
        np.save(here / f"layer{place}.npy", values)
    measured = interleave(
        {
            "numpy.allclose loop": lambda: run([str(LOOPS / "npy_loop.py"), str(here), str(there)]),
            "trueline compare": lambda: run(compare(here, there)),
            "trueline compare of one pair": lambda: run(compare(here / "layer0.npy", there / "layer0.npy")),
        },
        repeat=5,
        clock=children_seconds,
    )
    print(f"2 x {PAIRS} .npy of {ELEMENTS:,} float32, whole processes, CPU seconds")
    loop = measured["numpy.allclose loop"].median
    for name, sample in measured.items():
        spread = f"({sample.low:.3f} - {sample.high:.3f})"
        print(f"  {name:<30} {sample.median:7.3f}  {spread}  x loop {sample.median / loop:.3f}")
    check("npy folders / allclose loop", measured["trueline compare"].median / loop, NPY_LIMIT)


def weight_files(folder: Path) -> None:
    """A gigabyte as .pth against the same as .ckpt."""
    a, b = folder / "a.pth", folder / "b.ckpt"
    subprocess.run([sys.executable, LOOPS / "make_weights.py", a, b], check=True, capture_output=True)
    ours, loops, idles = [], [], []
    small = folder / "small.npy"
    np.save(small, np.zeros(1, np.float32))
    idle_memory = peak_anonymous(compare(small, small))
    memory = 0.0
    for _ in range(5):
        loop = subprocess.run(
            [sys.executable, LOOPS / "weights_loop.py", a, b], capture_output=True, text=True, check=True
        )
        loops.append(float(loop.stdout.split()[-1]))
        idles.append(cpu(compare(small, small)))
        ours.append(cpu(compare(a, b)))
    memory = max(peak_anonymous(compare(a, b)) for _ in range(3)) - idle_memory
    ratio = statistics.median((mine - idle) / loop for mine, idle, loop in zip(ours, idles, loops, strict=True))
    size = a.stat().st_size / 1e9
    print(f"\n{size:.2f} GB of weights, .pth against .ckpt, CPU seconds")
    print(f"  torch.load + load_checkpoint + allclose loop, without its imports {statistics.median(loops):7.3f}")
    print(f"  trueline compare, whole process                                   {statistics.median(ours):7.3f}")
    print(f"  trueline compare of two files of one number                       {statistics.median(idles):7.3f}")
    print(f"  anonymous memory above the idle process: {memory:.0f} MB (limit {MEMORY_LIMIT:.0f})")
    check("weights, above the idle start / loop", ratio, WEIGHTS_LIMIT)
    check("anonymous memory, MB", memory, MEMORY_LIMIT)


def growth(folder: Path) -> None:
    """From one tensor to ten thousand."""
    print("\nsmall tensors in folders, CPU seconds of the whole process")
    calls = {}
    for count in COUNTS:
        here, there = folder / f"{count}a", folder / f"{count}b"
        here.mkdir()
        there.mkdir()
        for place in range(count):
            values = np.full(256, place, np.float32)
            np.save(here / f"layer{place // 10}.conv{place % 10}.npy", values)
            np.save(there / f"layer{place // 10}.conv{place % 10}.npy", values)
        calls[str(count)] = lambda here=here, there=there: run(compare(here, there))
    measured = interleave(calls, repeat=3, clock=children_seconds)
    start = measured["1"].median
    for count in COUNTS:
        taken = measured[str(count)].median
        each = (taken - start) / count * 1e3 if count > 1 else float("nan")
        print(f"  {count:>6} tensors {taken:7.3f}   {each:6.3f} ms each above one tensor")
    each = [(measured[str(count)].median - start) / count for count in (1_000, 10_000)]
    check("cost of a tensor among 10,000 / among 1,000", each[1] / each[0], 1.5)


def check(what: str, measured: float, limit: float) -> None:
    """Print a row against its limit."""
    print(f"  {what}: {measured:.3f} (limit {limit:g})")
    if measured > limit:
        missed.append(what)


if __name__ == "__main__":
    for part in (npy_folders, weight_files, growth):
        with tempfile.TemporaryDirectory(prefix="trueline-bench-") as folder:
            part(Path(folder))
    for one in missed:
        print(f"missed: {one}")
    sys.exit(1 if missed else 0)
