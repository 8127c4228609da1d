"""A manifest beside md5sum on all cores and beside reading the same files; memory with ten times the data.

Ratios are of median wall time over nine turns, which the limits are for, and of median CPU time, which says more where
other programs share the cores.
"""

from __future__ import annotations

import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from children import peak_anonymous

from trueline.data.manifest.hashing import hash_files
from trueline.data.manifest.listing import list_paths
from trueline.data.manifest.taking import take_manifest
from trueline.formats.manifest.json_form import write_manifest

CORES = len(os.sched_getaffinity(0))
MD5_LIMIT, FAST_LIMIT = 0.9, 0.7
CALL = [
    "-c",
    "import sys; from trueline.cli.main import main; sys.argv = ['trueline', *sys.argv[1:]]; main()",
    "data",
    "manifest",
]


def make(folder: Path, count: int, size: int) -> Path:
    """Files of random bytes, a thousand to a folder."""
    draw = random.Random(count)
    block = draw.randbytes(min(size, 1 << 20))
    for place in range(count):
        path = folder / f"{place // 1000:03}" / f"{place:06}.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(place.to_bytes(8, "little") + block * (size // len(block)))
    return folder


def seconds() -> float:
    """The CPU time of this process and of its children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def shell(program: str, folder: Path, each: int) -> Callable[[], object]:
    """A program over all files, on all cores as a shell does it."""
    line = f"find {folder} -type f -print0 | xargs -0 -n {each} -P {CORES} {program} > /dev/null"
    return lambda: subprocess.run(line, shell=True, check=True)


def manifest(folder: Path, kinds: list[str]) -> Callable[[], object]:
    """All that the verb does: list, hash, write."""
    out = folder.parent / "manifest.json"
    return lambda: write_manifest(out, take_manifest(list_paths([folder], sizes=False), kinds))


def reading(folder: Path) -> Callable[[], object]:
    """The same listing and reads, and no hash."""

    def read() -> object:
        listing = list_paths([folder], sizes=False)
        return hash_files(listing.root, listing.names, listing.sizes, [])

    return read


def side_by_side(name: str, folder: Path, each: int) -> list[str]:
    """Rows of ratios; returns what missed its limit."""
    calls: dict[str, Callable[[], object]] = {
        "md5sum": shell("md5sum", folder, each),
        "md5": manifest(folder, ["md5"]),
        "md5 and xxh3": manifest(folder, ["md5", "xxh3_128"]),
        "the command": command(folder),
        "reading": reading(folder),
        "cat": shell("cat", folder, each),
        "xxh3": manifest(folder, ["xxh3_128"]),
    }
    spent = measured(calls)
    size = sum(one.stat().st_size for one in folder.rglob("*.bin"))
    missed = []
    for call, base, limit in (
        ("md5", "md5sum", MD5_LIMIT),
        ("md5 and xxh3", "md5sum", MD5_LIMIT),
        ("the command", "md5sum", None),
        ("xxh3", "reading", FAST_LIMIT),
        ("xxh3", "cat", None),
    ):
        wall, cpu = (there / here for there, here in zip(spent[base], spent[call], strict=True))
        shown = f"{limit:.1f}" if limit is not None else ""
        rate = size / spent[call][0] / 1e6
        print(f"{name:16} {call:13} {base:8} {wall:6.2f} {cpu:8.2f} {shown:>6} {rate:9.0f}", flush=True)
        if limit is not None and wall < limit:
            missed.append(f"{name}: {call} {wall:.2f} of {base}, at least {limit}")
    return missed


def measured(calls: dict[str, Callable[[], object]], repeat: int = 9) -> dict[str, tuple[float, float]]:
    """Of each the median of wall seconds and of CPU seconds."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for turn in range(repeat + 1):
        for name, call in calls.items():
            wall, cpu = time.perf_counter(), seconds()
            call()
            if turn:
                taken[name].append((time.perf_counter() - wall, seconds() - cpu))
    return {
        name: (statistics.median(one for one, _ in found), statistics.median(one for _, one in found))
        for name, found in taken.items()
    }


def command(folder: Path) -> Callable[[], object]:
    """The verb as a process, with all that starting Python takes."""
    line = [sys.executable, *CALL, str(folder), "--force", "--json", "-o", str(folder.parent / "manifest.json")]
    return lambda: subprocess.run(line, check=True, capture_output=True)


def memory(room: Path) -> None:
    """The most memory that the verb takes, of some data and of ten times as much."""
    print(f"\n{'memory (MB)':24} {'1x':>8} {'10x':>8}")
    cases = {
        "larger files": [(4, 13 << 20), (4, 130 << 20)],
        "more files": [(2000, 8192), (20_000, 8192)],
    }
    for name, sizes in cases.items():
        peaks = []
        for place, (count, size) in enumerate(sizes):
            folder = make(room / f"{name.replace(' ', '-')}-{place}", count, size)
            peaks.append(peak_anonymous([*CALL, str(folder), "--json", "-o", str(room / f"{name}-{place}.json")]))
        print(f"{name:24} {peaks[0]:8.1f} {peaks[1]:8.1f}", flush=True)


def main() -> int:
    """All of it; 1 where a limit is missed."""
    missed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="trueline-manifest-") as name:
        room = Path(name)
        print(f"{'files':16} {'what':13} {'beside':8} {'ratio':>6} {'by CPU':>8} {'limit':>6} {'MB/s':>9}")
        for shown, folder, count, size, each in (
            ("4 x 128 MB", "large", 4, 128 << 20, 1),
            ("20000 x 8 KB", "small", 20_000, 8192, 500),
        ):
            missed += side_by_side(shown, make(room / folder, count, size), each)
        memory(room)
    for one in missed:
        print("MISSED", one)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
