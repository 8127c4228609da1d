"""What a run shows of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import Params, check, found, na, none, undecided
from trueline.formats.run_folder.reader import Run
from trueline.model.ending import Ending, Failure, RankEnding, Standing
from trueline.model.finding import Finding
from trueline.model.json_value import Json


@check("tr.33", "a rank waits or has died")
def from_run(run: Run) -> Iterator[Finding]:
    """How the job has ended."""
    ending = run.ending
    if ending is not None:
        yield _failed(ending)
    elif len(run.ranks) < 2 and run.info.world < 2:
        yield na("tr_33.one_rank")
    elif run.info.exit_code == 0:
        yield none("tr_33.ended", evidence=[{"ranks": len(run.ranks)}], ranks=len(run.ranks))
    else:
        yield undecided("tr_33.unknown")


def _failed(ending: Ending) -> Finding:
    cause = ending.cause
    evidence: list[Json] = [each.to_json() for each in ending.ranks[:16]]
    params: Params = {"rank": cause.rank, "step": cause.step}
    if ending.failure is Failure.ERROR:
        return found("tr_33.error", cause.where, evidence=evidence, error=cause.error or "", **params)
    if ending.failure is Failure.DIED:
        return found("tr_33.died", cause.where, advice="tr_33.advice_died", evidence=evidence, **params)
    others = [each for each in ending.ranks if each.rank != cause.rank]
    return found(
        "tr_33.waits",
        cause.where,
        measured=ending.seconds,
        evidence=evidence,
        seconds=f"{ending.seconds:.0f}",
        call=cause.call or "?",
        others="; ".join(map(_stands, others[:4])),
        **params,
    )


def _stands(rank: RankEnding) -> str:
    if rank.standing is Standing.ENDED:
        return f"rank {rank.rank}: -"
    return f"rank {rank.rank}: {rank.call or '?'} ({rank.where})"
