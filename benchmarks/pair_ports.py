"""``trueline pair`` on public ports beside one forward and backward of both sides: CPU seconds.

    python benchmarks/pair_ports.py --ports FOLDER --deps DEPS [--only NAME]

FOLDER holds factories.py with the networks, DEPS the packages they come from. The three were chosen before anything was
measured: one whose stem differs, one with two causes and attention, one that is equal.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from pair import LIMIT, seconds

import trueline
from trueline.adapters.guest.entry import Entry
from trueline.pair.api import pair
from trueline.pair.pairing import Paired
from trueline.pair.sides.side import Side

HERE = Path(__file__).resolve().parent
# The benchmark's factory and the port's.
PORTS = {
    "resnet50": ("bench_resnet50", "port_resnet50"),
    "pvt_v2_b0": ("bench_pvt_v2_b0", "port_pvt_v2_b0"),
    "regnet_y_400mf": ("bench_tv__regnet_y_400mf", "port_regnet_y_400mf"),
}
SHAPE = "2x3x224x224"


def one_pass(framework: str, entry: str) -> float:
    """The CPU seconds of one forward and backward."""
    command = [sys.executable, HERE / "pair_loops" / "entry_pass.py", framework, entry, SHAPE]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return float(done.stdout.split()[-1])


def started(entries: tuple[str, str], folder: Path) -> float:
    """What it costs to start both processes and build both networks."""
    before = seconds()
    for text in entries:
        with Side.start(Entry.parse(text), folder=folder) as side:
            side.ready()
    return seconds() - before


def paired(entries: tuple[str, str], folder: Path, steps: int | None) -> tuple[float, Paired]:
    """All stages that need no parts, with so many steps of the curve; None for what it takes by itself."""
    before = seconds()
    found = pair(*entries, SHAPE, folder=folder, steps=steps)
    return seconds() - before, found


def measured(name: str, folder: Path) -> float:
    """Print one port's numbers; its ratio without the curve."""
    bench, port = (f"factories:{factory}" for factory in PORTS[name])
    passes = {"torch": one_pass("torch", bench), "MindSpore": one_pass("mindspore", port)}
    start = started((bench, port), folder)
    spent, found = paired((bench, port), folder, 0)
    both, above = sum(passes.values()), spent - start
    print(f"{name} at {SHAPE}, CPU seconds")
    print("  one forward and backward:", ", ".join(f"{side} {taken:.2f}" for side, taken in passes.items()))
    print(f"  starting and building both: {start:.2f}")
    counted = f"{found.forward.modules} modules, {found.forward.checks} numbers, {len(found.blames)} causes"
    print(f"  pair without the curve, above that: {above:.2f} ({counted})")
    print(f"  ratio to one forward and backward of both: {above / both:.1f} (limit {LIMIT})", flush=True)
    curve = paired((bench, port), folder, None)[0] - spent
    print(f"  the curve besides: {curve:.2f}, ratio {curve / both:.1f}", flush=True)
    return above / both


def main() -> int:
    """Print all; 1 where one is beyond the limit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ports", type=Path, required=True)
    parser.add_argument("--deps", type=Path, required=True)
    parser.add_argument("--only", default="", choices=("", *PORTS))
    asked = parser.parse_args()
    paths = [str(path.resolve()) for path in (Path(trueline.__file__).parents[1], asked.deps, asked.ports)]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    # The frameworks' threads would wait for each other on few cores, and count as work.
    os.environ["OMP_NUM_THREADS"] = "1"
    # Both MindSpores alike: without it one pass takes many times as long where AVX-512 is, and the ratio flatters.
    os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX2"
    ratios = [measured(name, asked.ports.resolve()) for name in PORTS if asked.only in ("", name)]
    return int(max(ratios) > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
