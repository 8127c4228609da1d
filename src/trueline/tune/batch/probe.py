"""The script as it is, for a few updates: which batches go into training, from where, and at which learning rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.tune.told import Word
from trueline.tune.trial import Trial


@dataclass(frozen=True, slots=True)
class Loader:
    """What puts the training's batches together: its class, size and line, and where it is built (see ``sites``)."""

    kind: str
    size: int
    line: Location | None
    sites: Mapping[str, Sequence[int] | None]
    sampler: str | None


@dataclass(frozen=True, slots=True)
class Probed:
    """``size`` samples in each backward pass, ``passes`` of them in an update; ``rate`` the first group's.

    ``samples`` is how many the dataset has. ``loader`` is None where no loader feeds training, or none whose size could
    be another: ``why`` says so.
    """

    size: int
    passes: int
    rate: float | None
    loader: Loader | None
    why: Message | None
    samples: int | None


def probed(trial: Trial) -> Probed | None:
    """None where nothing was trained on."""
    updates = [update.fields for update in trial.updates if update.fields.get("samples")]
    if not updates:
        return None
    # The first update may hold what was left by another loader.
    last = updates[-1]
    passes = max(1, int(last["passes"]))
    loader, why = _loader(trial)
    rates = trial.of("rates")
    feeds = trial.of("feeds")
    return Probed(
        size=round(int(last["samples"]) / passes),
        passes=passes,
        rate=next((float(rate["rates"][0]) for rate in rates if rate["rates"]), None),
        loader=loader,
        why=why,
        samples=feeds[0]["samples"] if feeds else None,
    )


def _loader(trial: Trial) -> tuple[Loader | None, Message | None]:
    feeds = trial.of("feeds")
    if not feeds:
        return None, message("tune_batch.by_hand")
    numbers = {number for feed in feeds for number in feed["batchers"]}
    built = trial.of("batcher")
    chosen = [one for one in built if one["number"] in numbers]
    if not chosen:
        return None, message("tune_batch.unbatched", kind=feeds[0]["kind"])
    fixed = next((one for one in chosen if one["size"] is None), None)
    if fixed is not None:
        return None, message(f"tune_batch.fixed_{fixed['why']}", kind=fixed["kind"], place=place_of(line_of(fixed)))
    sizes = sorted({int(one["size"]) for one in chosen})
    if len(sizes) > 1:
        return None, message("tune_batch.several", sizes=", ".join(map(str, sizes)))
    first = chosen[0]
    sites = {one["site"]: _turns(one["site"], built, numbers) for one in chosen}
    return (
        Loader(first["kind"], sizes[0], line_of(first), sites, feeds[0]["sampler"]),
        None,
    )


def _turns(site: str, built: Sequence[Word], numbers: set[int]) -> list[int] | None:
    """Which of those built at a site feed training; None where all that were used do, so that later ones will too."""
    here = [one for one in built if one["site"] == site]
    others = [one for one in here if one["number"] not in numbers]
    if not others:
        return None
    return [int(one["turn"]) for one in here if one["number"] in numbers]


def line_of(word: Word) -> Location | None:
    """Where something was built."""
    return Location(word["file"], word["line"]) if word["file"] is not None else None


def place_of(line: Location | None) -> str:
    """As it is written."""
    return f"{line.file}:{line.line}" if line is not None else "?"
