"""Whether a trial came to anything."""

from __future__ import annotations

from trueline.model.trouble import BadScript
from trueline.tune.trial import Trial

_LONGEST = 300


def check_trained(trial: Trial) -> None:
    """A trouble, or the user's interrupt, where there was not one update."""
    for failed in trial.of("failed"):
        raise BadScript("tune.failed", kind=failed["kind"], reason=failed["reason"])
    if trial.updates:
        return
    if trial.interrupted:
        raise KeyboardInterrupt
    line = trial.ended.last_line[:_LONGEST]
    raise BadScript(f"tune.never_trains{'' if line else '_silent'}", code=trial.ended.code, line=line)


def failure_of(trial: Trial) -> str | None:
    """Why a run did not come to its end, if it did not."""
    failed = trial.of("failed")
    if failed:
        return f"{failed[0]['kind']}: {failed[0]['reason']}"
    if trial.ended_early and trial.ended.code != 0:
        return trial.ended.last_line[:_LONGEST]
    return None
