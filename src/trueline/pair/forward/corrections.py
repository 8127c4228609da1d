"""All confirmed changes made to the port at once: whether its outputs are the benchmark's then.

What lies between layers is at fault only where the network, its layers put right, still differs: two networks may cut
their blocks differently and compute the same.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from trueline.compare.levels import levels
from trueline.compare.verdict import Verdict
from trueline.kernel import distance
from trueline.kernel.array import Array
from trueline.model.key import Key, Kind, Phase
from trueline.model.message import Message, message
from trueline.model.run import ModuleInfo
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.attributes.classes import activation_like
from trueline.pair.attributes.difference import Modules, typed
from trueline.pair.attributes.differences import differences
from trueline.pair.attributes.reference import port_leaf
from trueline.pair.attributes.wording import place_shown
from trueline.pair.blame import Blame, Cause, Stage, also_in, joined, module_name
from trueline.pair.questions.corrected import Correction, RunCorrected
from trueline.pair.questions.model import GetWeights
from trueline.pair.questions.module_run import Change
from trueline.pair.questions.recording import Recording
from trueline.pair.sides.side import Side
from trueline.pair.verify import judge_outputs

# Outputs this close, relative to the largest, need no measured noise to be called the same.
_CLOSE: Final = 1e-4
# Further apart than this, no noise of a network is measured.
_MOST_NOISE: Final = 1e-2
_FORMS: Final = (Cause.ACTIVATION, Cause.GELU_FORM)


@dataclass(frozen=True, slots=True)
class Together:
    """The whole port before and after ``modules`` of it were changed as confirmed, beside the benchmark.

    ``before`` and ``after`` are relative to the benchmark's largest output; ``before`` is None where nobody asked.
    ``equal``: noise explains what is left.
    ``elsewhere`` are layers that only had to be changed like one of the confirmed ones for that.
    """

    modules: int
    before: float | None
    after: float
    equal: bool
    elsewhere: Sequence[Blame] = ()

    @property
    def said(self) -> Message | None:
        """One sentence, where something was changed."""
        if not self.modules or self.before is None:
            return None
        word = "together" if self.equal else "together_left"
        return message(f"pair_stage.{word}", count=self.modules, before=f"{self.before:.2g}", after=f"{self.after:.2g}")


@dataclass(frozen=True, slots=True)
class PutRight:
    """Runs the port as it was recorded with all that is confirmed; ``fine`` are its modules that agree as they are."""

    sides: tuple[Side, Side]
    aligned: Aligned
    recordings: tuple[Recording, Recording]
    inputs: Sequence[Array]
    fine: Collection[str]

    def with_all(self, blames: Sequence[Blame], before: float | None = None) -> Together | None:
        """What the outputs are then, and ``before`` were; None where a change cannot be made again."""
        there = self.recordings[0].outputs
        corrections = list(self._corrections(blames))
        after = self._after(corrections)
        if after is None:
            return None
        first = Together(len(corrections), before, _level(after, there), self._equal(after))
        if first.equal:
            return first
        return self._as_elsewhere(blames, corrections, first) or first

    def before(self) -> float | None:
        """How far the outputs lie apart as it is: a recording may be older than the weights the port has by now."""
        here = self._after(())
        return _level(here, self.recordings[0].outputs) if here is not None else None

    def _after(self, corrections: Sequence[Correction]) -> Sequence[Array] | None:
        ran = self.sides[1].answer(RunCorrected(self.inputs, corrections, self.recordings[0].train))
        return None if ran.failed else ran.outputs

    def _equal(self, after: Sequence[Array]) -> bool:
        there = self.recordings[0].outputs
        left = _level(after, there)
        # Noise is measured in evaluation.
        if left <= _CLOSE or not left <= _MOST_NOISE or self.recordings[0].train:
            return left <= _CLOSE
        return judge_outputs(self.sides, self.inputs, there, after, rounds=2).verdict is not Verdict.DIFFERS

    def _as_elsewhere(
        self, blames: Sequence[Blame], corrections: Sequence[Correction], first: Together
    ) -> Together | None:
        """The same layers elsewhere, changed too: who writes one wrong mostly writes all of them wrong."""
        known = {correction.path for correction in corrections}
        more: dict[str, tuple[Correction, Blame]] = {}
        modules = {module.path: module for module in self.aligned.port.modules}
        for blame in blames:
            change = next((each.change for each in corrections if each.path in _paths(self.aligned, blame)), None)
            if change is None or change.tensors or change.pads:
                continue
            like = next(modules[path] for path in _paths(self.aligned, blame) if path in known)
            for path, module in modules.items():
                same = module.type == like.type and module.arguments == like.arguments
                if same and path not in known and path not in self.fine:
                    more.setdefault(path, (Correction(path, change), blame))
        after = self._after([*corrections, *(correction for correction, _ in more.values())]) if more else None
        if after is None or not self._equal(after):
            return None
        left = _level(after, self.recordings[0].outputs)
        found = [
            _elsewhere(modules[path], blame, correction.change, first.after, left)
            for path, (correction, blame) in more.items()
        ]
        return Together(len(corrections) + len(more), first.before, left, True, joined(found))

    def _corrections(self, blames: Sequence[Blame]) -> Iterator[Correction]:
        """What to change in each module that a confirmed cause holds for; several of one module as one change."""
        shapes = _shapes(self.recordings[0])
        changes: dict[str, Change] = {}
        others: dict[str, str] = {}
        for blame in blames:
            if not blame.confirmed or blame.latent or blame.stage is not Stage.FORWARD:
                continue
            for path, other, change in _of(self.aligned, shapes, blame):
                changes[path] = changes[path] | change if path in changes else change
                others[path] = other
        for path, change in changes.items():
            yield Correction(path, change, _lacking(self.sides[0], self.aligned, path, others[path]))


def _elsewhere(module: ModuleInfo, blame: Blame, change: Change, before: float, after: float) -> Blame:
    """The cause of one layer, found in another."""
    like = f"{Path(blame.line.file).name}:{blame.line.line}" if blame.line is not None else blame.module
    said = message("pair_stage.as_elsewhere", module=module_name(module.path), type=module.type, like=like)
    place, other = place_shown(module), change.build.partition(".")[2] or module.type
    edit = message("pair_attr.edit_class", place=place, type=module.type, other=f"{other}({typed(change.arguments)})")
    return replace(
        blame,
        message=said,
        module=module.path,
        other_module="",
        measured=before,
        left=after,
        line=module.built_at,
        other_line=None,
        edit=edit,
        evidence=(),
    )


def _shapes(recording: Recording) -> dict[str, Sequence[int]]:
    """The shape of each module's first input."""
    return {call.path: recording.shapes[call.ins[0]][1] for call in reversed(recording.calls) if call.ins}


def _level(here: Sequence[Array], there: Sequence[Array]) -> float:
    """How far apart outputs are, relative to the largest of each."""
    if len(here) != len(there) or any(a.shape != b.shape for a, b in zip(here, there, strict=True)):
        return math.inf
    found = levels(
        (Key.of("", Kind.OUT, place, phase=Phase.EVAL), distance(a, b))
        for place, (a, b) in enumerate(zip(here, there, strict=True))
    )
    return max(found.values(), default=0.0)


def _paths(aligned: Aligned, blame: Blame) -> list[str]:
    """The modules of the port that a cause holds for."""
    if blame.change is not None:
        return [blame.module, *also_in(blame)]
    return [path for path, _, _ in _activations(aligned, blame)]


def _of(aligned: Aligned, shapes: Mapping[str, Sequence[int]], blame: Blame) -> Iterator[tuple[str, str, Change]]:
    if blame.change is None:
        yield from _activations(aligned, blame)
        return
    yield blame.module, blame.other_module, blame.change
    for path in also_in(blame):
        other = aligned.modules.get(path, "")
        change: Change | None = blame.change
        if other:
            modules = Modules.of(aligned.bench, aligned.port, (other, path))
            alike = (each for each in differences(modules, shapes.get(other)) if each.cause is blame.cause)
            found = next(alike, None)
            change = found.change if found is not None else change
        if change is not None:
            yield path, other, change


def _activations(aligned: Aligned, blame: Blame) -> Iterator[tuple[str, str, Change]]:
    """Layers of the framework that the port's line of an operator has built: the operator is all that they do."""
    if blame.cause not in _FORMS or blame.line is None:
        return
    for module in aligned.port.modules:
        if module.built_at == blame.line:
            modules = Modules(module, module, (aligned.port.classes[module.path],) * 2, (aligned.port.framework,) * 2)
            change = activation_like(modules, str(blame.bench))
            if change is not None:
                yield module.path, module.path, change


def _lacking(bench: Side, aligned: Aligned, path: str, other: str) -> dict[str, Array]:
    """The benchmark's tensors of a layer that the port's has no counterpart of."""
    described = aligned.bench
    names = {
        described.paths.get(parameter.name, parameter.name): parameter.name
        for parameter in aligned.only_bench
        if described.paths.get(parameter.name, parameter.name).rpartition(".")[0] == other
    }
    if not names:
        return {}
    modules = Modules.of(aligned.bench, aligned.port, (other, path))
    weights = bench.answer(GetWeights(list(names.values())))
    return {port_leaf(modules, full.rpartition(".")[2]): weights[name] for full, name in names.items()}
