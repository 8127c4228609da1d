"""Two recorded runs: their initial weights, loss curves and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trueline.compare.curves import CurveComparison, compare_curves
from trueline.compare.noise import epsilon
from trueline.compare.tensors import Row, StepComparison, compare_step
from trueline.compare.verdict import Verdict, worst
from trueline.compare.weights import WeightsComparison, compare_initial_weights
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.key import Phase
from trueline.model.run import ModuleInfo


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two runs and the name it goes by."""

    name: str
    run: Run
    rank: RankFolder

    def module(self, path: str) -> ModuleInfo | None:
        """What is known of a module."""
        return next((one for one in self.rank.modules if one.path == path), None)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Run ``a`` against the benchmark ``b``; ``steps`` ends with the first whose tensors differ."""

    a: Side
    b: Side
    weights: WeightsComparison
    loss: CurveComparison
    steps: Sequence[StepComparison]

    @property
    def verdict(self) -> Verdict | None:
        """The worst of all, None where nothing could be compared."""
        verdicts = [self.loss.verdict, *(one.verdict for one in self.steps)]
        return worst([one for one in verdicts if one is not None] + [Verdict.DIFFERS] * bool(self.weights.apart))

    @property
    def differs(self) -> bool:
        """Whether anything is further apart than noise explains."""
        return self.verdict is Verdict.DIFFERS

    @property
    def differing(self) -> StepComparison | None:
        """The first step whose tensors differ."""
        return next((one for one in self.steps if one.first is not None), None)

    @property
    def first(self) -> Row | None:
        """The first tensors that differ."""
        step = self.differing
        return step.rows[step.first] if step is not None and step.first is not None else None


def compare_runs(a: Run, b: Run, *, rank: int = 0) -> RunComparison:
    """Compare one rank of a run with the same rank of the benchmark ``b``."""
    here, there = a.rank(rank), b.rank(rank)
    names = _names(a, b)
    loss = compare_curves(here.curve("loss"), there.curve("loss"), _coarser(a, b))
    return RunComparison(
        Side(names[0], a, here),
        Side(names[1], b, there),
        compare_initial_weights(here.params, there.params),
        loss,
        _compare_steps(here, there),
    )


def _compare_steps(here: RankFolder, there: RankFolder) -> list[StepComparison]:
    steps = []
    for step in sorted(set(here.tensor_steps) & set(there.tensor_steps)):
        compared = compare_step(here, there, step, Phase.TRAIN)
        if compared.rows:
            steps.append(compared)
        if compared.first is not None:
            break
    return steps


def _names(a: Run, b: Run) -> tuple[str, str]:
    frameworks = (a.info.framework, b.info.framework)
    if frameworks[0] and frameworks[1] and frameworks[0] != frameworks[1]:
        return frameworks[0], frameworks[1]
    if a.path.name != b.path.name:
        return a.path.name, b.path.name
    return str(a.path), str(b.path)


def _coarser(a: Run, b: Run) -> str:
    # Frameworks write their dtypes with and without a prefix: torch.float32, Float32.
    named = [(one.info.precision or "").rpartition(".")[2].lower() for one in (a, b)]
    return max((name for name in named if epsilon(name)), key=epsilon, default="float32")
