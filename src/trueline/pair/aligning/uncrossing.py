"""Layers of one shape that names have put crosswise: each belongs where its input comes from, and who shares it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.questions.recording import Recording

Leaves = tuple[tuple[str, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Fed:
    """Where a layer's input comes from: the layer that made it ("" for code and for what is no layer), and who else
    takes it."""

    maker: str
    sharing: frozenset[str]


def uncrossed(pairs: Sequence[ParamPair], recordings: tuple[Recording, Recording]) -> list[ParamPair]:
    """The pairs with counterparts exchanged among layers that are then fed as these are, and were not before.

    Layers of equal names stay together: there the port is wired otherwise, and that is to be found.
    """
    found = list(pairs)
    bench = _fed(recordings[0], {pair.bench_path.rpartition(".")[0] for pair in pairs})
    port = _fed(recordings[1], {pair.port_path.rpartition(".")[0] for pair in pairs})
    for _ in range(len(pairs)):
        moved = _belonging(found, bench, port)
        if not moved:
            break
        found = _moved(found, moved)
    return found


def _fed(recording: Recording, layers: set[str]) -> dict[str, Fed]:
    """How each layer is fed that is called once, with one tensor."""
    makers = {out: call.path for call in recording.calls for out in call.outs if call.path in layers}
    taking: dict[int, set[str]] = {}
    once: dict[str, int] = {}
    for call in recording.calls:
        if call.path in layers and len(call.ins) == 1:
            taking.setdefault(call.ins[0], set()).add(call.path)
            if recording.counts[call.path] == 1:
                once[call.path] = call.ins[0]
    return {path: Fed(makers.get(place, ""), frozenset(taking[place] - {path})) for path, place in once.items()}


def _belonging(pairs: Sequence[ParamPair], bench: Mapping[str, Fed], port: Mapping[str, Fed]) -> dict[str, str]:
    """Layers of the port that are not fed as their counterparts are, with those that each alone is fed as."""
    theirs = {pair.port_path.rpartition(".")[0]: pair.bench_path.rpartition(".")[0] for pair in pairs}

    def fits(here: str, there: str) -> bool:
        fed = port[here]
        sharing = frozenset(theirs.get(path, "?") for path in fed.sharing)
        return Fed(theirs.get(fed.maker, ""), sharing) == bench[there]

    groups: dict[Leaves, list[str]] = {}
    leaves = _leaves(pairs)
    for here, there in theirs.items():
        if here != there and here in port and there in bench and not fits(here, there):
            groups.setdefault(leaves[here], []).append(here)
    for group in groups.values():
        fitting = {here: [theirs[other] for other in group if fits(here, theirs[other])] for here in group}
        moved = _closed({here: there[0] for here, there in fitting.items() if len(there) == 1}, theirs)
        if moved:
            return moved
    return {}


def _closed(moved: dict[str, str], theirs: Mapping[str, str]) -> dict[str, str]:
    """Those of some moves that only exchange counterparts among themselves."""
    while moved:
        given = {theirs[here] for here in moved}
        kept = {here: there for here, there in moved.items() if there in given}
        if len(set(kept.values())) < len(kept):
            return {}
        if len(kept) == len(moved):
            return moved
        moved = kept
    return {}


def _leaves(pairs: Sequence[ParamPair]) -> dict[str, Leaves]:
    found: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for pair in pairs:
        path, _, leaf = pair.port_path.rpartition(".")
        found.setdefault(path, []).append((leaf, tuple(pair.port.shape)))
    return {path: tuple(sorted(leaves)) for path, leaves in found.items()}


def _moved(pairs: Sequence[ParamPair], moved: Mapping[str, str]) -> list[ParamPair]:
    """The pairs, some layers with other counterparts."""
    holders = {pair.bench_path.rpartition(".")[0]: pair.port_path.rpartition(".")[0] for pair in pairs}
    by_path = {pair.port_path: pair for pair in pairs}
    found = []
    for pair in pairs:
        path, _, leaf = pair.port_path.rpartition(".")
        taken = by_path[f"{holders[moved[path]]}.{leaf}"] if path in moved else pair
        found.append(replace(pair, bench=taken.bench, bench_path=taken.bench_path))
    return found
