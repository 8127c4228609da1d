"""``trueline pair`` on a correct ResNet-50 port beside one forward and backward of both sides: CPU seconds."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from cli import children_seconds

from trueline.adapters.guest.entry import Entry
from trueline.pair.api import pair
from trueline.pair.pairing import Paired
from trueline.pair.sides.side import Side

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parent / "examples" / "resnet50"
SIDES = ("resnet_torch:resnet50", "resnet_mindspore:resnet50")
LIMIT = 10.0


def seconds() -> float:
    """CPU seconds of this process and of all its children that have ended."""
    return time.process_time() + children_seconds()


def one_pass(framework: str) -> float:
    """The CPU seconds of one forward and backward."""
    command = [sys.executable, HERE / "pair_loops" / "one_pass.py", framework]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1])


def started() -> float:
    """What it costs to start both processes and build both networks."""
    before = seconds()
    for text in SIDES:
        with Side.start(Entry.parse(text), folder=EXAMPLE) as side:
            side.ready()
    return seconds() - before


def paired() -> tuple[float, Paired]:
    """All stages that need no parts."""
    before = seconds()
    found = pair(*SIDES, "2x3x224x224", folder=EXAMPLE, steps=0)
    return seconds() - before, found


def main() -> int:
    """Print the ratio; 1 when it is beyond its limit."""
    # The frameworks' threads would wait for each other on few cores, and count as work.
    os.environ["OMP_NUM_THREADS"] = "1"
    # Both MindSpores alike: without it one pass takes many times as long where AVX-512 is, and the ratio flatters.
    os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX2"
    passes = {name: one_pass(name) for name in ("torch", "mindspore")}
    start = started()
    spent, found = paired()
    ratio = (spent - start) / sum(passes.values())
    print("ResNet-50 at 2x3x224x224, CPU seconds")
    print(f"  one forward and backward: torch {passes['torch']:.2f}, MindSpore {passes['mindspore']:.2f}")
    print(f"  starting and building both: {start:.2f}")
    counted = f"{found.forward.modules} modules, {found.forward.checks} numbers, {len(found.blames)} causes"
    print(f"  pair, stages 1 to 5, above that: {spent - start:.2f} ({counted})")
    print(f"  ratio to one forward and backward of both: {ratio:.2f} (limit {LIMIT})")
    return int(ratio > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
