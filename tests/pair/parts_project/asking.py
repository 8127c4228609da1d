"""Files with parts written on the fly, for two sides that are started once."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pair.sides import side_of

from trueline.pair.sides.parts import Parts, load_parts
from trueline.pair.sides.side import Side

PROJECT = Path(__file__).parent
Sides = tuple[Side, Side]


@contextmanager
def both_sides(port: str = "mindspore_side:net") -> Iterator[Sides]:
    """A torch benchmark, and by default a MindSpore port."""
    with side_of("torch_side:net", PROJECT) as bench, side_of(port, PROJECT) as other:
        yield bench, other


def parts_of(sides: Sides, folder: Path, text: str) -> Parts:
    """Let both sides load a file with this text."""
    file = folder / "parts.py"
    file.write_text(textwrap.dedent(text), encoding="utf-8")
    return load_parts(*sides, file)


def functions(**bodies: str) -> str:
    """One function for each name, which returns an expression."""
    imports = {
        "bench": "import torch\n    import torch_side as own",
        "port": "import mindspore as ms\n    import mindspore_side as own\n    from mindspore import nn, ops",
    }
    found = ["import numpy as np", "from pictures import *"]
    for name, expression in bodies.items():
        found.append(f"def {name}():\n    {imports[name.partition('_')[0]]}\n    return {expression}")
    return "\n\n\n".join(found) + "\n"
