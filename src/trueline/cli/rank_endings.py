"""How a job of several ranks came to an end that nobody wanted, in a sentence for each rank."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.model.ending import Ending, Failure, RankEnding, Standing
from trueline.model.message import Message, message


def sentences(ending: Ending) -> Iterator[Message]:
    """What happened, then where the ranks were."""
    cause = ending.cause
    if ending.failure is Failure.ERROR:
        yield message(
            "run.rank_failed", rank=cause.rank, step=cause.step, where=str(cause.where), error=cause.error or ""
        )
    elif ending.failure is Failure.DIED:
        yield message("run.rank_died", rank=cause.rank, step=cause.step)
    else:
        yield message("run.ranks_hang", seconds=f"{ending.seconds:.0f}")
        yield from map(_standing, ending.ranks)


def _standing(rank: RankEnding) -> Message:
    if rank.standing is Standing.WAITS:
        return message("run.rank_waits", rank=rank.rank, step=rank.step, call=rank.call or "?", where=str(rank.where))
    if rank.standing is Standing.RESTS:
        return message("run.rank_rests", rank=rank.rank, step=rank.step, where=str(rank.where))
    return message("run.rank_ended", rank=rank.rank, step=rank.step)
