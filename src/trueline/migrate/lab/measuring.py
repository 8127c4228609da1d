"""One pair measured: draws tried, what disagrees made small, and the outcome."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from trueline.apitable.pairs import Difference, Documented, Example, Kind, Measured, Needed, Outcome
from trueline.migrate.lab.arguments import renamed
from trueline.migrate.lab.conditions import AFTER_OTHERS, KINK
from trueline.migrate.lab.deciding import deciding
from trueline.migrate.lab.draw import Draw, DrawnValue
from trueline.migrate.lab.judging import What
from trueline.migrate.lab.needs import Written, explicit, needed, resolving
from trueline.migrate.lab.shrinking import nudged, optional, shrunk
from trueline.migrate.lab.spelling import answer_text, call_text
from trueline.migrate.lab.trials import Laboratory, Trial

# Of how many ways to disagree the smallest example is looked for.
_MAX_GROUPS: Final = 12
# A class is built for every call, which takes far longer.
_MAX_GROUPS_OF_CLASS: Final = 6
# Every so many draws gradients are asked for.
_EVERY_GRADIENT: Final = 3
# Calls that what resolves one of them must resolve.
_ALIKE: Final = 4
_SURE: Final = 30
_LIKELY: Final = 10
_SILENT: Final = frozenset({What.VALUES, What.GRADIENT, What.SHAPE, What.DTYPE})
_DISAGREES: Final = _SILENT | {What.WIDTH, What.RAISES, What.KERNEL}


@dataclass(slots=True)
class _Gathered:
    needs: dict[str, Needed] = field(default_factory=dict)
    written: list[Written] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)


def measured(laboratory: Laboratory, pair: Documented, draws: Sequence[Draw]) -> Measured:
    """What becomes of a pair."""
    if not draws:
        return Measured(pair.torch, pair.mindspore, Outcome.UNMEASURED, note="not drawn")
    trials = laboratory.tried(pair, draws, {}, range(0, len(draws), _EVERY_GRADIENT))
    valid = [trial for trial in trials if trial.verdict.what is not What.INVALID]
    ordinary = [trial for trial in valid if not trial.conditions]
    if not ordinary:
        ordinary = valid
    if not valid:
        return Measured(pair.torch, pair.mindspore, Outcome.UNMEASURED, note="no call that torch takes was drawn")
    kernels = sum(trial.verdict.what is What.KERNEL for trial in ordinary)
    called = [trial for trial in ordinary if trial.calls is not None]
    if kernels * 2 > len(called):
        return _row(pair, Outcome.NO_KERNEL, valid, _Gathered(differences=[_kernel(ordinary)]))
    gathered = _explained(laboratory, pair, valid)
    return _row(pair, _outcome(pair, ordinary, gathered), valid, gathered)


def _explained(laboratory: Laboratory, pair: Documented, valid: Sequence[Trial]) -> _Gathered:
    """The smallest example of every way to disagree, and the arguments that put an end to it."""
    gathered = _Gathered()
    waiting = [trial for trial in valid if trial.verdict.what in _DISAGREES]
    waiting.sort(key=lambda trial: (len(trial.conditions), len(trial.draw.values) + len(trial.draw.build)))
    counted = Counter(_group(trial, pair) for trial in waiting)
    looked: set[object] = set()
    seen = _seen(valid)
    unresolved: list[tuple[Trial, int]] = []
    max_groups = _MAX_GROUPS if pair.kind in (Kind.FUNCTION, Kind.METHOD) else _MAX_GROUPS_OF_CLASS
    for trial in waiting:
        group = _group(trial, pair)
        if group in looked or len(looked) >= max_groups:
            continue
        looked.add(group)
        if gathered.needs and trial.calls is not None:
            # What is known to be needed is written: only what is left to explain counts.
            gradient = (0,) if trial.calls.torch.gradient else ()
            trial = laboratory.tried(pair, [trial.draw], explicit(gathered.written, trial.draw), gradient)[0]
            if trial.verdict.what not in _DISAGREES:
                continue
        smallest = shrunk(laboratory, pair, trial)
        if (
            smallest.calls is not None
            and smallest.verdict.what in _SILENT
            and not laboratory.shows_alone(pair, smallest)
        ):
            smallest = _under(smallest, AFTER_OTHERS)
        elif _is_at_a_kink(laboratory, pair, smallest):
            smallest = _under(smallest, KINK)
        written = None
        if not smallest.conditions and smallest.calls is not None and smallest.verdict.what in _SILENT:
            # What resolves a call that was made small must resolve the one that was drawn.
            alike = [other for other in waiting if _group(other, pair) == group][1:_ALIKE]
            written = resolving(laboratory, pair, [smallest, trial, *alike], seen, gathered.written)
        if written is not None:
            gathered.written += written
            gathered.needs |= {each.argument: needed(pair, each) for each in written}
        elif smallest.calls is not None and smallest.verdict.what in _SILENT:
            unresolved.append((smallest, counted[group]))
            continue
        names = tuple(each.argument for each in written or ())
        _add(gathered, _difference(pair, smallest, names, counted[group]))
    for trial, cases in unresolved:
        # An argument that was found to be needed only later may explain it.
        names = tuple(explicit(gathered.written, trial.draw))
        gradient = (0,) if trial.calls is not None and trial.calls.torch.gradient else ()
        again = laboratory.tried(pair, [trial.draw], explicit(gathered.written, trial.draw), gradient)[0]
        _add(gathered, _difference(pair, trial, names if names and again.verdict.agrees else (), cases))
    for difference in _coarse(valid):
        _add(gathered, difference)
    gathered.differences = [deciding(pair, difference, valid) for difference in gathered.differences]
    return gathered


def _is_at_a_kink(laboratory: Laboratory, pair: Documented, trial: Trial) -> bool:
    """Whether gradients agree a little beside: where one jumps, either side of the jump is right."""
    if trial.verdict.what is not What.GRADIENT or trial.conditions:
        return False
    return laboratory.tried(pair, [nudged(trial.draw)], trial.explicit, (0,))[0].verdict.agrees


def _under(trial: Trial, condition: str) -> Trial:
    return replace(trial, draw=replace(trial.draw, conditions=frozenset({condition})))


def _seen(trials: Sequence[Trial]) -> dict[str, list[DrawnValue]]:
    """The values that were drawn for each argument, each once."""
    seen: dict[str, list[DrawnValue]] = {}
    for trial in trials:
        for name, value in (*trial.draw.values.items(), *trial.draw.build.items()):
            if isinstance(value, str | bool | int | float) and value not in seen.setdefault(name, []):
                seen[name].append(value)
    return seen


def _group(trial: Trial, pair: Documented) -> object:
    given = frozenset(name for name in (*trial.draw.values, *trial.draw.build) if name in optional(pair))
    lacking = trial.mindspore.error[1] if trial.calls is None and trial.mindspore.error else ""
    return (trial.verdict.what, lacking) if lacking else (trial.verdict.what, trial.conditions, given)


def _add(gathered: _Gathered, difference: Difference) -> None:
    """One difference for each what and when: the first, whose call is the smallest."""
    for place, known in enumerate(gathered.differences):
        if known.what == difference.what and set(known.when) <= set(difference.when):
            counted = Difference(known.what, known.when, known.example, known.cases + difference.cases)
            gathered.differences[place] = counted
            return
    gathered.differences.append(difference)


def _difference(pair: Documented, trial: Trial, names: tuple[str, ...], cases: int) -> Difference:
    given = sorted(name for name in (*trial.draw.values, *trial.draw.build) if name in optional(pair))
    if trial.calls is None:
        argument = trial.mindspore.error[1] if trial.mindspore.error else ""
        example = Example(f"{pair.torch}({argument}=…)", pair.mindspore, "", f"no argument {argument}")
        return Difference("raises", (f"argument:{argument}",), example, cases)
    when = [*sorted(trial.conditions), *(f"argument:{name}" for name in given)]
    when += [f"default:{name}" for name in names]
    return Difference(trial.verdict.what.value, tuple(when), example_of(trial), cases)


def example_of(trial: Trial) -> Example:
    """Both calls and what they give."""
    assert trial.calls is not None
    gradient = trial.verdict.what is What.GRADIENT
    distance = trial.verdict.distance
    return Example(
        call_text(trial.calls.torch, trial.calls.arrays),
        call_text(trial.calls.mindspore, trial.calls.arrays),
        answer_text(trial.torch, trial.verdict.place, gradient=gradient),
        answer_text(trial.mindspore, trial.verdict.place, gradient=gradient),
        distance=distance if 0 < distance < float("inf") else None,
    )


def _coarse(valid: Sequence[Trial]) -> Iterable[Difference]:
    """The largest disagreement that double precision takes away."""
    coarse = [trial for trial in valid if trial.verdict.what is What.PRECISION and not trial.conditions]
    if coarse:
        worst = max(coarse, key=lambda trial: trial.verdict.distance)
        yield Difference("precision", (), example_of(worst), len(coarse))


def _kernel(trials: Sequence[Trial]) -> Difference:
    without = [trial for trial in trials if trial.verdict.what is What.KERNEL]
    smallest = min(without, key=lambda trial: _elements(trial))
    return Difference("kernel", (), example_of(smallest), len(without))


def _elements(trial: Trial) -> int:
    return sum(array.size for array in trial.calls.arrays) if trial.calls is not None else 0


def _outcome(pair: Documented, ordinary: Sequence[Trial], gathered: _Gathered) -> Outcome:
    called = [trial for trial in ordinary if trial.calls is not None]
    bare = [trial for trial in called if not optional(pair) & {*trial.draw.values, *trial.draw.build}]
    if any(d.is_ordinary and What(d.what) in _SILENT for d in gathered.differences):
        return Outcome.DIFFERS
    refused = (What.RAISES, What.KERNEL)
    if all(trial.verdict.what in refused for trial in bare or called) or all(t.verdict.what in refused for t in called):
        # An argument that MindSpore refuses is a condition; a call that it refuses however it is made is the outcome.
        kernel = any(trial.verdict.what is What.KERNEL for trial in called)
        return Outcome.NO_KERNEL if kernel else Outcome.RAISES
    return Outcome.EQUAL_WITH if gathered.needs else Outcome.EQUAL


def _row(pair: Documented, outcome: Outcome, valid: Sequence[Trial], gathered: _Gathered) -> Measured:
    agreed = sum(trial.verdict.agrees for trial in valid)
    refused = sum(trial.verdict.what in (What.RAISES, What.KERNEL) for trial in valid)
    plain_cases = sum(not trial.conditions and trial.calls is not None for trial in valid)
    certainty = "certain" if plain_cases >= _SURE else "likely" if plain_cases >= _LIKELY else "possible"
    names = {name: other for name, other in renamed(pair).items() if name != other}
    return Measured(
        pair.torch,
        pair.mindspore,
        outcome,
        certainty,
        tuple(gathered.needs.values()),
        names if pair.kind in (Kind.FUNCTION, Kind.METHOD) else {},
        tuple(sorted(gathered.differences, key=lambda d: (len(d.when), d.what))),
        len(valid),
        agreed,
        len(valid) - agreed - refused,
        refused,
    )
