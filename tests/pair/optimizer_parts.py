"""Files with parts for the project of updates, and its two sides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pair.sides import side_of

from trueline.pair.aligning.aligned import Aligned, align_sides, carry_over
from trueline.pair.sides.parts import Parts, load_parts
from trueline.pair.sides.side import Side

PROJECT = Path(__file__).parent / "update_project"
_HEAD = """
def {role}_optimizer(model):
    {imports}
    params = {params}
    decay = [one for one in params if {decayed}]
    others = [one for one in params if not ({decayed})]
    return {optimizer}
"""


@dataclass(frozen=True, slots=True)
class Sides:
    """A benchmark and a port of equal weights."""

    bench: Side
    port: Side
    aligned: Aligned

    def parts(self, path: Path, text: str) -> Parts:
        """Both load a file with parts."""
        path.write_text(text)
        return load_parts(self.bench, self.port, path)


@contextmanager
def both_sides() -> Iterator[Sides]:
    """The project's network in both frameworks."""
    with side_of("torch_nets:net", PROJECT) as bench, side_of("mindspore_nets:net", PROJECT) as port:
        aligned = align_sides(bench.describe(), port.describe())
        carry_over(bench, port, aligned)
        yield Sides(bench, port, aligned)


def optimizers(bench: str, port: str) -> str:
    """The text of a file with these two optimizers; ``decay`` are the weights of more than one dimension."""
    there = _HEAD.format(
        role="bench",
        imports="import torch; from torch import optim",
        params="list(model.parameters())",
        decayed="one.ndim > 1",
        optimizer=bench,
    )
    here = _HEAD.format(
        role="port",
        imports="from mindspore import mint, nn; from mindspore.experimental import optim",
        params="model.trainable_params()",
        decayed="one.ndim > 1",
        optimizer=port,
    )
    return there + here
