"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.evidence.looks import EVAL, built_where, few, is_recorded_whole, looked, trained_rank, where
from trueline.checks.evidence.modes import called_where, evaluated_in_training_mode, evaluation_modes, has_evaluation
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BuffersEvent, DropoutEvent, EndEvent
from trueline.model.finding import Certainty, Finding
from trueline.model.run import ModuleInfo

MAX_CALLS_SHOWN: Final = 3  # of dropout: a loop calls it from one line or two
_STATISTICS: Final = ("running_mean", "running_var", "moving_mean", "moving_variance")


@check("tr.09", "dropout or batch normalisation acts in evaluation")
def from_run(run: Run) -> Iterator[Finding]:
    """What acts although the network's mode is right, and what moves."""
    rank = trained_rank(run)
    if rank is None or not has_evaluation(rank):
        yield (na if rank is not None and is_recorded_whole(run) else undecided)("tr_09.no_evaluation")
        return
    problems = list(_problems(rank))
    yield from problems
    if not problems:
        steps = sum(1 for _ in rank.events(EndEvent, phase=EVAL))
        yield none("tr_09.rests", evidence=[{"evaluation_steps": steps}], steps=steps)


def _problems(rank: RankFolder) -> Iterator[Finding]:
    first = min((event.step for event in rank.events(EndEvent, phase=EVAL)), default=0)
    for event in looked(rank, DropoutEvent, EVAL)[:MAX_CALLS_SHOWN]:
        # What rested in evaluations before is switched on by somebody.
        say = found if event.step <= first else suspect
        yield say("tr_09.function", where(event), evidence=[event.to_json()], step=event.step)
    for modes in [modes for modes in evaluation_modes(rank) if not modes.training][:1]:
        place, layers = called_where(rank, modes, EVAL), few(modes.acting)
        if any("BatchNorm" in kind for kind in modes.kinds) and _moved(rank):
            yield found("tr_09.left", place, evidence=[modes.to_json()], step=modes.step, layers=layers)
        else:
            yield suspect("tr_09.left", place, evidence=[modes.to_json()], step=modes.step, layers=layers)
    evaluated, sure = evaluated_in_training_mode(rank)
    moved = _moved(rank)
    if evaluated and sure:
        yield found(
            "tr_09.moved" if moved else "tr_09.left",
            called_where(rank, evaluated[0], EVAL),
            because="api.02",
            evidence=[evaluated[0].to_json()],
            step=evaluated[0].step,
            layers=few(moved or evaluated[0].acting),
        )
    for module in [module for module in rank.modules if _by_batch(module)][:1]:
        yield found(
            "tr_09.batch_statistics",
            built_where(module),
            certainty=Certainty.LIKELY,
            evidence=[{"module": module.path, "type": module.type}],
            module=module.path,
        )


def _moved(rank: RankFolder) -> list[str]:
    """Running statistics that an evaluation step has changed."""
    return sorted(
        {
            name
            for event in looked(rank, BuffersEvent, EVAL)
            for name in event.moved
            if name.rpartition(".")[2] in _STATISTICS
        }
    )


def _by_batch(module: ModuleInfo) -> bool:
    """Batch normalisation that has no statistics of its own, or never uses them."""
    if "BatchNorm" not in module.type:
        return False
    attributes = {**module.attributes, **(module.arguments or {})}
    return attributes.get("track_running_stats") is False or attributes.get("use_batch_statistics") is True
