"""There are too many epochs or too few: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trueline.checks.engine.check import check, suspect, undecided
from trueline.checks.hp_02_epochs.run import from_run
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.script.loops import training_loops
from trueline.script.script import Script
from trueline.script.trace import LOOP, UNCALLED, Event, Scope
from trueline.script.values import Const, Made, Value, written_range


@check("hp.02", decides=False)
def from_script(script: Script, *, most: int = 10_000) -> Iterator[Finding]:
    """Numbers of epochs that cannot be meant; whether a usual one is enough, only a run can tell."""
    reported = False
    for loop in training_loops(script.trace):
        for scope in loop.around[-1:]:
            epochs = _epochs(scope)
            if epochs is not None and epochs > most:
                reported = True
                yield suspect("hp_02.script.many", scope.place, measured=epochs, limit=most, epochs=epochs)
    for scope in _empty(script.trace.events):
        reported = True
        yield suspect("hp_02.script.zero", scope.place, measured=0)
    if not reported:
        yield undecided("hp_02.script.only_a_run")


@check("hp.02", decides=False)
def from_script_and_run(script: Script, run: Run) -> Iterator[Finding]:
    """Where the script gives the number of epochs that a run has shown to be too many or too few."""
    seen = [finding for finding in from_run(run) if finding.conclusion is Conclusion.FOUND]
    loops = [loop for loop in training_loops(script.trace) if loop.is_certain and loop.around]
    written = dict.fromkeys(_written(loop.around[-1]) for loop in loops)
    if len(seen) != 1 or len(written) != 1 or None in written:
        yield undecided("hp_02.script.only_a_run")
        return
    place = next(place for place in written if place is not None)
    where = replace(place, step=seen[0].where.step)
    yield replace(seen[0], where=where, extra={})


def _written(scope: Scope) -> Location | None:
    """Where the number is written down that says how often a loop goes round."""
    if _epochs(scope) is None:
        return None
    value = scope.value
    last = value.event.args[:2][-1] if isinstance(value, Made) else value
    return last.origin if isinstance(last, Const) and last.origin is not None else scope.place


def _epochs(scope: Scope) -> int | None:
    """How often a loop goes round, where that is written down."""
    value: Value | None = scope.value
    if isinstance(value, Made) and value.name == "builtins.range":
        rounds = written_range(value.event.args)
        return len(rounds) if rounds is not None else None
    if isinstance(value, Const) and scope.name == "epochs" and isinstance(value.value, int):
        return value.value
    return None


def _empty(events: list[Event]) -> Iterator[Scope]:
    """Loops with a call of the network's in them that never go round."""
    seen: set[int] = set()
    for event in events:
        for scope in event.scopes:
            if scope.kind == UNCALLED:
                break
            if scope.kind == LOOP and id(scope) not in seen:
                seen.add(id(scope))
                if _epochs(scope) == 0:
                    yield scope
