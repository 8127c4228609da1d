"""Inputs are not normalised: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from trueline.apitable.functions import classes_of, functions_of, names_of, qualified_of, stems_of
from trueline.apitable.traits import Trait
from trueline.checks.dp_01_not_normalised.run import from_run
from trueline.checks.dp_01_not_normalised.scaling import scale_place
from trueline.checks.engine.check import check, found, none, undecided
from trueline.checks.engine.lines import at_lines
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of, range_of
from trueline.script.analysis.pipeline import enters_as_it_is
from trueline.script.analysis.transforms import transforms_of
from trueline.script.loops import TrainingLoop, training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event, Trace, iterated
from trueline.script.values import Const, Derived, Either, Item, Made, Seq, Symbol, Value
from trueline.script.walking import walk_each

_SCALING_OPERATORS: Final = frozenset(("Div", "Sub"))
_SCALED_STEPS: Final = classes_of(Trait.SCALES_PIXELS, Trait.STANDARDISES)
_SCALING: Final = names_of(
    *(Trait.DIVIDES, Trait.MULTIPLIES, Trait.SUBTRACTS, Trait.SCALES_PIXELS, Trait.STANDARDISES, Trait.SQUASHES),
) | functions_of(Trait.NORM)
_TO_FLOAT: Final = functions_of(Trait.TO_FLOAT32, Trait.TO_FLOAT16, Trait.TO_BFLOAT16)
_TO_TYPE: Final = functions_of(Trait.CASTS_TO)
_CASTING: Final = _TO_FLOAT | _TO_TYPE | functions_of(Trait.WRAPS)
# What leaves the numbers as they are.
_CARRYING: Final = functions_of(
    *(Trait.SAME, Trait.VIEW, Trait.EXPANDS, Trait.REPEATS, Trait.JOINS, Trait.REARRANGES, Trait.CLAMPS, Trait.PADS)
)
_TYPED: Final = functions_of(Trait.WRAPS, Trait.READS_BYTES, Trait.FILLS)
_PICTURES: Final = qualified_of(Trait.READS_PICTURE)
_FIRST: Final = stems_of(Trait.CONV, Trait.LINEAR, Trait.RECURRENT)
_NORMS: Final = stems_of(Trait.NORM, Trait.EMBEDDING)


@dataclass(frozen=True, slots=True)
class _Way:
    """How inputs came to the network: numbers of 0..255 that were only cast, and where; or scaled somewhere."""

    raw: Location | None
    cast: Location | None
    scaled: Location | None


@check("dp.01")
def from_script(script: Script) -> Iterator[Finding]:
    """Whole numbers of 0..255 that reach the first layer as they are."""
    trace = script.trace
    loops = training_loops(trace)
    if not loops:
        yield undecided("dp_01.script.no_training_loop")
        return
    reported: set[str] = set()
    scaled: list[str] = []
    for loop in loops:
        first = _first_layer(loop)
        if first is None:
            continue
        ways = _ways(first.args[0], trace, None)
        scaled += [str(way.scaled) for way in ways if way.scaled is not None]
        if any(way.raw is None for way in ways):
            # On one way at least something is done to them.
            continue
        for way in ways:
            if way.raw is not None and way.cast is not None and str(way.cast) not in reported:
                reported.add(str(way.cast))
                yield found("dp_01.script.raw", way.cast, raw=str(way.raw))
    if reported:
        return
    if scaled:
        yield none("dp_01.script.scaled", evidence=sorted(set(scaled)))
    else:
        yield undecided("dp_01.script.not_told")


@check("dp.01", decides=False)
def from_script_and_run(
    script: Script, run: Run, *, max_mean: float = 3.0, max_std: float = 10.0, max_apart: float = 100.0
) -> Iterator[Finding]:
    """What a run shows to be too large, at the line of the pipeline that makes it so or leaves it so."""
    measured = list(from_run(run, max_mean=max_mean, max_std=max_std, max_apart=max_apart))
    measured = [
        _confirmed(finding, script) if finding.message.id == "dp_01.loader" else finding for finding in measured
    ]
    yield from at_lines(from_script(script), measured, lambda _: _made_at(script), "dp_01.script.nothing_to_place")


def _confirmed(suspected: Finding, script: Script) -> Finding:
    """What a loader gave, and the run did not see enter the network: the script says whether it does as it is."""
    for loop in training_loops(script.trace):
        first = _first_layer(loop)
        if first is not None and enters_as_it_is(first.args[0], script.trace):
            params: dict[str, Any] = dict(suspected.message.params)
            seen: dict[str, Any] = {"measured": suspected.measured, "limit": suspected.limit}
            return found("dp_01.script.fed_as_it_is", suspected.where, evidence=suspected.evidence, **seen, **params)
    return suspected


def _made_at(script: Script) -> Location | None:
    for loop in training_loops(script.trace):
        calls = [event for event in loop.of(Role.FORWARD) if event.args]
        first = next((event for event in calls if _is_weighted(event)), calls[0] if calls else None)
        place = scale_place(first.args[0], script) if first is not None else None
        if place is not None:
            return place
    return None


def _is_weighted(event: Event) -> bool:
    return event.name.removesuffix(".__call__").rpartition(".")[2].startswith(_FIRST)


def _first_layer(loop: TrainingLoop) -> Event | None:
    """The first layer of a library that a training loop's network calls; None where it normalises by itself."""
    for event in loop.of(Role.FORWARD):
        last = event.name.removesuffix(".__call__").rpartition(".")[2]
        if last.startswith(_NORMS):
            return None
        if last.startswith(_FIRST) and event.args:
            return event
    return None


@walk_each()
def _ways(value: Value | None, trace: Trace, cast: Location | None) -> Iterator[_Way]:
    """Back from the first layer to where its inputs come from."""
    if isinstance(value, Either):
        for part in value.options:
            yield from _ways(part, trace, cast)
        return
    at = batch_index(value)
    if at is not None:
        yield from _through_loader(at, trace, cast)
    elif isinstance(value, Derived):
        yield _Way(None, cast, value.place if value.op in _SCALING_OPERATORS else None)
    elif isinstance(value, Made):
        yield from _through_call(value, trace, cast)
    elif isinstance(value, Item):
        yield from _ways(value.of, trace, cast)
    elif isinstance(value, Seq) and value.items:
        yield from _ways(value.items[0], trace, cast)


def _through_loader(at: tuple[Value, object], trace: Trace, cast: Location | None) -> Iterator[_Way]:
    loader = iterated(at[0])
    steps = transforms_of(loader)
    for step in steps.steps:
        if step.name.rpartition(".")[2] in _SCALED_STEPS:
            yield _Way(None, cast, step.event.place)
            return
        if step.name.endswith(".TypeCast") and cast is None and "float" in _type(step.event.arg(0, "output_type")):
            cast = step.event.place
    if not steps.known:
        return
    for column in columns_of(loader, at[1], trace):
        yield from _ways(column, trace, cast)


def _through_call(value: Made, trace: Trace, cast: Location | None) -> Iterator[_Way]:
    event, last = value.event, value.event.method
    if last in _SCALING or (last == "__call__" and any(word in value.name for word in _SCALED_STEPS)):
        yield _Way(None, cast, event.place)
        return
    if _is_raw(value):
        yield _Way(event.place, cast, None)
        return
    if last in _CASTING and cast is None and _casts(event):
        cast = event.place
    inner = event.receiver if event.receiver is not None and not isinstance(event.receiver, Symbol) else event.arg(0)
    if last in _CARRYING or last in _CASTING:
        yield from _ways(inner if inner is not None else event.arg(0), trace, cast)


def _is_raw(value: Made) -> bool:
    """Whole numbers of 0..255."""
    event = value.event
    if event.method in _TO_TYPE and "uint8" in _type(event.arg(0, "dtype")):
        return True
    if event.method in _TYPED:
        return "uint8" in _type(event.arg(1, "dtype"))
    if value.name in _PICTURES:
        return True
    return range_of(value) == (0, 255) and event.method in functions_of(Trait.DRAWS_WHOLE)


def _casts(event: Event) -> bool:
    if event.method in _TO_FLOAT:
        return True
    kinds = [_type(kind) for kind in (*event.args, *event.kwargs.values())]
    return any("float" in kind or "half" in kind for kind in kinds)


def _type(value: Value | None) -> str:
    if isinstance(value, Symbol):
        return value.name.rpartition(".")[2]
    return str(value.value) if isinstance(value, Const) and isinstance(value.value, str) else ""
