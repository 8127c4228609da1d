"""Numbers that overflow in training: the operators of a script that may do it, and which one it was in a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from trueline.checks.engine.check import check, found, suspect, undecided
from trueline.checks.evidence.looks import trained_rank
from trueline.checks.mp_01_overflow.run import first_broken, watched_operator
from trueline.checks.mp_01_overflow.unguarded import Danger, Unguarded, unguarded, way_to_losses
from trueline.formats.run_folder.reader import Run
from trueline.model.events import LossEvent
from trueline.model.finding import Certainty, Finding
from trueline.script.analysis.operators import DIVISIONS, EXPONENTS, LOGS, ROOTS, operator_name
from trueline.script.loops import training_loops
from trueline.script.script import Script
from trueline.script.trace import Trace

_SURE: Final = 3
_EASY: Final = 2
_LOOKED_AT: Final = LOGS | ROOTS | DIVISIONS | EXPONENTS


@check("mp.01", decides=False)
def from_script(script: Script) -> Iterator[Finding]:
    """Logarithms, roots, divisions and exponents on the way to the loss, and what keeps them finite."""
    trace = script.trace
    if not training_loops(trace):
        yield undecided("mp_01.script.no_training_loop")
        return
    risky = [operation for operation in unguarded(trace) if operation.grade >= _EASY]
    for operation in risky:
        # Only a deviation of a single row is zero whatever the numbers are.
        sure = operation.grade >= _SURE and operation.danger is Danger.DIVISION
        said = found if sure else suspect
        yield said(f"mp_01.script.{operation.danger.value}", operation.place)
    count = _operators(trace)
    if not risky and count:
        # That numbers stay finite only a run can show.
        yield undecided("mp_01.script.guarded", count=count)
    elif not risky:
        yield undecided("mp_01.script.none_of_them")


def _operators(trace: Trace) -> int:
    return sum(operator_name(value) in _LOOKED_AT for value in way_to_losses(trace))


@check("mp.01", decides=False)
def from_script_and_run(script: Script, run: Run) -> Iterator[Finding]:
    """The operator on the way to the loss that most likely made what was not finite."""
    rank = trained_rank(run)
    first = first_broken(rank) if rank is not None else None
    if rank is None or first is None or watched_operator(rank) is not None:
        yield undecided("mp_01.script.nothing_broke")
        return
    backward = not isinstance(first.event, LossEvent)
    operation = _likeliest(unguarded(script.trace), backward=backward)
    if operation is None:
        yield undecided("mp_01.script.none_of_them")
        return
    step = first.event.step
    yield found(
        f"mp_01.script.was_{operation.danger.value}",
        replace(operation.place, step=step),
        certainty=Certainty.CERTAIN if operation.grade >= _EASY else Certainty.LIKELY,
        measured=first.value,
        evidence=[{"step": step, "line": str(operation.place)}],
        step=step,
    )


def _likeliest(risky: Sequence[Unguarded], *, backward: bool) -> Unguarded | None:
    """The most dangerous one, of equal ones the first; where only gradients are not finite, a root before others."""
    return max(
        risky, key=lambda operation: (backward and operation.danger is Danger.ROOT, operation.grade), default=None
    )
