"""The sides of ``gradient_project``, and one call of a block of theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from pair.sides import side_of

from trueline.pair.ops.op_level import BlockCall, InnerCall
from trueline.pair.sides.side import Side

PROJECT = Path(__file__).parent / "gradient_project"
INPUT = np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)
PORTS = ("torch_nets:port", "mindspore_nets:port")
NAMES = (
    *("plain", "stopped", "ungraded", "numpy", "half", "twice", "line", "ties", "turning", "wanted"),
    *("cube", "turn", "purpose", "right", "writing"),
)


def side(entry: str) -> Side:
    """A side that has begun to build."""
    return side_of(entry, PROJECT)


def block_call(name: str, *, train: bool = True) -> BlockCall:
    """A call of a block; its two layers give known values."""
    random = np.random.default_rng(1)
    inner = [
        InnerCall(f"{name}.{layer}", f"{name}.{layer}", [random.standard_normal((4, 6)).astype(np.float32)])
        for layer in ("first", "second")
    ]
    return BlockCall(name, name, [INPUT], inner, train=train)


def marked_line(entry: str, mark: str) -> tuple[str, int]:
    """The file and the line that bear a mark."""
    file = PROJECT / f"{entry.partition(':')[0]}.py"
    lines = file.read_text("utf-8").splitlines()
    return str(file), 1 + next(place for place, line in enumerate(lines) if f"# expect: {mark}" in line)
