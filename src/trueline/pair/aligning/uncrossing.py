"""Layers of one shape that names have put crosswise: each belongs behind the counterpart of the layer that feeds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.questions.recording import Recording


def uncrossed(pairs: Sequence[ParamPair], recordings: tuple[Recording, Recording]) -> list[ParamPair]:
    """The pairs with layers exchanged where both then are fed by counterparts, and neither was before.

    Layers of equal names stay together: there the port is wired otherwise, and that is to be found.
    """
    feeders = tuple(_feeders(recording) for recording in recordings)
    found = list(pairs)
    while (crossed := _first_crossed(found, *feeders)) is not None:
        found = [_exchanged(pair, crossed, found) for pair in found]
    return found


@dataclass(frozen=True, slots=True)
class _Crossed:
    """Two layers of the port that belong to each other's counterparts."""

    first: str
    second: str


def _feeders(recording: Recording) -> dict[str, str]:
    """The module, called once, whose output a module takes, by the path of each that is called once too."""
    makers = {out: call.path for call in recording.calls for out in call.outs}
    return {
        call.path: makers[call.ins[0]]
        for call in recording.calls
        if recording.counts[call.path] == 1 and len(call.ins) == 1 and call.ins[0] in makers
    }


def _first_crossed(pairs: Sequence[ParamPair], bench: Mapping[str, str], port: Mapping[str, str]) -> _Crossed | None:
    theirs = {pair.port_path.rpartition(".")[0]: pair.bench_path.rpartition(".")[0] for pair in pairs}
    shapes = _shapes(pairs)

    def fits(here: str, there: str) -> bool:
        """Whether a layer of the port and one of the benchmark's are fed by counterparts."""
        return theirs.get(port.get(here, ""), "?") == bench.get(there, "!")

    by_feeder = {(bench.get(there), shapes[here]): here for here, there in theirs.items()}
    for here, there in theirs.items():
        if here == there or here not in port or there not in bench or fits(here, there):
            continue
        other = by_feeder.get((theirs.get(port[here]), shapes[here]))
        if other is None or other in (here, theirs[other]) or fits(other, theirs[other]):
            continue
        if fits(here, theirs[other]) and fits(other, there):
            return _Crossed(here, other)
    return None


def _shapes(pairs: Sequence[ParamPair]) -> dict[str, tuple[tuple[str, tuple[int, ...]], ...]]:
    found: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for pair in pairs:
        path, _, leaf = pair.port_path.rpartition(".")
        found.setdefault(path, []).append((leaf, tuple(pair.port.shape)))
    return {path: tuple(sorted(leaves)) for path, leaves in found.items()}


def _exchanged(pair: ParamPair, crossed: _Crossed, pairs: Sequence[ParamPair]) -> ParamPair:
    """A pair with the benchmark's side of the other layer, where it is one of the two."""
    path, _, leaf = pair.port_path.rpartition(".")
    if path not in (crossed.first, crossed.second):
        return pair
    other = crossed.second if path == crossed.first else crossed.first
    taken = next(one for one in pairs if one.port_path == f"{other}.{leaf}")
    return replace(pair, bench=taken.bench, bench_path=taken.bench_path)
