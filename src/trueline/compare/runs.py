"""Two recorded runs: what they were told and fed, their weights, loss curves and tensors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from trueline.compare.align import Alignment
from trueline.compare.batches import BatchesComparison, compare_batches
from trueline.compare.curves import CurveComparison, compare_curves
from trueline.compare.floors import Floors
from trueline.compare.noise import epsilon
from trueline.compare.noise_floor import read_noise
from trueline.compare.rows import Network, Row, Tensor, Tensors
from trueline.compare.settings import Setting, other_hyper, other_precision, other_seeds, precision
from trueline.compare.tensors import How, compare_tensors
from trueline.compare.updates import excuse_undecided, is_adaptive
from trueline.compare.verdict import Verdict, worst
from trueline.compare.weights import WeightsComparison, compare_initial_weights, reductions
from trueline.compare.wording import side_names
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.key import Key, Kind, Phase
from trueline.model.run import ModuleInfo
from trueline.model.summary import Summary
from trueline.model.trouble import BadUsage

# Where only statistics were kept: the steps whose tensors tell most.
_STATS_STEPS: Final = 2


@dataclass(frozen=True)
class Side:
    """One of the two runs and the name it goes by."""

    name: str
    run: Run
    rank: RankFolder

    @cached_property
    def modules(self) -> Mapping[str, ModuleInfo]:
        """The modules by path."""
        return {module.path: module for module in self.rank.modules}

    def module(self, path: str) -> ModuleInfo | None:
        """What is known of a module."""
        return self.modules.get(path)

    def source(self, file: str) -> list[str] | None:
        """A source file's lines, where it was kept."""
        if file not in self._sources:
            kept = self.run.info.sources.get(file)
            self._sources[file] = self.run.source(kept) if kept is not None else None
        return self._sources[file]

    @cached_property
    def _sources(self) -> dict[str, list[str] | None]:
        return {}

    @cached_property
    def network(self) -> Network:
        """What alignment and floors need to know."""
        types = {path: module.type for path, module in self.modules.items()}
        return Network(types, self.rank.calls, reductions(self.rank.params))


@dataclass(frozen=True, slots=True)
class RunComparison:
    """One rank of run ``a`` against the benchmark ``b``'s; ``steps`` ends with the first whose tensors differ."""

    a: Side
    b: Side
    rank: int
    seeds: Sequence[Setting]
    hyper: Sequence[Setting]
    batches: BatchesComparison
    weights: WeightsComparison
    precision: Sequence[Setting]
    loss: CurveComparison
    steps: Sequence[Tensors]
    floors: Floors
    notes: Mapping[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> Verdict | None:
        """The worst of all, None where nothing could be compared."""
        verdicts = [self.loss.verdict, *(step.verdict for step in self.steps)]
        apart = bool(self.weights.apart or self.weights.other_structure)
        return worst([verdict for verdict in verdicts if verdict is not None] + [Verdict.DIFFERS] * apart)

    @property
    def alignments(self) -> Sequence[Alignment]:
        """How names were paired, of parameters and of each step's tensors."""
        return [self.weights.alignment, *(step.alignment for step in self.steps)]

    @property
    def differs(self) -> bool:
        """Whether anything is further apart than noise explains."""
        return self.verdict is Verdict.DIFFERS

    @property
    def differing(self) -> Tensors | None:
        """The first step whose tensors differ."""
        return next((step for step in self.steps if step.first is not None), None)

    @property
    def first(self) -> Row | None:
        """The first tensors that differ."""
        step = self.differing
        return step.first_row if step is not None else None


def compare_runs(a: Run, b: Run, *, rank: int = 0, how: How | None = None) -> RunComparison:
    """Compare one rank of a run with the same rank of the benchmark ``b``."""
    how = how or How()
    if how.floors.noise is None and not how.floors.given:
        how = replace(how, floors=Floors(read_noise(b)))
    names = _names(a, b)
    here, there = Side(names[0], a, a.rank(rank)), Side(names[1], b, b.rank(rank))
    networks = (here.network, there.network)
    curves = (here.rank.curve("loss"), there.rank.curve("loss"))
    loss = compare_curves(*curves, how.floors, _coarsest(here, there))
    return RunComparison(
        here,
        there,
        rank,
        other_seeds(a.info, b.info),
        other_hyper(a, b, here.rank, there.rank),
        compare_batches(here.rank, there.rank),
        compare_initial_weights(here.rank.params, there.rank.params, how.rules, networks),
        other_precision(a.info, b.info, here.rank, there.rank),
        loss,
        _compare_steps(here, there, how, loss),
        how.floors,
    )


def compare_ranks(a: Run, b: Run, rank: int | None = None, how: How | None = None) -> dict[int, RunComparison]:
    """Rank against rank: all that both runs have, or the one asked for."""
    both = [one for one in a.ranks if one in b.ranks]
    if rank is not None and rank not in both:
        raise BadUsage("compare.no_such_rank", rank=rank, ranks=", ".join(str(one) for one in both) or "-")
    if not both:
        raise BadUsage("compare.no_common_rank", a=str(a.path), b=str(b.path))
    return {one: compare_runs(a, b, rank=one, how=how) for one in (both if rank is None else [rank])}


def _compare_steps(here: Side, there: Side, how: How, loss: CurveComparison) -> list[Tensors]:
    full = sorted(set(here.rank.tensor_steps) & set(there.rank.tensor_steps))
    if full:
        return _walk(full, lambda side, step: _full(side.rank, step), (here, there), how)
    common = [step for step, _, _ in loss.common]
    asked = common[:_STATS_STEPS] + ([loss.parts.step] if loss.parts is not None else [])
    return _walk(sorted(set(asked)), lambda side, step: _kept(side.rank, step), (here, there), how)


def _walk(
    steps: Sequence[int], tensors: Callable[[Side, int], Sequence[Tensor]], sides: tuple[Side, Side], how: How
) -> list[Tensors]:
    found: list[Tensors] = []
    held = [(step, tensors(sides[0], step), tensors(sides[1], step)) for step in steps]
    # Evaluation comes last: it follows from training.
    for phase in Phase:
        before: Tensors | None = None
        for step, a, b in held:
            compared = compare_tensors(
                [tensor for tensor in a if tensor.key.phase is phase],
                [tensor for tensor in b if tensor.key.phase is phase],
                how,
                step=step,
                networks=(sides[0].network, sides[1].network),
                before=before,
            )
            lr = _adaptive_lr(sides, step)
            compared = before = excuse_undecided(compared, lr) if lr is not None else compared
            if compared.rows:
                found.append(compared)
            if compared.first is not None:
                return found
    return found


def _adaptive_lr(sides: tuple[Side, Side], step: int) -> float | None:
    """The learning rate of a step where an optimizer divides gradients by their size."""
    for side in sides:
        optimizers = side.run.info.hyper.get("optimizers")
        kinds = [str(one.get("kind")) for one in optimizers or () if isinstance(one, dict)]
        if any(is_adaptive(kind) for kind in kinds):
            curve = side.rank.curve("lr")
            rates = dict(zip(curve.steps, curve.values, strict=True))
            return rates.get(step, max(rates.values(), default=None))
    return None


def _full(rank: RankFolder, step: int) -> list[Tensor]:
    tensors = rank.stored(step)
    return [Tensor(key, str(key), stored.shape, str(stored.dtype), stored) for key, stored in tensors.items()]


def _kept(rank: RankFolder, step: int) -> list[Tensor]:
    return [_of_summary(key, summary) for key, summary in rank.stats(step).items()]


def _of_summary(key: Key, summary: Summary) -> Tensor:
    numbers = {
        "min": summary.minimum,
        "max": summary.maximum,
        "mean": summary.mean,
        "l2": summary.l2,
        "non_finite": summary.non_finite,
    }
    return Tensor(key, str(key), (summary.count,), "float32", numbers=numbers, fingerprint=summary.fingerprint)


def _names(a: Run, b: Run) -> tuple[str, str]:
    frameworks = (a.info.framework, b.info.framework)
    if frameworks[0] and frameworks[1] and frameworks[0] != frameworks[1]:
        return frameworks[0], frameworks[1]
    return side_names(a.path, b.path)


def _coarsest(*sides: Side) -> str:
    """The coarsest number format on the way to the loss, as far as it is known."""
    named = [precision(side.run.info) for side in sides]
    for side in sides:
        for step in side.rank.tensor_steps[:1]:
            named += [str(stored.dtype) for key, stored in side.rank.stored(step).items() if key.kind is Kind.OUT]
    return max((name for name in named if epsilon(name)), key=epsilon, default="float32")
