"""Layers that the port has and never uses, though the benchmark's outputs depend on their counterparts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

import numpy as np

from trueline.adapters.guest.trouble import SideTrouble
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.model.message import message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.backward.gradient_words import line_text
from trueline.pair.blame import Blame, Cause, Stage, module_name
from trueline.pair.questions.model import GetWeights, PutWeights
from trueline.pair.questions.recording import Recording
from trueline.pair.sides.side import Side

_MISSING: Final = "pair_explain.missing"
_NUMBER: Final = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class _Unused:
    """The outermost module of the port that is not called, pairs of the tensors in it, and what is called instead."""

    path: str
    pairs: Sequence[ParamPair]
    instead: str | None = None


def not_called(
    sides: tuple[Side, Side], aligned: Aligned, recordings: tuple[Recording, Recording], inputs: Sequence[Array]
) -> Iterator[Blame]:
    """What the outputs of the port do not depend on, and those of the benchmark do, by giving it other weights."""
    found = [_with_instead(aligned, recordings, unused) for unused in _uncalled(aligned, recordings)]
    # What a whole module stands for, the layers in it stand for too.
    found.sort(key=lambda unused: -len(unused.pairs))
    whole = [unused.instead for unused in found if unused.instead is not None and len(unused.pairs) > 1]
    # A layer that is left over may be the counterpart that an unused one was taken for.
    loose = {parameter.shape for parameter in aligned.only_port}
    for unused in _uncrossed(aligned, found):
        if any(pair.port.shape in loose for pair in unused.pairs):
            continue
        if unused.instead is not None and any(unused.instead.startswith(f"{path}.") for path in whole):
            unused = replace(unused, instead=None)
        names = [pair.bench.name for pair in unused.pairs], [pair.port.name for pair in unused.pairs]
        if _moves(sides[0], names[0], inputs) and not _moves(sides[1], names[1], inputs):
            yield _blame(aligned, recordings, unused)


def unnamed(aligned: Aligned, idle: Iterable[Blame], known: Sequence[Blame]) -> list[Blame]:
    """Without layers whose operators are known to be missing already: one edit adds both."""
    missing = {blame.other_line for blame in known if blame.confirmed and blame.message.id.startswith(_MISSING)}
    # An operator of a framework's layer stands where the layer was built.
    return [
        blame
        for blame in idle
        if not ({blame.other_line, aligned.bench.built_at(blame.other_module)} - {None}) & missing
    ]


def _owner(path: str) -> str:
    return path.rpartition(".")[0]


def _uncalled(aligned: Aligned, recordings: tuple[Recording, Recording]) -> Iterator[_Unused]:
    """Modules none of whose layers are called, the outermost of them."""
    bench, port = (recording.counts for recording in recordings)
    pairs = [pair for pair in aligned.pairs if pair.layout is not None and not pair.bench.buffer]
    idle = {
        _owner(pair.port_path)
        for pair in pairs
        if not port.get(_owner(pair.port_path)) and bench.get(_owner(pair.bench_path))
    }
    busy = {above for path, count in port.items() if count for above in _above(path)}

    def outermost(pair: ParamPair) -> str:
        path = _owner(pair.port_path)
        return next((above for above in reversed(list(_above(path))) if above and above not in busy), path)

    lone = sorted((pair for pair in pairs if _owner(pair.port_path) in idle), key=outermost)
    for path, held in groupby(lone, outermost):
        yield _Unused(path, list(held))


def _above(path: str) -> Iterator[str]:
    """A module and those around it."""
    yield path
    while path:
        path = _owner(path)
        yield path


def _moves(side: Side, names: Sequence[str], inputs: Sequence[Array]) -> bool:
    """Whether the outputs are others with other weights; afterwards they are as they were."""
    before = side.answer(GetWeights(list(names)))
    random = np.random.default_rng(0)
    moved = {name: (array + random.standard_normal(array.shape)).astype(array.dtype) for name, array in before.items()}
    first = side.forward(inputs)
    side.answer(PutWeights(moved))
    try:
        second = side.forward(inputs)
    except SideTrouble:
        return True
    finally:
        side.answer(PutWeights(before))
    return not all(np.array_equal(one, other, equal_nan=True) for one, other in zip(first, second, strict=True))


def _uncrossed(aligned: Aligned, found: Sequence[_Unused]) -> list[_Unused]:
    """Layers that nothing goes into are told by their names alone: of two modules of one class they lie alike."""
    free = {pair.port_path: pair for unused in found for pair in unused.pairs}
    for unused in found:
        own = {pair.port_path for pair in unused.pairs}
        for pair in unused.pairs if unused.instead is not None else ():
            like = aligned.by_port_path[f"{unused.instead}{pair.port_path.removeprefix(unused.path)}"]
            form = _form(like.bench_path)
            if _form(free[pair.port_path].bench_path) == form:
                continue
            other = next(
                (one for one in free.values() if _form(one.bench_path) == form and one.bench.shape == pair.bench.shape),
                None,
            )
            if other is not None and other.port_path not in own:
                mine = free[pair.port_path]
                free[pair.port_path] = replace(mine, bench=other.bench, bench_path=other.bench_path)
                free[other.port_path] = replace(other, bench=mine.bench, bench_path=mine.bench_path)
    return [replace(unused, pairs=[free[pair.port_path] for pair in unused.pairs]) for unused in found]


def _form(path: str) -> str:
    return _NUMBER.sub("#", path)


def _blame(aligned: Aligned, recordings: tuple[Recording, Recording], unused: _Unused) -> Blame:
    bench, port = recordings
    other_place = _called(bench, unused)
    other_path, other_line = bench.calls[other_place].path, bench.line(other_place)
    words = {"module": module_name(unused.path), "other": module_name(other_path)}
    words |= {"other_line": line_text(other_line)}
    line = _beside(aligned, recordings, other_place, _owner(unused.path)) or aligned.port.built_at(unused.path)
    word = "not_called"
    if unused.instead is not None:
        line, word = port.line(_spare_call(recordings, aligned, unused)) or line, "called_instead"
        words |= {"called": module_name(unused.instead), "line": line_text(line)}
    return Blame(
        Stage.FORWARD,
        Cause.NOT_CALLED,
        message(f"pair_stage.{word}", **words),
        unused.path,
        other_path,
        confirmed=True,
        line=line,
        other_line=other_line,
        edit=message(f"pair_stage.edit_{word}", **words),
    )


def _called(bench: Recording, unused: _Unused) -> int:
    """The benchmark's call of what most of the tensors are in, the outermost there is."""
    owners = Counter(above for pair in unused.pairs for above in _above(_owner(pair.bench_path)) if above)
    best = max((path for path in owners if path in bench.counts), key=lambda path: (owners[path], -path.count(".")))
    return next(place for place, call in enumerate(bench.calls) if call.path == best)


def _beside(
    aligned: Aligned, recordings: tuple[Recording, Recording], other_place: int, holder: str
) -> Location | None:
    """The line of the holder's code that calls what the benchmark calls on the same line, or next."""
    bench, port = recordings
    back = {other: path for path, other in aligned.modules.items()}
    line, parent = bench.line(other_place), bench.calls[other_place].parent
    near = [place for place in bench.children.get(parent, ()) if place != other_place]
    near.sort(key=lambda place: (bench.line(place) != line, place < other_place, abs(place - other_place)))
    for place in near:
        path = back.get(bench.calls[place].path)
        call = next((at for at, each in enumerate(port.calls) if each.path == path), None)
        while call is not None:
            above = port.calls[call].parent
            if above is not None and port.calls[above].path == holder:
                return port.line(call)
            call = above
    return None


def _with_instead(aligned: Aligned, recordings: tuple[Recording, Recording], unused: _Unused) -> _Unused:
    """With the module that is called more often than its counterpart, built like the one that is not."""
    bench, port = recordings
    inside = _inside(unused)
    types = aligned.port.types
    for path, kind in types.items():
        if kind != types.get(unused.path) or path == unused.path or not port.counts.get(path):
            continue
        like = {name: aligned.by_port_path.get(f"{path}{name}") for name in inside}
        pairs = [pair for pair in like.values() if pair is not None]
        if len(pairs) == len(inside) and _is_spare(bench.counts, port.counts, pairs):
            return replace(unused, instead=path)
    return unused


def _inside(unused: _Unused) -> list[str]:
    return [pair.port_path.removeprefix(unused.path) for pair in unused.pairs]


def _spare_call(recordings: tuple[Recording, Recording], aligned: Aligned, unused: _Unused) -> int:
    """The first call of what is called instead that its counterpart does not make."""
    bench, port = recordings
    pairs = [aligned.by_port_path[f"{unused.instead}{name}"] for name in _inside(unused)]
    wanted = min(bench.counts[_owner(pair.bench_path)] for pair in pairs)
    calls = [place for place, call in enumerate(port.calls) if call.path == unused.instead]
    return calls[min(wanted, len(calls) - 1)]


def _is_spare(bench: Mapping[str, int], port: Mapping[str, int], pairs: Collection[ParamPair]) -> bool:
    """Whether all layers are called more often than their counterparts."""
    return all(port.get(_owner(pair.port_path), 0) > bench.get(_owner(pair.bench_path), 0) > 0 for pair in pairs)
