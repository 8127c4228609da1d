"""Modules that hold the same tensors as one around them: which of them is which is not for the tensors to say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.aligning.whole_and_pieces import Pieces
from trueline.pair.questions.described import Described
from trueline.pair.questions.recording import Recording

Shapes = tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]]


def outermost_first(aligned: Aligned, recordings: tuple[Recording, Recording]) -> Aligned | None:
    """Of modules that hold the same tensors the outermost matched with the outermost; None where they are already."""
    several = same_holders(aligned.bench, aligned.port, aligned.pairs, recordings, aligned.pieces, several=True)
    modules = {path: other for path, other in aligned.modules.items() if path not in several}
    modules |= _whole_ones(aligned, several)
    return replace(aligned, modules=modules) if modules != dict(aligned.modules) else None


def with_holders_of_pieces(aligned: Aligned, recordings: tuple[Recording, Recording]) -> Aligned:
    """The same, with modules matched by the pieces that they hold too."""
    if not aligned.pieces:
        return aligned
    modules = same_holders(aligned.bench, aligned.port, aligned.pairs, recordings, aligned.pieces)
    return replace(aligned, modules=_whole_ones(aligned, modules))


def _whole_ones(aligned: Aligned, modules: Mapping[str, str | None]) -> dict[str, str]:
    """Those that have a counterpart and are no pieces themselves."""
    bench, port = aligned.in_pieces
    known = ((path, other) for path, other in modules.items() if other is not None)
    return {path: other for path, other in known if path not in port and other not in bench}


def same_holders(
    bench: Described,
    port: Described,
    pairs: Sequence[ParamPair],
    recordings: tuple[Recording, Recording],
    pieces: Sequence[Pieces] = (),
    *,
    several: bool = False,
) -> dict[str, str | None]:
    """The benchmark's module of each of the port's that holds the same tensors; None for one that has none left.

    Where several hold them, those that take and give the same shapes, the outermost first; else those that have the
    tensors themselves. ``several`` leaves out modules of which there is just one on either side.
    """
    divided = [
        [[side.paths.get(parameter.name, parameter.name) for parameter in held] for held in parameters]
        for side, parameters in ((bench, [each.bench for each in pieces]), (port, [each.port for each in pieces]))
    ]
    there = _holders([*([pair.bench_path] for pair in pairs), *divided[0]], {module.path for module in bench.modules})
    here = _holders([*([pair.port_path] for pair in pairs), *divided[1]], {module.path for module in port.modules})
    owners = {pair.port_path.rpartition(".")[0]: pair.bench_path.rpartition(".")[0] for pair in pairs}
    shapes = (_shapes(recordings[0]), _shapes(recordings[1]))
    found: dict[str, str | None] = {}
    for held, paths in here.items():
        others = there.get(held, [])
        if not others or (several and len(paths) == len(others) == 1):
            continue
        found |= dict.fromkeys(paths)
        found |= _alike(paths, others, shapes) or _owning(paths, others, owners)
    return found


def _alike(here: Sequence[str], there: Sequence[str], shapes: tuple[Mapping[str, Shapes], ...]) -> dict[str, str]:
    """In their order, those whose shapes are likest: a fault may have changed some sides."""
    likeness = {
        (path, other): _likeness(shapes[1][path], shapes[0][other])
        for path in here
        for other in there
        if path in shapes[1] and other in shapes[0]
    }
    best = max(likeness.values(), default=0.0)
    found: dict[str, str] = {}
    begin = 0
    for path in here:
        for place in range(begin, len(there)):
            if best and likeness.get((path, there[place])) == best:
                found[path], begin = there[place], place + 1
                break
    return found


def _likeness(first: Shapes, second: Shapes) -> float:
    """The share of sides that are the same; nothing where not even the number of arrays or axes is."""
    pairs = [pair for a, b in zip(first, second, strict=True) for pair in zip(a, b, strict=False)]
    if any(len(a) != len(b) for a, b in zip(first, second, strict=True)) or any(len(a) != len(b) for a, b in pairs):
        return 0.0
    sides = [x == y for a, b in pairs for x, y in zip(a, b, strict=True)]
    return sum(sides) / len(sides) if sides else 1.0


def _owning(here: Sequence[str], there: Sequence[str], owners: Mapping[str, str]) -> dict[str, str]:
    own = {path: owners[path] for path in here if owners.get(path) in there}
    rest = [one for one in here if one not in own], [one for one in there if one not in own.values()]
    return {**dict(zip(*rest, strict=False)), **own}


def _shapes(recording: Recording) -> dict[str, Shapes]:
    """What each module takes and gives in its first call."""
    found: dict[str, Shapes] = {}
    for call in recording.calls:
        ins, outs = (tuple(recording.shapes[place][1] for place in places) for places in (call.ins, call.outs))
        found.setdefault(call.path, (ins, outs))
    return found


def _holders(tensors: Iterable[Sequence[str]], paths: set[str]) -> dict[frozenset[int], list[str]]:
    """Modules by the tensors that they hold, themselves or below, from the outermost to the innermost.

    Each tensor is named, or all the pieces that it is divided into.
    """
    held: dict[str, set[int]] = {}
    for place, names in enumerate(tensors):
        for name in names:
            while name:
                name = name.rpartition(".")[0]
                held.setdefault(name, set()).add(place)
    found: dict[frozenset[int], list[str]] = {}
    for path in sorted(held, key=lambda one: (one.count(".") + bool(one), one)):
        if path in paths:
            found.setdefault(frozenset(held[path]), []).append(path)
    return found
