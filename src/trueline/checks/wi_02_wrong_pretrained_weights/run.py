"""What a run shows of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from trueline.checks.engine.check import Params, check, found, na, suspect, undecided
from trueline.checks.evidence.looks import few, looked, trained_rank, where
from trueline.formats.run_folder.reader import Run
from trueline.model.events import LoadedEvent
from trueline.model.finding import Finding
from trueline.model.json_value import Json

MAX_SHOWN = 10  # names in the evidence
MAX_SOME_MISSING = 0.1  # share of a network's names: a head of its own has a few
MIN_RENAMED = 2  # names that differ in the same way: a single one does so by chance


@check("wi.02", "wrong pretrained weights", decides=False)
def from_run(run: Run, *, max_missing: float = 0.5) -> Iterator[Finding]:
    """Weights as they were loaded."""
    rank = trained_rank(run)
    loaded = looked(rank, LoadedEvent) if rank is not None else []
    if not loaded:
        yield undecided("wi_02.no_steps") if rank is None else na("wi_02.nothing_loaded")
        return
    reported = 0
    for event in loaded:
        for finding in _judged(event, max_missing):
            reported += 1
            yield finding
    if not reported:
        evidence: list[Json] = [
            {"given": event.given, "missing": event.missing, "changed": event.changed} for event in loaded
        ]
        fitting = min(event.wanted - len(event.missing) for event in loaded)
        # Names that fit do not show that the values are the right ones.
        yield undecided("wi_02.fit", evidence=evidence, times=len(loaded), fitting=fitting)


def _judged(event: LoadedEvent, max_missing: float) -> Iterator[Finding]:
    missing, unexpected = event.missing, event.unexpected
    wanted = max(event.wanted, 1)
    share = len(missing) / wanted
    evidence: list[Json] = [
        {"missing": missing[:MAX_SHOWN], "unexpected": unexpected[:MAX_SHOWN], "changed": event.changed}
    ]
    params: Params = {
        "missing": len(missing),
        "wanted": event.wanted,
        "unexpected": len(unexpected),
        "names": few(missing),
    }
    prefix = _prefix(missing, unexpected)
    renamed = _renamed(missing, unexpected)
    if not event.given and event.wanted:
        yield found("wi_02.nothing_given", where(event), measured=0, evidence=evidence, wanted=event.wanted)
    elif event.given and len(missing) >= wanted:
        yield found("wi_02.nothing_fits", where(event), measured=share, limit=max_missing, evidence=evidence, **params)
    elif prefix is not None:
        yield found("wi_02.prefix", where(event), measured=share, evidence=evidence, **{**params, "prefix": prefix})
    elif renamed is not None:
        named = {**params, "old": renamed[0], "new": renamed[1]}
        yield found("wi_02.renamed", where(event), measured=share, evidence=evidence, **named)
    elif share >= max_missing and unexpected:
        yield found("wi_02.most_missing", where(event), measured=share, limit=max_missing, evidence=evidence, **params)
    elif missing and unexpected and share > MAX_SOME_MISSING:
        yield suspect(
            "wi_02.most_missing", where(event), measured=share, limit=MAX_SOME_MISSING, evidence=evidence, **params
        )


def _renamed(missing: Sequence[str], unexpected: Sequence[str]) -> tuple[str, str] | None:
    """The last words (of the file, of the network) by which several names differ that are else the same."""
    wanted: dict[str, set[str]] = {}
    for name in missing:
        head, _, last = name.rpartition(".")
        wanted.setdefault(head, set()).add(last)
    pairs = Counter(
        (last, name_there)
        for name in unexpected
        for head, _, last in [name.rpartition(".")]
        for name_there in wanted.get(head, ())
        if last not in wanted[head]
    )
    often = [pair for pair, count in pairs.items() if count >= MIN_RENAMED]
    return often[0] if often else None


def _prefix(missing: Sequence[str], unexpected: Sequence[str]) -> str | None:
    """What stands before the names on one side that are else the same, for several of them."""
    if len(missing) < 2 or len(unexpected) < 2:
        return None
    for longer, shorter in ((unexpected, set(missing)), (missing, set(unexpected))):
        heads = {name.split(".")[0] for name in longer}
        for head in heads:
            fitting = sum(name.removeprefix(f"{head}.") in shorter for name in longer if name.startswith(f"{head}."))
            if fitting >= 2 and fitting * 2 >= min(len(missing), len(unexpected)):
                return f"{head}."
    return None
