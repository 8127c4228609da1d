"""Why a module of the port does not do what the benchmark's does: each way it is built otherwise, tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_

from trueline.compare.noise import epsilon
from trueline.model.key import Kind
from trueline.pair.attributes.difference import Difference, Modules
from trueline.pair.attributes.differences import differences, fitted
from trueline.pair.attributes.hypotheses import coarser_dtype, hypotheses
from trueline.pair.attributes.reference import Judged, Reference, judged
from trueline.pair.attributes.wording import blame
from trueline.pair.blame import Blame, Stage
from trueline.pair.forward.forced import short_floor
from trueline.pair.questions.module_run import Change, Ran, RunModule
from trueline.pair.sides.side import Side


@dataclass
class Trials:
    """The port's module on the reference's inputs with any of its differences taken away; ``always`` is changed too."""

    port: Side
    modules: Modules
    reference: Reference
    always: Change = field(default_factory=Change)
    _judged: dict[tuple[int, ...], Judged] = field(default_factory=dict)

    def run(self, taken: Sequence[Difference] = ()) -> tuple[Ran, Change]:
        """Run it; the fallback is used where a change cannot be made."""
        changes = [difference.change for difference in taken if difference.change is not None]
        ran, change = self._ran(self._joined(changes))
        others = [difference.fallback or difference.change for difference in taken]
        if ran.failed and any(difference.fallback is not None for difference in taken):
            ran, change = self._ran(self._joined([one for one in others if one is not None]))
        return ran, change

    def judge(self, taken: Sequence[Difference] = ()) -> Judged:
        """How far it lies from the benchmark then; each set of differences is run once."""
        key = tuple(sorted(id(difference) for difference in taken))
        if key not in self._judged:
            ran, change = self.run(taken)
            self._judged[key] = judged(ran, self.reference, change)
        return self._judged[key]

    def _joined(self, changes: Sequence[Change]) -> Change:
        change = reduce(or_, changes, self.always)
        known = self.modules.known[1]
        if known is None or change.build or not change.arguments:
            return change
        now = known.named(self.modules.port.arguments)
        return change | Change(fitted(known, now, change.arguments))

    def _ran(self, change: Change) -> tuple[Ran, Change]:
        reference = self.reference
        question = RunModule(
            self.modules.port.path,
            reference.ins,
            call=reference.call,
            train=reference.train,
            gout=reference.gout,
            change=change,
            lacking=reference.tensors,
        )
        return self.port.answer(question), change


def find_causes(
    port: Side, modules: Modules, reference: Reference, *, stage: Stage = Stage.FORWARD, suspects: bool = True
) -> list[Blame]:
    """The causes of a module's difference, confirmed ones first; none where there is no difference.

    A cause is confirmed when the difference falls into noise once it alone is taken away, or it and others together,
    none of which could be left out. What is built otherwise and was not confirmed comes as suspects, in order.
    """
    trials = Trials(port, modules, reference)
    ran, _ = trials.run()
    before = judged(ran, reference)
    if before.within:
        return []
    shape = reference.ins[0].shape if reference.ins else None
    found = differences(modules, shape)
    needed = _explaining(trials, found)
    if not needed:
        needed = _explaining(trials, found, list(hypotheses(modules, reference)))
    if needed:
        return [_confirmed(trials, needed, difference, before, stage) for difference in needed]
    return [*_by_dtype(trials, ran, before, stage), *(_suspects(trials, found, before, stage) if suspects else ())]


def _explaining(
    trials: Trials, differences: Sequence[Difference], more: Sequence[Difference] | None = None
) -> list[Difference]:
    """The fewest differences that explain it: one, or all of them less those that can be left out."""
    tried = [candidate for candidate in differences if candidate.change is not None]
    if more is not None:
        return next(
            (
                [*rest, candidate]
                for candidate in more
                for rest in ([], tried)
                if trials.judge([*rest, candidate]).within
            ),
            [],
        )
    alone = next(([candidate] for candidate in tried if trials.judge([candidate]).within), [])
    if alone or len(tried) < 2 or not trials.judge(tried).within:
        return alone
    needed = list(tried)
    for difference in tried:
        rest = [candidate for candidate in needed if candidate is not difference]
        if trials.judge(rest).within:
            needed = rest
    return needed


def _confirmed(
    trials: Trials, needed: Sequence[Difference], difference: Difference, before: Judged, stage: Stage
) -> Blame:
    """``measured`` is this cause's own effect: what is left when all the others are taken away."""
    others = [candidate for candidate in needed if candidate is not difference]
    own = trials.judge(others) if others else before
    left, limit = trials.judge(needed).level, trials.reference.limit(Kind.OUT)
    return blame(trials.modules, difference, stage=stage, confirmed=True, measured=own.level, limit=limit, left=left)


def _by_dtype(trials: Trials, ran: Ran, before: Judged, stage: Stage) -> list[Blame]:
    """A shorter float explains what its own rounding explains."""
    difference = coarser_dtype(trials.reference, ran)
    if difference is None or ran.failed:
        return []
    limit = short_floor("grad" if trials.reference.train else "out", epsilon(str(difference.port)), 1.0)
    confirmed = before.level <= limit
    return [blame(trials.modules, difference, stage=stage, confirmed=confirmed, measured=before.level, limit=limit)]


def _suspects(trials: Trials, differences: Sequence[Difference], before: Judged, stage: Stage) -> list[Blame]:
    """What was not confirmed: what takes most of the difference away first."""
    limit = trials.reference.limit(Kind.OUT)
    ranked = [
        (trials.judge([difference]).level if difference.change is not None else before.level, difference)
        for difference in differences
    ]
    ranked.sort(key=lambda pair: pair[0])
    return [
        blame(trials.modules, difference, stage=stage, measured=before.level, limit=limit, left=left)
        for left, difference in ranked
    ]
