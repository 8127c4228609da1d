"""Why two losses differ: the settings in which the forms that they are differ, each with its own effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from trueline.model.message import Message, message
from trueline.pair.blame import Blame, Cause, Setting, Stage
from trueline.pair.loss.answers import Answer, Answered, Compared
from trueline.pair.loss.cases import RARE, CaseName
from trueline.pair.loss.fit import CLOSE, Seen, fit
from trueline.pair.loss.forms import LossForm, Over, Rows, Wide, evaluate
from trueline.pair.loss.suspects import LossComparison, by_ratio, evidence, unexplained
from trueline.pair.questions.parts import About

_MOST_SHOWN: Final = 8
_FIT: Final = (CaseName.PLAIN, CaseName.UNEVEN, CaseName.SOFT, CaseName.MORE_CLASSES)


def blames_of(comparison: LossComparison) -> list[Blame]:
    """The causes, at least one."""
    there = _form(comparison, lambda compared: compared.bench, comparison.bench)
    here = _form(comparison, lambda compared: compared.port, comparison.port)
    if there is not None and here is not None:
        blames = list(_Differences(comparison, there, here).blames())
        if blames:
            return blames
    return [by_ratio(comparison) or unexplained(comparison)]


def _form(comparison: LossComparison, side: Callable[[Compared], Answer], about: About) -> LossForm | None:
    seen: list[Seen] = []
    ignoring: list[tuple[int, Seen]] = []
    for compared in comparison.compared:
        answer = side(compared)
        if not isinstance(answer, Answered):
            continue
        found = answer.seen(compared.case)
        if compared.case.name in _FIT and _finite(found):
            seen.append(found)
        elif compared.case.name is CaseName.IGNORED:
            ignoring.append((int(compared.case.index.reshape(-1)[0]), found))
    return fit(seen, about.numbers, ignoring) if seen else None


def _finite(seen: Seen) -> bool:
    return bool(np.isfinite(seen.value).all() and np.isfinite(seen.gradient).all())


class _Differences:
    """Setting by setting: the benchmark's form with the port's setting shows what that one alone does."""

    def __init__(self, comparison: LossComparison, there: LossForm, here: LossForm) -> None:
        self.comparison, self.there, self.here = comparison, there, here
        self.limit = max(compared.limit for compared in comparison.compared)

    def blames(self) -> Iterator[Blame]:
        here, there = self.here, self.there
        if here.family is not there.family:
            yield self._blame(
                Cause.LOSS,
                ("family", "beta", "positive", "bounds", "smoothing", "over"),
                message(
                    "pair_parts.loss_family",
                    bench=message(f"pair_parts.family_{there.family}"),
                    port=message(f"pair_parts.family_{here.family}"),
                ),
                str(there.family),
                str(here.family),
            )
        else:
            yield from self._settings()
        if here.reduction is not there.reduction:
            words = [message(f"pair_parts.reduction_{form.reduction}") for form in (there, here)]
            yield self._blame(
                Cause.REDUCTION,
                ("reduction",),
                message("pair_parts.loss_reduction", bench=words[0], port=words[1]),
                str(there.reduction),
                str(here.reduction),
            )
        if not np.isclose(here.factor, there.factor, rtol=CLOSE):
            ratio = here.factor / there.factor
            yield self._blame(
                Cause.SCALE, ("factor",), message("pair_parts.loss_factor", factor=ratio), there.factor, here.factor
            )

    def _settings(self) -> Iterator[Blame]:
        here, there = self.here, self.there
        if (here.smoothing, here.over) != (there.smoothing, there.over) and self._matters("smoothing", "over"):
            yield self._blame(
                Cause.SMOOTHING,
                ("smoothing", "over"),
                message("pair_parts.loss_smoothing", bench=_spread(there), port=_spread(here)),
                _as_formula(there),
                _as_formula(here),
            )
        if self._matters("bounds"):
            yield self._blame(
                Cause.SMOOTHING,
                ("bounds",),
                message("pair_parts.loss_bounds", bench=_pair(there.bounds), port=_pair(here.bounds)),
                list(there.bounds),
                list(here.bounds),
            )
        if self._matters("weights"):
            bench, port = _shown(there.weights), _shown(here.weights)
            text = message("pair_parts.loss_weights", bench=bench, port=port)
            yield self._blame(Cause.CLASS_WEIGHTS, ("weights",), text, bench, port)
        if self._matters("positive"):
            text = message("pair_parts.loss_positive", bench=there.positive, port=here.positive)
            yield self._blame(Cause.CLASS_WEIGHTS, ("positive",), text, there.positive, here.positive)
        if self._matters("beta"):
            text = message("pair_parts.loss_beta", bench=there.beta, port=here.beta)
            yield self._blame(Cause.ATTRIBUTE, ("beta",), text, there.beta, here.beta)
        if here.ignored != there.ignored:
            bench, port = (", ".join(map(str, form.ignored)) or "-" for form in (there, here))
            text = message("pair_parts.loss_ignored", bench=bench, port=port)
            yield self._blame(Cause.IGNORED_INDEX, ("ignored",), text, bench, port)

    def _matters(self, *names: str) -> bool:
        """Whether a setting differs, and by more than noise."""
        same = all(getattr(self.here, name) == getattr(self.there, name) for name in names)
        return not same and self._effect(names) > self.limit

    def _effect(self, names: Sequence[str]) -> float:
        changed = replace(self.there, **{name: getattr(self.here, name) for name in names})
        return max(
            _apart(changed, self.there, compared.case.rows())
            for compared in self.comparison.compared
            if _usable(compared)
        )

    def _blame(self, cause: Cause, names: Sequence[str], text: Message, bench: Setting, port: Setting) -> Blame:
        changed = [name for name in names if getattr(self.here, name) != getattr(self.there, name)]
        settings = [value for name in changed if isinstance(value := getattr(self.here, name), float)]
        differing = [compared for compared in self.comparison.compared if compared.apart]
        latent = all(compared.case.name in RARE for compared in differing) and not self._real(cause)
        plain = self.comparison.compared[0]
        assert isinstance(plain.bench, Answered)
        seen = plain.bench.seen(plain.case)
        return Blame(
            Stage.LOSS,
            cause,
            text,
            bench=bench,
            port=port,
            confirmed=True,
            latent=latent,
            measured=self._effect(names),
            limit=self.limit,
            left=_relative(seen.value, evaluate(self.there, seen.rows)[0]),
            line=self.comparison.port.line(*settings),
            other_line=self.comparison.bench.line(),
            edit=message("pair_parts.edit_loss", what=str(cause), value=_as_text(bench)),
            evidence=evidence(self.comparison),
        )

    def _real(self, cause: Cause) -> bool:
        return cause is Cause.IGNORED_INDEX and bool(
            self.comparison.real & (set(self.here.ignored) ^ set(self.there.ignored))
        )


def _usable(compared: Compared) -> bool:
    return isinstance(compared.bench, Answered) and compared.case.name not in (CaseName.EXTREME, CaseName.ONE)


def _apart(changed: LossForm, wanted: LossForm, rows: Rows) -> float:
    value, gradient = evaluate(changed, rows)
    right, slope = evaluate(wanted, rows)
    return max(_relative(value, right), _relative(gradient, slope))


def _relative(found: Wide, wanted: Wide) -> float:
    if found.shape != wanted.shape and found.size != wanted.size:
        return 1.0
    scale = float(np.abs(wanted).max(initial=0.0))
    apart = float(np.abs(found.reshape(wanted.shape) - wanted).max(initial=0.0))
    return apart / scale if scale else float(apart > 0)


def _spread(form: LossForm) -> Message:
    if not form.smoothing:
        return message("pair_parts.spread_none")
    if form.over is Over.ALL:
        return message("pair_parts.spread_all", value=form.smoothing)
    return message("pair_parts.spread_others", value=form.smoothing)


def _as_formula(form: LossForm) -> str:
    return f"{form.smoothing:g} / {'K' if form.over is Over.ALL else '(K-1)'}"


def _pair(bounds: tuple[float, float]) -> str:
    return f"{bounds[0]:g}, {bounds[1]:g}"


def _shown(weights: Sequence[tuple[int, float]]) -> str:
    more = ", …" if len(weights) > _MOST_SHOWN else ""
    return ", ".join(f"{label}: {number:.4g}" for label, number in weights[:_MOST_SHOWN]) + more or "-"


def _as_text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
