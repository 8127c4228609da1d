"""How matrices lie: what shapes do not tell of a square one, the others of its layers' classes do."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from trueline.compare.align import Layout
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.questions.described import Described


def lain_alike(pairs: Sequence[ParamPair], bench: Described, port: Described) -> list[ParamPair]:
    """The pairs, square matrices transposed where all others of the same two classes are."""
    known: dict[Hashable, set[Layout | None]] = {}
    for pair in pairs:
        if _is_matrix(pair) and not _is_square(pair):
            known.setdefault(_classes(pair, bench, port), set()).add(pair.layout)
    return [
        replace(pair, layout=Layout.TRANSPOSED)
        if _is_matrix(pair) and _is_square(pair) and known.get(_classes(pair, bench, port)) == {Layout.TRANSPOSED}
        else pair
        for pair in pairs
    ]


def _is_matrix(pair: ParamPair) -> bool:
    return len(pair.bench.shape) == len(pair.port.shape) == 2


def _is_square(pair: ParamPair) -> bool:
    return pair.bench.shape == pair.port.shape and pair.bench.shape[0] == pair.bench.shape[1]


def _classes(pair: ParamPair, bench: Described, port: Described) -> Hashable:
    """The classes of the layers, and what the matrix is in them."""
    (there, leaf), (here, own) = (path.rpartition(".")[::2] for path in (pair.bench_path, pair.port_path))
    return bench.classes.get(there), leaf, port.classes.get(here), own
