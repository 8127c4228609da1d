"""Dropout that is code and no matched layer: how much each drops, call by call, and whether that explains it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trueline.adapters.dropout import named_as_dropping
from trueline.apitable.layers import layer_of_class
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.matching import Matched
from trueline.pair.attributes.latent_dropout import many, same_strength, strength
from trueline.pair.attributes.reference import Reference as TryReference
from trueline.pair.backward.gradient_words import line_text
from trueline.pair.blame import Blame, Cause, Stage, module_name
from trueline.pair.forward.causes import built_at
from trueline.pair.forward.drop_places import DropPlaces, Elsewhere
from trueline.pair.forward.forced import Reference
from trueline.pair.questions.described import Described
from trueline.pair.questions.recording import Recording
from trueline.pair.sides.side import Side

_ROUNDED: Final = 1e-6

Called = tuple[str, int]


@dataclass
class _Drops:
    """What the code of one matched call drops on both sides, by place in the order of the run; ``at`` began it."""

    bench: dict[int, float] = field(default_factory=dict)
    port: dict[int, float] = field(default_factory=dict)
    at: Matched | None = None

    def shares(self) -> tuple[list[float], list[float]]:
        """The benchmark's and the port's, in order."""
        found = [[one[place] for place in sorted(one)] for one in (self.bench, self.port)]
        return found[0], found[1]


def drop_blames(
    sides: tuple[Side, Side], aligned: Aligned, recordings: tuple[Recording, Recording], reference: Reference
) -> list[Blame]:
    """Where the port's code drops another share than the benchmark's, another number of times, or other values."""
    blames = []
    for matched, drops in _differing(aligned, recordings, reference.matched):
        if _alike(sides, matched, drops, reference):
            continue
        measured = _measured(sides, recordings, matched, reference, drops)
        lines = _lines(aligned, recordings, drops.at or matched, drops)
        blames.append(_blame(drops.at or matched, drops.shares(), measured, lines))
    elsewhere = list(_elsewhere(sides, aligned, recordings, reference))
    return [*blames, *reversed(elsewhere)]


def _alike(sides: tuple[Side, Side], matched: Matched, drops: _Drops, reference: Reference) -> bool:
    """Whether the same values are dropped with the same shares, only in another order."""
    bench, port = drops.shares()
    if sorted(bench) != sorted(port):
        return False
    same = DropPlaces(sides, matched, reference).same_values()
    return len(same) == len(bench) and all(_same(bench[here], port[there]) for here, there in same)


def _elsewhere(
    sides: tuple[Side, Side], aligned: Aligned, recordings: tuple[Recording, Recording], reference: Reference
) -> Iterator[Blame]:
    """Where as much is dropped, and other values."""
    holders = {pair.port.name for pair in _holders(recordings[1], reference.matched)}
    told: set[int] = set()
    # Innermost calls first: those around hold the same dropouts.
    for matched in reversed(reference.matched):
        if matched.port.name not in holders or _compared(aligned, matched):
            continue
        calls = (matched.bench.path, matched.bench.call), (matched.port.path, matched.port.call)
        bench, port = (list(_inside(recording, *call)) for recording, call in zip(recordings, calls, strict=True))
        shares = [share for _, share in bench], [share for _, share in port]
        if len(bench) != len(port) or not all(map(_same, *shares)):
            continue
        for found in DropPlaces(sides, matched, reference).elsewhere(shares):
            order, other = port[found.port][0], bench[found.bench][0]
            if order not in told:
                told.add(order)
                yield _blame_elsewhere(matched, shares[1][found.port], found, recordings, (other, order))


def _holders(recording: Recording, matched: Sequence[Matched]) -> Iterator[Matched]:
    """The innermost calls that the port's dropouts are made in."""
    by_place = {place: pair for pair in matched if not pair.silent for place in (recording.calls.index(pair.port),)}
    for place, _ in recording.drops:
        holder = _holder(recording, place, by_place)
        if holder is not None:
            yield holder


def _blame_elsewhere(
    matched: Matched, share: float, found: Elsewhere, recordings: tuple[Recording, Recording], orders: tuple[int, int]
) -> Blame:
    other_line, line = (recording.drop_lines[order] for recording, order in zip(recordings, orders, strict=True))
    words = {"module": module_name(matched.port.path), "share": f"{share:g}"}
    words |= {"line": line_text(line), "other_line": line_text(other_line)}
    return Blame(
        Stage.FORWARD,
        Cause.DROPOUT,
        message("pair_stage.drops_elsewhere", **words),
        matched.port.path,
        matched.bench.path,
        confirmed=True,
        measured=found.effect if math.isfinite(found.effect) else None,
        line=line,
        other_line=other_line,
        edit=message("pair_stage.edit_drops_elsewhere", **words),
    )


def _differing(
    aligned: Aligned, recordings: tuple[Recording, Recording], matched: Sequence[Matched]
) -> Iterator[tuple[Matched, _Drops]]:
    """Innermost calls first; where the numbers of drops differ, the call around is judged: work may be divided."""
    calls = [{(call.path, call.call): place for place, call in enumerate(one.calls)} for one in recordings]
    by_place = (
        {calls[0][call_pair.bench.path, call_pair.bench.call]: call_pair for call_pair in matched},
        {calls[1][call_pair.port.path, call_pair.port.call]: call_pair for call_pair in matched},
    )
    held: dict[int, _Drops] = {}
    for which, recording in enumerate(recordings):
        for order, (place, share) in enumerate(recording.drops):
            holder = _holder(recording, place, by_place[which])
            if holder is not None and not _compared(aligned, holder):
                drops = held.setdefault(calls[1][holder.port.path, holder.port.call], _Drops())
                (drops.bench if which == 0 else drops.port)[order] = share
    for place in sorted(held, reverse=True):
        yield from _settled(recordings[1], place, held, by_place[1])


def _settled(
    port: Recording, place: int, held: dict[int, _Drops], by_place: Mapping[int, Matched]
) -> Iterator[tuple[Matched, _Drops]]:
    matched, drops = by_place[place], held[place]
    while True:
        bench, here = drops.shares()
        if any(math.isnan(number) for number in (*bench, *here)):
            # What drops does not say how much.
            return
        if len(bench) == len(here):
            if not all(map(_same, bench, here)):
                yield matched, drops
            return
        above = port.calls[place].parent
        while above is not None and (above not in by_place or by_place[above].silent):
            above = port.calls[above].parent
        if above is None:
            yield matched, drops
            return
        if above in held and above != place:
            # What is around has drops of its own, and its turn comes later.
            held[above].bench |= drops.bench
            held[above].port |= drops.port
            held[above].at = held[above].at or drops.at or by_place[place]
            return
        drops.at = drops.at or matched
        place, matched = above, by_place[above]


def _holder(recording: Recording, place: int | None, by_place: Mapping[int, Matched]) -> Matched | None:
    """The innermost matched call that a drop was made in."""
    while place is not None and place not in by_place:
        place = recording.calls[place].parent
    return by_place[place] if place is not None else None


def _compared(aligned: Aligned, matched: Matched) -> bool:
    """Whether how much it drops is an argument of a layer, which is compared as one."""
    if matched.silent:
        return True
    names = (aligned.bench.classes.get(matched.bench.path, ""), aligned.port.classes.get(matched.port.path, ""))
    return all(layer_of_class(name) is not None for name in names)


def _wanted(drops: _Drops) -> dict[int, float] | None:
    """How much each dropout of the port is to drop as the benchmark's do, by its place; None where one is missing."""
    bench, port = drops.shares()
    wanted = bench if len(bench) == len(port) else _without_more(bench, port)
    return dict(zip(sorted(drops.port), wanted, strict=True)) if wanted is not None else None


def _without_more(bench: Sequence[float], port: Sequence[float]) -> list[float] | None:
    """The port's shares with those that are too many at nothing; None where some of the benchmark's are not there."""
    remaining = list(bench)
    found = []
    for share in port:
        same = bool(remaining) and _same(share, remaining[0])
        found.append(remaining.pop(0) if same else 0.0)
    return None if remaining else found


def _inside(recording: Recording, path: str, call: int) -> Iterator[tuple[int, float]]:
    """The drops of all that a call does, in order."""
    for order, (place, share) in enumerate(recording.drops):
        while place is not None and (recording.calls[place].path, recording.calls[place].call) != (path, call):
            place = recording.calls[place].parent
        if place is not None:
            yield order, share


def _measured(
    sides: tuple[Side, Side],
    recordings: tuple[Recording, Recording],
    matched: Matched,
    reference: Reference,
    drops: _Drops,
) -> tuple[float | None, float | None, float | None]:
    """How strongly the benchmark's block drops, the port's, and the port's with the benchmark's shares.

    Where the port's does not take what the benchmark's is given, the whole networks say it, nothing else dropping.
    """
    calls = (matched.bench.path, matched.bench.call), (matched.port.path, matched.port.call)
    found = _strengths(sides, recordings, calls, calls, reference, drops)
    if found[1] is None and matched.port.parent is not None:
        return _strengths(sides, recordings, (("", 0), ("", 0)), calls, reference, drops)
    return found


def _strengths(
    sides: tuple[Side, Side],
    recordings: tuple[Recording, Recording],
    whole: tuple[Called, Called],
    inside: tuple[Called, Called],
    reference: Reference,
    drops: _Drops,
) -> tuple[float | None, float | None, float | None]:
    """What a call of each side drops, of that only what one call in it does."""
    ins = list(reference.all(*whole[0], "in").values())
    repeated = many(ins)

    def of(which: int, changed: Mapping[int, float]) -> float | None:
        path, call = whole[which]
        own = {order for order, _ in _inside(recordings[which], *inside[which])}
        shares = [
            changed.get(order, share) if order in own else 0.0
            for order, share in _inside(recordings[which], path, call)
        ]
        return strength(sides[which], path, repeated, TryReference(ins, (), call=call, train=True), shares=shares)

    wanted = _wanted(drops)
    there = of(0, {})
    here = of(1, {})
    return there, here, of(1, wanted) if wanted is not None and here is not None else None


def _lines(
    aligned: Aligned, recordings: tuple[Recording, Recording], matched: Matched, drops: _Drops
) -> tuple[Location | None, Location | None]:
    """The benchmark's and the port's line of the first dropout that is another; where one lacks it, its block's."""
    bench, port = drops.shares()
    another_share = len(bench) == len(port)
    first = next((place for place, pair in enumerate(zip(bench, port, strict=False)) if not _same(*pair)), None)
    # Where one has more, what it has there is too many, and stands for nothing on the other side.
    first = min(len(bench), len(port)) if first is None else first
    lines: list[Location | None] = []
    for side, recording, shares, more, path in (
        (aligned.bench, recordings[0], drops.bench, len(bench) >= len(port), matched.bench.path),
        (aligned.port, recordings[1], drops.port, len(port) >= len(bench), matched.port.path),
    ):
        order = sorted(shares)[first] if more else None
        built = _built_for(side, recording, order) if another_share and order is not None else None
        line = recording.drop_lines[order] if order is not None else None
        lines.append(built or line or built_at(side, path))
    return lines[0], lines[1]


def _built_for(side: Described, recording: Recording, order: int) -> Location | None:
    """The line that builds the layer that drops, which has its share; None where code drops by itself."""
    place = recording.drops[order][0]
    path = recording.calls[place].path if place is not None else ""
    return built_at(side, path) if named_as_dropping(side.types.get(path, "")) else None


def _blame(
    matched: Matched,
    shares: tuple[list[float], list[float]],
    measured: tuple[float | None, float | None, float | None],
    lines: tuple[Location | None, Location | None],
) -> Blame:
    bench, port = shares
    there, here, changed = measured
    confirmed = there is not None and changed is not None and same_strength(changed, there)
    words = {"module": module_name(matched.port.path), "port": _shown(port), "bench": _shown(bench)}
    return Blame(
        Stage.FORWARD,
        Cause.DROPOUT,
        message("pair_stage.drops", **words),
        matched.port.path,
        matched.bench.path,
        bench,
        port,
        confirmed,
        measured=here,
        limit=there,
        left=changed,
        line=lines[1],
        other_line=lines[0],
        edit=message("pair_stage.edit_drops", **words),
    )


def _same(first: float, second: float) -> bool:
    """But for how a framework rounds what is kept."""
    return math.isclose(first, second, abs_tol=_ROUNDED)


def _shown(shares: Sequence[float]) -> Message | str:
    return ", ".join(f"{number:g}" for number in shares) if shares else message("pair_stage.drops_nothing")
