"""Draws tried on both frameworks at once, each with its verdict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from trueline.adapters.lab.call import Answer
from trueline.apitable.pairs import Documented, Kind
from trueline.kernel.array import Array
from trueline.migrate.lab.bench import Asked, Bench
from trueline.migrate.lab.conditions import conditions_of
from trueline.migrate.lab.draw import Draw, DrawnValue
from trueline.migrate.lab.judging import Verdict, What, judged, precise
from trueline.migrate.lab.special_arguments import Untranslatable
from trueline.migrate.lab.translating import Calls, translated

LACKS_ARGUMENT = "LacksArgument"


@dataclass(frozen=True, slots=True)
class Trial:
    """A draw, the calls that were made of it, what both gave, and the verdict.

    ``calls`` is None where MindSpore's call has no such argument; ``explicit`` are arguments that were written in
    MindSpore's call besides.
    """

    draw: Draw
    explicit: Mapping[str, DrawnValue]
    calls: Calls | None
    torch: Answer
    mindspore: Answer
    verdict: Verdict

    @property
    def conditions(self) -> frozenset[str]:
        """The conditions under which the call stands."""
        return conditions_of(self.draw)


class Laboratory:
    """Both frameworks, ready to be called; counts the cases."""

    def __init__(self, torch: Bench, mindspore: Bench, fresh: Bench) -> None:
        self.torch = torch
        self.mindspore = mindspore
        # MindSpore once more, for calls in a process that has made no other.
        self.fresh = fresh
        self.cases = 0
        self._pool = ThreadPoolExecutor(2)

    def close(self) -> None:
        """End both processes."""
        self._pool.shutdown()
        for bench in (self.torch, self.mindspore, self.fresh):
            bench.close()

    def tried(
        self,
        pair: Documented,
        draws: Sequence[Draw],
        explicit: Mapping[str, DrawnValue] = MappingProxyType({}),
        gradients: Collection[int] = (),
    ) -> list[Trial]:
        """All draws on both; those at the places ``gradients`` with gradients."""
        calls = [self._calls(pair, draw, explicit, at in gradients) for at, draw in enumerate(draws)]
        made = [call for call in calls if isinstance(call, Calls)]
        ours, doubles, theirs = self._both(made)
        small = []
        verdicts: list[Verdict] = []
        at = 0
        for draw, call in zip(draws, calls, strict=True):
            if not isinstance(call, Calls):
                verdicts.append(Verdict(What.RAISES))
                continue
            inputs = _largest(call.arrays)
            verdict = judged(
                _usual(pair, ours[at]), _usual(pair, theirs[at]), doubles[at], inputs=inputs, **_chance(draw)
            )
            if verdict.small:
                small.append((len(verdicts), at))
            verdicts.append(verdict)
            at += 1
        self.cases += sum(answer.error is None for answer in ours)
        self._look_closer(verdicts, small, made, doubles)
        answers = iter(zip(ours, theirs, strict=True))
        trials = []
        for draw, call, verdict in zip(draws, calls, verdicts, strict=True):
            if isinstance(call, Calls):
                our, their = next(answers)
                trials.append(Trial(draw, explicit, call, our, their, verdict))
            else:
                lacks = Answer(error=(LACKS_ARGUMENT, str(call)))
                trials.append(Trial(draw, explicit, None, Answer(), lacks, verdict))
        return trials

    def shows_alone(self, pair: Documented, trial: Trial) -> bool:
        """Whether a disagreement is there too where MindSpore has made no other call before."""
        assert trial.calls is not None
        calls = trial.calls
        theirs = self.fresh.fresh_answer(Asked(calls.mindspore, calls.arrays))
        double = self.torch.answers([Asked(replace(calls.torch, double=True), calls.arrays)])[0]
        inputs = _largest(calls.arrays)
        verdict = judged(_usual(pair, trial.torch), _usual(pair, theirs), double, inputs=inputs, **_chance(trial.draw))
        return not verdict.agrees and verdict.what is not What.KERNEL

    @staticmethod
    def _calls(
        pair: Documented, draw: Draw, explicit: Mapping[str, DrawnValue], gradient: bool
    ) -> Calls | Untranslatable:
        try:
            return translated(pair, draw, explicit, gradient=gradient and not any(_chance(draw).values()))
        except Untranslatable as lacking:
            return lacking

    def _both(self, calls: Sequence[Calls]) -> tuple[list[Answer], list[Answer], list[Answer]]:
        """torch's answers, those in double precision, and MindSpore's."""
        asked = [Asked(call.torch, call.arrays) for call in calls]
        asked += [Asked(replace(call.torch, double=True), call.arrays) for call in calls]
        theirs = self._pool.submit(self.mindspore.answers, [Asked(call.mindspore, call.arrays) for call in calls])
        ours = self.torch.answers(asked)
        return ours[: len(calls)], ours[len(calls) :], theirs.result()

    def _look_closer(
        self,
        verdicts: list[Verdict],
        small: Sequence[tuple[int, int]],
        calls: Sequence[Calls],
        doubles: Sequence[Answer],
    ) -> None:
        """Small disagreements in float64 on both sides."""
        asked = [Asked(replace(calls[at].mindspore, double=True), calls[at].arrays) for _, at in small]
        for (place, at), answer in zip(small, self.mindspore.answers(asked), strict=True):
            verdicts[place] = precise(verdicts[place], doubles[at], answer)


def _largest(arrays: Sequence[Array]) -> float:
    """The largest finite number of some arrays."""
    floats = [array.astype(np.float64) for array in arrays if array.dtype.kind == "f"]
    return max((float(np.abs(array[np.isfinite(array)]).max(initial=0.0)) for array in floats), default=0.0)


def _chance(draw: Draw) -> dict[str, bool]:
    """What of a draw's answer is left to chance."""
    return {name: bool(draw.more.get(name)) for name in ("random", "uninitialised")}


def _usual(pair: Documented, answer: Answer) -> Answer:
    """Rates and updates in the type that a framework computes them in, whatever it gives them out as."""
    if pair.kind not in (Kind.OPTIMIZER, Kind.SCHEDULE):
        return answer
    outputs = [output.astype(np.float32) if output.dtype == np.float64 else output for output in answer.outputs]
    return replace(answer, outputs=outputs)
