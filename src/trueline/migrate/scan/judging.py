"""What becomes of one use in the other framework: for this call, not for the API in general."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from trueline.apitable.pairs import (
    ARGUMENT,
    MINDSPORE,
    REFUSED,
    TORCH,
    Difference,
    Documented,
    Measured,
    Outcome,
    Table,
    row_of,
)
from trueline.apitable.ways_out import WayKind, WayOut, way_out
from trueline.migrate.scan.arguments import OF_TORCH_ALONE, Given, Relied, documented_reliance, given_by, relied_on
from trueline.migrate.scan.counterparts import Counterparts, Route, counterparts
from trueline.migrate.scan.written import written_in_torch, written_otherwise
from trueline.script.uses.use import Use, UseKind


class Verdict(StrEnum):
    """What becomes of a use."""

    MAPS = "maps"  # the counterpart does the same for this call
    RELIES = "relies"  # it does, once arguments are given whose defaults differ
    DIFFERS = "differs"  # the counterpart gives something else for this call
    RAISES = "raises"  # the counterpart raises
    NO_KERNEL = "no_kernel"  # the counterpart has no kernel on the device that was measured
    WAY_OUT = "way_out"  # nothing maps, but it is known what to do
    MISSING = "missing"  # nothing maps
    UNMEASURED = "unmeasured"  # there is a counterpart that was not measured
    UNDECIDED = "undecided"  # nothing says what the method is called on
    OUTSIDE = "outside"  # of a package built on a framework


# What a port has to work on, the worst first.
PROBLEMS: Final = (Verdict.MISSING, Verdict.RAISES, Verdict.NO_KERNEL, Verdict.DIFFERS, Verdict.RELIES, Verdict.WAY_OUT)
_ORDER: Final = (
    Verdict.MAPS,
    Verdict.RELIES,
    Verdict.UNMEASURED,
    Verdict.DIFFERS,
    Verdict.NO_KERNEL,
    Verdict.RAISES,
    Verdict.MISSING,
)
_LABELS: Final = ("consistent", "names_differ", "defaults_differ", "differs", "none")
# Begins a condition that names an argument which must be left out.
_DEFAULT: Final = "default:"
_NOTHING: Final = Counterparts()
# Stands for inputs of which nothing is known but that some are refused.
_REFUSED: Final = "refused"
# Of what can be written at all it is said how.
_WRITTEN: Final = (Verdict.MAPS, Verdict.RELIES, Verdict.DIFFERS, Verdict.UNMEASURED, Verdict.NO_KERNEL)


@dataclass(frozen=True, slots=True)
class Judged:
    """One use with what becomes of it."""

    use: Use
    verdict: Verdict
    counterparts: Counterparts = _NOTHING
    pair: Documented | None = None
    row: Measured | None = None
    relied: tuple[Relied, ...] = ()
    # Inputs for which both disagree although this call maps: nan, empty, float16 …
    only_for: tuple[str, ...] = ()
    # Whether all arguments of the call are to be seen.
    whole: bool = True
    way: WayOut | None = None
    # Arguments of the call that the counterpart does not have, and that change no value.
    left_out: tuple[str, ...] = ()
    # The differences that this call meets whatever its inputs.
    met: tuple[Difference, ...] = ()
    # Arguments that are written otherwise in the counterpart's call.
    written: tuple[str, ...] = ()

    @property
    def counterpart(self) -> str:
        """The name to write in the other framework, or nothing."""
        if self.pair is not None:
            return self.pair.mindspore if self.use.framework == TORCH else self.pair.torch
        if self.way is not None and self.way.to:
            return self.way.to
        return self.counterparts.name


def judge(use: Use, style: str | None = None, table: Table | None = None) -> Judged:
    """What becomes of a use; ``style`` chooses between classic and mint, else the better one is taken."""
    if not use.decided:
        return Judged(use, Verdict.UNDECIDED)
    if use.framework not in (TORCH, MINDSPORE):
        return Judged(use, Verdict.OUTSIDE)
    way = way_out(use.name)
    if way is not None and way.kind in (WayKind.COUNTERPART, WayKind.DROP) and not way.check:
        return Judged(use, Verdict.MAPS, way=way)
    found = counterparts(use.name, use.full, use.framework)
    chosen = [pair for pair in found.pairs if style in (None, pair.style)] or list(found.pairs)
    judged = [_of_pair(use, pair, found, table) for pair in chosen]
    if judged:
        best = min(judged, key=_rank)
        taken = best.verdict in (Verdict.MAPS, Verdict.RELIES) and not _may_be_refused(best, way)
        if way is None or taken or _is_likely(best) or _is_remark(way, best):
            return best if way is None else replace(best, way=way)
    if way is not None:
        maps = way.kind in (WayKind.COUNTERPART, WayKind.DROP)
        return Judged(use, Verdict.MAPS if maps else Verdict.WAY_OUT, found, way=way)
    if found.name:
        return Judged(use, Verdict.UNMEASURED, found)
    return Judged(use, Verdict.MISSING)


def _may_be_refused(judged: Judged, way: WayOut | None) -> bool:
    """Whether some calls are refused, nothing in this one tells which, and there is a way that was tried."""
    return _REFUSED in judged.only_for and way is not None and bool(way.check)


def _is_remark(way: WayOut, judged: Judged) -> bool:
    """Whether a way out says more of the counterpart itself, and no way around what differs."""
    return way.kind is WayKind.REWRITE and not way.code and way.to == judged.counterpart


def _is_likely(judged: Judged) -> bool:
    """Not measured, but documented as the same."""
    pair = judged.pair
    return judged.verdict is Verdict.UNMEASURED and pair is not None and pair.documented != "differs"


def _is_same_by_documents(judged: Judged) -> bool:
    pair = judged.pair
    same = pair is not None and pair.documented in ("consistent", "names_differ")
    return judged.verdict is Verdict.UNMEASURED and same


def _rank(judged: Judged) -> tuple[float, bool, int, bool]:
    """A pair that is documented as the same comes before one that needs arguments, one that may refuse after it."""
    order = 0.5 if _is_same_by_documents(judged) else _ORDER.index(judged.verdict)
    label = judged.pair.documented if judged.pair is not None else "none"
    style = judged.pair.style if judged.pair is not None else ""
    return (order, _REFUSED in judged.only_for, _LABELS.index(label), style != "mint")


def _of_pair(use: Use, pair: Documented, found: Counterparts, table: Table | None) -> Judged:
    source = use.framework
    row = row_of(pair, table)
    parameters = pair.parameters(source)
    if found.route is Route.FUNCTION:
        # The tensor itself is the function's first argument.
        parameters = parameters[1:]
    given = given_by(use, parameters)

    def judged(
        verdict: Verdict,
        relied: tuple[Relied, ...] = (),
        only_for: tuple[str, ...] = (),
        met: tuple[Difference, ...] = (),
    ) -> Judged:
        written: tuple[str, ...] = ()
        if use.call is not None and verdict in _WRITTEN and use.kind is not UseKind.BASE:
            written = in_torch if source == MINDSPORE else written_otherwise(use.call, pair, found.route)
        return Judged(
            use, verdict, found, pair, row, relied, only_for, given.whole, left_out=lacking, met=met, written=written
        )

    lacking = _lacking(pair, given, source)
    in_torch, not_in_torch = written_in_torch(use.call, given.values, pair) if source == MINDSPORE else ((), ())
    if not_in_torch:
        # A padding of "same" that torch does not have for a stride, a mode of a pooling.
        lacking = not_in_torch
        return judged(Verdict.DIFFERS)
    if "generator" in lacking:
        # Numbers drawn from a generator of the script's own are other numbers without it.
        return judged(Verdict.DIFFERS)
    if row.outcome is Outcome.UNMEASURED:
        relied = tuple(documented_reliance(pair, given, source))
        return judged(Verdict.RELIES if relied else Verdict.UNMEASURED, relied)
    if row.outcome is Outcome.NO_KERNEL:
        return judged(Verdict.NO_KERNEL)
    if row.outcome is Outcome.MISSING:
        return Judged(use, Verdict.MISSING, found, None, row)
    met, only_for = _differences(row, given, source)
    if row.outcome in (Outcome.DIFFERS, Outcome.RAISES) and (met or not row.differences):
        return judged(Verdict.RAISES if row.outcome is Outcome.RAISES else Verdict.DIFFERS, met=met)
    relied = tuple(relied_on(row, given, source))
    if met:
        return judged(_verdict(met), relied, only_for, met)
    if relied and all(one.write for one in relied):
        return judged(Verdict.RELIES, relied, only_for)
    return judged(Verdict.DIFFERS if relied else Verdict.MAPS, relied, only_for)


def _verdict(met: tuple[Difference, ...]) -> Verdict:
    """What differences that a call meets make of it; those that end the program come last."""
    whats = {difference.what for difference in met}
    if not whats <= REFUSED:
        return Verdict.DIFFERS
    return Verdict.RAISES if "raises" in whats else Verdict.NO_KERNEL


def _differences(row: Measured, given: Given, source: str) -> tuple[tuple[Difference, ...], tuple[str, ...]]:
    """The differences that this call meets whatever its inputs; and for which inputs there are others."""
    needed = {need.argument for need in row.needs}
    met: list[Difference] = []
    only_for: dict[str, None] = {}
    for difference in row.differences:
        if difference.what in ("accepts", "precision", "width") or any(
            _is_given(name, row, given, source) for name in difference.unless
        ):
            continue
        conditions = list(_conditions(difference, row, given, source))
        if None in conditions:
            continue
        inputs = [condition for condition in conditions if condition]
        loud = difference.what in REFUSED and row.outcome is not Outcome.RAISES
        if loud and not inputs and not difference.values and not _lacks_argument(difference):
            # Some shapes, or values of an argument, are refused, and loudly.
            inputs = [_REFUSED]
        if inputs:
            only_for.update(dict.fromkeys(inputs))
        elif not any(condition.removeprefix(_DEFAULT) in needed for condition in difference.when):
            met.append(difference)
    return tuple(met), tuple(only_for)


def _is_given(argument: str, row: Measured, given: Given, source: str) -> bool:
    return (row.renamed.get(argument, argument) if source == MINDSPORE else argument) in given.values


def _lacking(pair: Documented, given: Given, source: str) -> tuple[str, ...]:
    """Arguments that say where and how torch computes, of those that the counterpart does not have."""
    theirs = {name.lstrip("*") for name, _ in pair.mindspore_parameters}
    unknown = not pair.mindspore_parameters and not pair.torch_parameters
    if source != TORCH or unknown or "args" in theirs or "kwargs" in theirs:
        return ()
    return tuple(name for name in given.values if name in OF_TORCH_ALONE and name not in theirs)


def _lacks_argument(difference: Difference) -> bool:
    """Whether the counterpart has no such argument at all."""
    return difference.example.mindspore_gives.startswith("no argument")


def _conditions(difference: Difference, row: Measured, given: Given, source: str) -> Iterator[str | None]:
    """What remains of conditions: None for one that this call does not meet, nothing for one that it does."""
    for condition in difference.when:
        begin = next((begin for begin in (ARGUMENT, _DEFAULT) if condition.startswith(begin)), "")
        if not begin:
            yield condition
            continue
        argument = condition[len(begin) :]
        name = row.renamed.get(argument, argument) if source == MINDSPORE else argument
        if begin == _DEFAULT or name not in given.values:
            yield "" if (name in given.values) == (begin == ARGUMENT) else None
            continue
        met = difference.met_by(argument, given.values[name])
        if met is None and difference.what in REFUSED:
            # Whether it is refused depends on a value that is not written here.
            yield _REFUSED
        else:
            yield None if met is False else ""
