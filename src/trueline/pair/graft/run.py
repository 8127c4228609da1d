"""Live runs of the port with the benchmark's tensors put in, and where it still diverges behind them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

from trueline.compare.noise import epsilon, tensor_floor
from trueline.compare.verdict import Verdict
from trueline.kernel.array import Array
from trueline.model.json_value import JsonObject
from trueline.model.numbers import encode
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.matching import Matched, match_calls
from trueline.pair.coarse import Coarse
from trueline.pair.forward.isolating import coarse_of
from trueline.pair.graft.places import graft_calls, misfit
from trueline.pair.questions.live import LiveCall, LiveRun, LiveSpec, RunLive
from trueline.pair.questions.recording import Recording
from trueline.pair.sides.side import Side
from trueline.pair.verify import judge_outputs

# Measured noise is the furthest of a few tries; another library rounds elsewhere too.
_NOISE_MARGIN: Final = 10.0
_SEEDS: Final = (1, 2)

Called = tuple[str, int]
Where = tuple[Called, str, str]


@dataclass(frozen=True, slots=True)
class Apart:
    """How far the network's outputs lie apart, relative to the benchmark's largest, and how far noise brings them.

    ``level`` is None where their shapes or numbers differ.
    """

    level: float | None
    limit: float
    within: bool

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {
            "level": encode(self.level) if self.level is not None else None,
            "limit": encode(self.limit),
            "within": self.within,
        }


@dataclass(frozen=True, slots=True)
class Diverging:
    """A module that differs on live values; ``inside``: though its inputs agree, so what differs is in it."""

    module: str
    other_module: str
    call: int
    kind: str
    level: float
    limit: float
    inside: bool

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {
            "module": self.module,
            "other_module": self.other_module,
            "call": self.call,
            "kind": self.kind,
            "level": encode(self.level),
            "limit": encode(self.limit),
            "inside": self.inside,
        }


@dataclass(frozen=True, slots=True)
class Grafted:
    """What one run with grafts showed; ``diverging`` are the modules behind the last of them, in order, each once."""

    modules: Sequence[str]
    other_modules: Sequence[str]
    calls: int
    before: Apart
    after: Apart
    first: Diverging | None
    diverging: Sequence[Diverging]

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {
            "modules": list(self.modules),
            "other_modules": list(self.other_modules),
            "calls": self.calls,
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "first": self.first.to_json() if self.first is not None else None,
            "diverging": [one.to_json() for one in self.diverging],
        }


def run_grafts(
    sides: tuple[Side, Side],
    aligned: Aligned,
    recordings: tuple[Recording, Recording],
    inputs: Sequence[Array],
    wanted: Sequence[str],
) -> list[Grafted]:
    """Each graft by itself and, of several, all at once; ``recordings`` are in evaluation, the benchmark's whole."""
    paths = list(dict.fromkeys(wanted))
    matched = match_calls(aligned, *recordings)
    calls = {path: graft_calls(sides[1].name, path, matched, recordings) for path in paths}
    live = _Live(sides, aligned, recordings, inputs, matched)
    before = live.outputs(live.run(()))
    groups = [[path] for path in paths] + ([paths] if len(paths) > 1 else [])
    return [live.grafted([call for path in group for call in calls[path]], group, before) for group in groups]


class _Live:
    def __init__(
        self,
        sides: tuple[Side, Side],
        aligned: Aligned,
        recordings: tuple[Recording, Recording],
        inputs: Sequence[Array],
        matched: Sequence[Matched],
    ) -> None:
        self.sides, self.recordings, self.inputs, self.matched = sides, recordings, inputs, matched
        self.by_call = {one.called: one for one in matched}
        self.coarse: Coarse = coarse_of(sides, aligned, inputs)
        self.known: list[Array] = []
        self.places: dict[int, int] = {}
        self.specs = [self._spec(one) for one in matched]

    def run(self, grafts: Collection[Called]) -> LiveRun:
        """The port with the benchmark's tensors at some calls."""
        specs = [replace(spec, graft=(spec.path, spec.call) in grafts) for spec in self.specs]
        return self.sides[1].answer(RunLive(self.inputs, self.known, specs))

    def outputs(self, run: LiveRun) -> Apart:
        """How far apart the outputs of the networks are."""
        judged = judge_outputs(self.sides, self.inputs, self.recordings[0].outputs, run.outputs, rounds=2)
        worst = judged.worst
        limit = worst.floor.value if worst is not None else 0.0
        comparable = judged.counts[0] == judged.counts[1] and all(one.distance.comparable for one in judged.outputs)
        level = worst.level if worst is not None and comparable else None
        return Apart(level, limit, judged.verdict is not Verdict.DIFFERS)

    def grafted(self, calls: Sequence[Matched], paths: Sequence[str], before: Apart) -> Grafted:
        """What remains of the difference with these grafts."""
        grafts = {call.called for call in calls}
        run = self.run(grafts)
        for seen in run.calls:
            if seen.misfits and (seen.path, seen.call) in grafts:
                raise misfit(self.sides[1].name, seen.path, seen.misfits[0].here, seen.misfits[0].there)
        events = list(self._diverging(run, grafts))
        after = self.outputs(run)
        listed: dict[str, Diverging] = {}
        for event in events:
            if event.kind == "out":
                listed.setdefault(event.module, event)
        return Grafted(
            paths,
            list(dict.fromkeys(call.bench.path for call in calls)),
            len(calls),
            before,
            after,
            events[0] if events and not after.within else None,
            list(listed.values()),
        )

    def _spec(self, matched: Matched) -> LiveSpec:
        bench, port = matched.bench, matched.port
        outs = (matched.own,) if matched.own is not None else bench.outs
        return LiveSpec(port.path, port.call, [self._at(one) for one in bench.ins], [self._at(one) for one in outs])

    def _at(self, place: int) -> int:
        if place not in self.places:
            self.places[place] = len(self.known)
            self.known.append(self.recordings[0].arrays[place])
        return self.places[place]

    def _diverging(self, run: LiveRun, grafts: Collection[Called]) -> Iterator[Diverging]:
        """What differs behind the last graft, in the order in which it came about."""
        seen = {(call.path, call.call): call for call in run.calls}
        last = max((seen[called].ended for called in grafts if called in seen), default=-1)
        noise = self._noise(grafts)
        events = sorted(
            (moment, kind, called)
            for called, call in seen.items()
            for moment, kind in ((call.began, "in"), (call.ended, "out"))
            if moment > last and called[0]
        )
        for depth, (_, kind, called) in enumerate(events):
            matched = self.by_call[called]
            agree = self._worst(seen[called], "in", noise, depth) is None
            if matched.silent and (kind == "in" or not agree):
                # It is matched by its place alone; what goes in says whether it is the same call at all.
                continue
            found = self._worst(seen[called], kind, noise, depth)
            if found is not None:
                yield Diverging(called[0], matched.bench.path, called[1], kind, *found, inside=kind == "out" and agree)

    def _worst(self, call: LiveCall, kind: str, noise: Mapping[Where, float], depth: int) -> tuple[float, float] | None:
        """The level and the limit of the tensor that is furthest beyond noise."""
        matched = self.by_call[call.path, call.call]
        recording = self.recordings[0]
        shapes = [recording.shapes[place][1] for place in (*matched.bench.ins, *matched.bench.outs)]
        terms = max((prod(shape[1:]) for shape in shapes), default=1)
        beyond: list[tuple[float, float, float]] = []
        for check in call.checks:
            if check.kind != kind:
                continue
            own = matched.bench.ins if kind == "in" else self._outs(matched)
            theirs = recording.shapes[own[int(check.index)]][0]
            coarser = max(1.0, epsilon(check.dtype) / epsilon(theirs)) if epsilon(theirs) else 1.0
            moved = noise.get(((call.path, call.call), kind, check.index), 0.0)
            least = tensor_floor((check.dtype, theirs), depth, reduction=terms)
            limit = max(least, _NOISE_MARGIN * moved * coarser)
            if self.coarse.possible and check.comparable and check.level > limit:
                limit = max(limit, self.coarse.explained(check.level))
            if not check.comparable or not check.level <= limit:
                beyond.append((check.level / limit if limit else check.level, check.level, limit))
        return max(beyond)[1:] if beyond else None

    def _outs(self, matched: Matched) -> Sequence[int]:
        return (matched.own,) if matched.own is not None else matched.bench.outs

    def _noise(self, grafts: Collection[Called]) -> dict[Where, float]:
        """How far the benchmark's own numbers move where its roundings do, by the port's calls."""
        there = {(one.bench.path, one.bench.call): one.called for one in self.matched}
        specs = [
            LiveSpec(
                one.bench.path,
                one.bench.call,
                spec.ins,
                [self._at(out) for out in one.bench.outs],
                one.called in grafts and one.own is None,
            )
            for one, spec in zip(self.matched, self.specs, strict=True)
        ]
        found: dict[Where, float] = {}
        for seed in _SEEDS:
            for call in self.sides[0].answer(RunLive(self.inputs, self.known, specs, seed)).calls:
                called = there[call.path, call.call]
                for check in call.checks:
                    where = (called, check.kind, check.index)
                    if check.comparable:
                        found[where] = max(found.get(where, 0.0), check.level)
        return found
