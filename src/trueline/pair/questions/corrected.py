"""The whole model run with some of its modules changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trueline.kernel.array import Array
from trueline.pair.questions.module_run import Change
from trueline.pair.questions.question import Question


@dataclass(frozen=True, slots=True)
class Correction:
    """A change to the module at ``path``; ``lacking`` are tensors for what the changed one has and this has not."""

    path: str
    change: Change
    lacking: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CorrectedRun:
    """The tensors of the output, in order; ``failed`` is why the changed model could not be run."""

    outputs: Sequence[Array] = ()
    failed: str = ""


@dataclass(frozen=True, slots=True)
class RunCorrected(Question[CorrectedRun]):
    """Run the model with all corrections made at once, dropping nothing; afterwards it is as it was."""

    inputs: Sequence[Array]
    corrections: Sequence[Correction]
    train: bool = False
