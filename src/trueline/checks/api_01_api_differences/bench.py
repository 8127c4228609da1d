"""What shows beside a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trueline.checks.api_01_api_differences.differing import Difference
from trueline.checks.api_01_api_differences.script import NOT_KNOWN, Call, plain, table_calls
from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.model.finding import Finding
from trueline.script.script import Script


@check("api.01")
def from_scripts(script: Script, bench_script: Script) -> Iterator[Finding]:
    """The arguments that a port leaves out, against those of its benchmark."""
    own, bench_calls = table_calls(script), table_calls(bench_script)
    frameworks = {call.framework for call in own}, {call.framework for call in bench_calls}
    if not own or not bench_calls:
        yield undecided("api_01.nothing_to_compare")
        return
    if frameworks[0] & frameworks[1]:
        yield na("api_01.no_port")
        return
    reported: set[tuple[str, int]] = set()
    same: list[str] = []
    for pair in dict.fromkeys(call.pair for call in own):
        here = [call for call in own if call.pair is pair]
        there = [call for call in bench_calls if call.pair is pair]
        for at, call in enumerate(here):
            for difference in pair.differ:
                bench = _beside(at, call, here, there, difference)
                if bench is None or call.passes(difference):
                    continue
                ours, theirs = call.value(difference), bench.value(difference)
                if ours is NOT_KNOWN or theirs is NOT_KNOWN:
                    continue
                key = (call.event.place.file, call.event.place.line)
                if ours == theirs:
                    same.append(str(call.event.place))
                elif key not in reported:
                    reported.add(key)
                    yield found(
                        "api_01.differs",
                        call.event.place,
                        evidence=[{"own": str(call.event.place), "bench": str(bench.event.place)}],
                        name=call.event.name,
                        argument=difference.of(call.framework).name,
                        own=_shown(ours),
                        bench_name=bench.event.name,
                        bench=_shown(theirs),
                    )
    if same and not reported:
        yield none("api_01.alike", evidence=sorted(set(same)))
    elif not reported:
        yield undecided("api_01.nothing_to_compare")


def _beside(at: int, call: Call, here: Sequence[Call], there: Sequence[Call], difference: Difference) -> Call | None:
    """The benchmark's call that stands for this one: as many of a kind in the same order, or all of them alike."""
    if len(here) == len(there):
        return there[at]
    values = [beside.value(difference) for beside in there]
    if values and difference.form not in ("padding", "window") and all(value == values[0] for value in values):
        return there[0]
    shape = _shape(call)
    alike = [beside for beside in there if shape and _shape(beside) == shape]
    values = [beside.value(difference) for beside in alike]
    return alike[0] if alike and all(value == values[0] for value in values) else None


def _shape(call: Call) -> tuple[object, ...]:
    """The first arguments of a layer, where they are numbers."""
    found_ = tuple(plain(argument) for argument in call.event.args[:3])
    return () if NOT_KNOWN in found_ else found_


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
