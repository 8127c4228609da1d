"""Tensors without a counterpart that hold as many numbers on both sides: cut or laid otherwise, and not missing.

What a network computes of weights that were not carried over says nothing of its code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Final

from trueline.model.message import message
from trueline.model.run import ParamInfo
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.blame import Blame, Cause, Stage, StageResult, StageVerdict

# The stages that compare what both make of their weights.
_OF_VALUES: Final = frozenset((Stage.FORWARD, Stage.BACKWARD, Stage.CURVE))
_SHOWN: Final = 4


def is_cut_otherwise(aligned: Aligned) -> bool:
    """Whether both sides have as many numbers left over, in other tensors: nothing is missing then."""
    left = _elements(aligned.only_bench), _elements(aligned.only_port)
    shapes = [sorted(tuple(tensor.shape or ()) for tensor in lone) for lone in (aligned.only_bench, aligned.only_port)]
    return left[0] == left[1] > 0 and shapes[0] != shapes[1]


def cut_otherwise(aligned: Aligned) -> Blame:
    """That tensors could not be paired, with the way to say which are each other's."""
    return Blame(
        Stage.PARAMETERS,
        Cause.MISSING_PARAMETER,
        message(
            "pair_stage.cut_otherwise",
            bench=_named(aligned.only_bench),
            port=_named(aligned.only_port),
            elements=_elements(aligned.only_bench),
        ),
        edit=message("pair_stage.cut_otherwise_edit"),
        evidence=[{"name": tensor.name} for tensor in aligned.only_bench],
        unfelt=True,
    )


def undecided_beside(aligned: Aligned, stages: Sequence[StageResult]) -> list[StageResult]:
    """The stages, with what they say of values only suspected where weights could not be carried over."""
    if not is_cut_otherwise(aligned):
        return list(stages)
    return [_undecided(stage) if stage.stage in _OF_VALUES and stage.blames else stage for stage in stages]


def _undecided(stage: StageResult) -> StageResult:
    return replace(
        stage,
        verdict=StageVerdict.SKIPPED,
        message=message("pair_stage.not_carried"),
        blames=[replace(blame, confirmed=False, unfelt=True) for blame in stage.blames],
    )


def _elements(tensors: Sequence[ParamInfo]) -> int:
    return sum(prod(tensor.shape or ()) for tensor in tensors)


def _named(tensors: Sequence[ParamInfo]) -> str:
    names = ", ".join(tensor.name for tensor in tensors[:_SHOWN])
    return f"{names} … (+{len(tensors) - _SHOWN})" if len(tensors) > _SHOWN else names
