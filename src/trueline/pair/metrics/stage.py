"""The metric stage: the same predictions and labels into both metrics, and into NumPy's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from trueline.adapters.guest.trouble import SideTrouble
from trueline.kernel.array import Array
from trueline.model.message import Message, message
from trueline.pair.blame import Blame, Cause, Stage, StageResult, StageVerdict
from trueline.pair.metrics.cases import Case, Kind, Making, makings
from trueline.pair.metrics.forms import MetricForm, fit_metric
from trueline.pair.questions.parts import About, Metric, Refused
from trueline.pair.sides.parts import Parts, skipped
from trueline.pair.sides.side import Side

# Shares are counted, and averages rounded, in float32.
_LIMIT: Final = 1e-5
Values = Mapping[str, Sequence[float]]


@dataclass(frozen=True, slots=True)
class _Answers:
    values: Sequence[Values | SideTrouble]
    gathers: bool
    about: About


def metric_stage(
    bench: Side, port: Side, parts: Parts, *, outputs: Sequence[Array] | None = None, seed: int = 0
) -> StageResult:
    """Compare the numbers of both metrics; ``outputs`` of the benchmark say which shape predictions have."""
    if not parts.both("metric"):
        return skipped(Stage.METRICS, parts, "metric")
    making, kind, gathers = _taken(bench, port, makings(outputs, seed))
    chosen = list(making.cases(kind, several=gathers))
    there, here = _ask(bench, chosen), _ask(port, chosen)
    compared = [_Compared(chosen, there, here, *names) for names in _matched(there.values[0], here.values[0])]
    blames = [case.blame() for case in compared if case.apart]
    lacking = _lacking(there, here)
    if lacking is not None:
        blames.append(lacking)
    if blames:
        text = message("pair_parts.metric_found", count=len(blames))
        return StageResult(Stage.METRICS, StageVerdict.FOUND, text, blames)
    names = ", ".join(case.port_name for case in compared)
    text = message("pair_parts.metric_passed", names=names, count=len(chosen))
    return StageResult(Stage.METRICS, StageVerdict.PASSED, text, rules_out=message("pair_parts.metric_rules_out"))


def _taken(bench: Side, port: Side, tries: Sequence[Making]) -> tuple[Making, Kind, bool]:
    """The predictions that both take, and whether both gather over batches."""
    first: SideTrouble | None = None
    for making, kind in [(one, kind) for one in tries for kind in one.kinds]:
        probe = [making.case("probe", [making.batch(kind, 9)])]
        answers = [_ask(side, probe) for side in (bench, port)]
        troubles = [answer.values[0] for answer in answers if isinstance(answer.values[0], SideTrouble)]
        if not troubles and (kind is not Kind.DENSE or _says_something(answers[0].values[0])):
            return making, kind, all(answer.gathers for answer in answers)
        first = first or next(iter(troubles), None)
    raise first or SideTrouble("pair_parts.metric_says_nothing", side=str(bench.entry))


def _says_something(found: Values | SideTrouble) -> bool:
    """Classes that are asked for by floats are never right: all or nothing is no sign of a distance."""
    return not isinstance(found, SideTrouble) and any(
        number not in (0.0, 1.0, 100.0) for numbers in found.values() for number in numbers
    )


def _ask(side: Side, cases: Sequence[Case]) -> _Answers:
    answers = side.answer(Metric([case.batches for case in cases]))
    values = [
        SideTrouble(answer.id, **answer.params) if isinstance(answer, Refused) else answer.values
        for answer in answers.cases
    ]
    return _Answers(values, answers.gathers, answers.about)


def _matched(there: Values | SideTrouble, here: Values | SideTrouble) -> list[tuple[str, str]]:
    """The names of the same number on both sides: alike, or alone."""
    for answer in (there, here):
        if isinstance(answer, SideTrouble):
            raise answer
    assert not isinstance(there, SideTrouble) and not isinstance(here, SideTrouble)
    if len(there) == len(here) == 1:
        return [(next(iter(there)), next(iter(here)))]
    return [(name, name) for name in there if name in here]


def _lacking(there: _Answers, here: _Answers) -> Blame | None:
    bench, port = there.values[0], here.values[0]
    assert not isinstance(bench, SideTrouble) and not isinstance(port, SideTrouble)
    missing = sorted(set(bench) - set(port))
    if not missing or len(bench) == len(port) == 1:
        return None
    return Blame(
        Stage.METRICS,
        Cause.METRIC,
        message("pair_parts.metric_lacking", names=", ".join(missing)),
        bench=", ".join(bench),
        port=", ".join(port),
        line=here.about.line(),
        other_line=there.about.line(),
    )


class _Compared:
    """One number of both metrics over all cases."""

    def __init__(self, cases: Sequence[Case], there: _Answers, here: _Answers, name: str, port_name: str) -> None:
        self.cases, self.there, self.here = cases, there, here
        self.name, self.port_name = name, port_name
        self.bench = [_numbers(answer, name) for answer in there.values]
        self.port = [_numbers(answer, port_name) for answer in here.values]
        self.levels = [_level(a, b) for a, b in zip(self.port, self.bench, strict=True)]

    @property
    def apart(self) -> bool:
        """Whether the numbers differ; which of equal scores comes first is each framework's own choice."""
        levels = zip(self.cases, self.levels, strict=True)
        return any(level > _LIMIT for case, level in levels if case.name != "ties")

    def blame(self) -> Blame:
        """Why they differ, as far as common metrics tell."""
        forms = (self._form(self.bench), self._form(self.port))
        levels = zip(self.cases, self.levels, strict=True)
        differing = [case.name for case, level in levels if level > _LIMIT and case.name != "ties"]
        known = forms[0] is not None and forms[1] is not None and forms[0] != forms[1]
        bench, port = (_words(form) if form is not None else None for form in forms)
        return Blame(
            Stage.METRICS,
            Cause.METRIC,
            self._message(bench, port) if known and bench and port else self._unknown(differing),
            bench=_plain(forms[0]) if known else self._first(self.bench),
            port=_plain(forms[1]) if known else self._first(self.port),
            confirmed=known,
            measured=max((level for level in self.levels if math.isfinite(level)), default=None),
            limit=_LIMIT,
            left=0.0 if known else None,
            line=self.here.about.line(),
            other_line=self.there.about.line(),
            edit=message("pair_parts.metric_edit", name=self.port_name, bench=bench) if known else None,
            evidence=tuple(
                {"case": case.name, "bench": list(a), "port": list(b)}
                for case, a, b in zip(self.cases, self.bench, self.port, strict=True)
            ),
        )

    def _message(self, bench: Message, port: Message) -> Message:
        return message("pair_parts.metric_form", name=self.port_name, bench=bench, port=port)

    def _unknown(self, differing: Sequence[str]) -> Message:
        ratios = [b[0] / a[0] for a, b in zip(self.bench, self.port, strict=True) if a and b and a[0]]
        if ratios and np.allclose(ratios, ratios[0], rtol=_LIMIT):
            return message("pair_parts.metric_factor", name=self.port_name, factor=ratios[0])
        if differing == ["batches"]:
            return message("pair_parts.metric_batches", name=self.port_name)
        if differing == ["missing_classes"]:
            return message("pair_parts.metric_missing", name=self.port_name)
        bench, port = self._first(self.bench), self._first(self.port)
        return message("pair_parts.metric_other", name=self.port_name, bench=bench, port=port)

    def _form(self, values: Sequence[Sequence[float]]) -> MetricForm | None:
        if any(len(value) != 1 for value in values):
            return None
        kept = [place for place, case in enumerate(self.cases) if case.name != "ties"]
        return fit_metric([self.cases[place].class_second for place in kept], [values[place][0] for place in kept])

    def _first(self, values: Sequence[Sequence[float]]) -> float:
        at = max(range(len(self.levels)), key=lambda place: self.levels[place])
        return values[at][0] if values[at] else math.nan


def _numbers(found: Values | SideTrouble, name: str) -> Sequence[float]:
    return () if isinstance(found, SideTrouble) else found.get(name, ())


def _level(here: Sequence[float], there: Sequence[float]) -> float:
    if not there:
        return 0.0
    if len(here) != len(there):
        return math.inf
    both = [(a, b) for a, b in zip(here, there, strict=True) if not (math.isnan(a) and math.isnan(b))]
    scale = max((abs(b) for _, b in both), default=0.0)
    apart = max((abs(a - b) for a, b in both), default=0.0)
    return apart / scale if scale else apart


def _words(form: MetricForm) -> Message:
    top = form.name.removeprefix("top_")
    base = message("pair_parts.metric_top", k=top) if top.isdigit() else message(f"pair_parts.metric_{form.name}")
    if form.scale != 1.0:
        base = message("pair_parts.metric_percent", form=base)
    return message("pair_parts.metric_by_batch", form=base) if form.by_batch else base


def _plain(form: MetricForm | None) -> Any:
    if form is None:
        return None
    return f"{form.name}{' x 100' if form.scale != 1.0 else ''}{' by batch' if form.by_batch else ''}"
