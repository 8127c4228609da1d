"""The batch is too large: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, found, suspect, undecided
from trueline.checks.hp_03_batch_size.run import from_run
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Conclusion, Finding
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.script.analysis.passes import keys_of, training_data
from trueline.script.analysis.ranks import is_distributed
from trueline.script.analysis.sizes import batch_size_of, samples_of
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Trace
from trueline.script.values import Const, Made, Value, constant


@check("hp.03", decides=False)
def from_script(
    script: Script, *, max_batch: int = 256, min_updates: int = 10, max_whole: int = 64
) -> Iterator[Finding]:
    """The batch that is written down against the number of samples that is."""
    trace = script.trace
    loaders = [value for value in training_data(trace) if isinstance(value, Made)]
    reported = False
    small: list[Json] = []
    whole = any(event.name.endswith(".LBFGS") for event in trace.of_role(Role.BUILD_OPTIMIZER))
    for loader in loaders:
        written = batch_size_of(loader)
        size, samples = constant(written), samples_of(loader)
        place = _place(written, loader)
        if _is_length(written, loader):
            size = samples
            if not whole and (samples is None or max_whole < samples <= max_batch):
                reported = True
                if samples is None:
                    yield suspect("hp_03.script.whole_set", place)
                else:
                    yield found("hp_03.script.whole_set", place, measured=samples, limit=max_whole)
                continue
        if not isinstance(size, int) or whole:
            continue
        if size <= max_batch:
            small.append({"batch": size, "samples": samples, "at": str(place)})
        elif samples is not None and samples < size * min_updates:
            reported = True
            yield found(
                "hp_03.script.few_updates",
                place,
                measured=size,
                limit=max_batch,
                size=size,
                samples=samples,
                updates=max(1, samples // size),
            )
        elif samples is None:
            reported = True
            yield suspect("hp_03.script.large", place, measured=size, limit=max_batch, size=size)
        else:
            small.append({"batch": size, "samples": samples, "at": str(place)})
    if reported:
        return
    if small and not _is_several(trace):
        yield undecided("hp_03.script.small", evidence=small)
    else:
        yield undecided("hp_03.script.not_written")


@check("hp.03", decides=False)
def from_script_and_run(script: Script, run: Run) -> Iterator[Finding]:
    """Where the script gives the size of batches that a run has seen to be too large."""
    seen = [finding for finding in from_run(run) if finding.conclusion is Conclusion.FOUND]
    written = [
        (size, _place(size, loader))
        for loader in training_data(script.trace)
        if isinstance(loader, Made) and (size := batch_size_of(loader)) is not None
    ]
    places = dict.fromkeys(place for size, place in written if _may_be(size, seen[0].measured)) if seen else {}
    if len(places) != 1:
        yield undecided("hp_03.script.not_written")
        return
    finding = seen[0]
    yield found(
        "hp_03.script.as_seen",
        next(iter(places)),
        measured=finding.measured,
        limit=finding.limit,
        evidence=finding.evidence,
        size=finding.measured,
    )


def _may_be(written: Value, seen: object) -> bool:
    """Whether batches of a size, or all that there is of them, may have had so many samples."""
    if isinstance(written, Const):
        return isinstance(written.value, int) and isinstance(seen, int) and written.value >= seen
    return isinstance(written, Made) and written.event.method in ("len", "get_dataset_size")


def _is_several(trace: Trace) -> bool:
    """Several processes: what is written down is only a part of the batch."""
    return is_distributed(trace)


def _place(written: Value | None, loader: Made) -> Location:
    return written.origin if isinstance(written, Const) and written.origin is not None else loader.event.place


def _is_length(written: Value | None, loader: Made) -> bool:
    """``batch_size=len(dataset)``, ``dataset.batch(dataset.get_dataset_size())``."""
    if not isinstance(written, Made):
        return False
    if written.event.method == "get_dataset_size":
        return loader.name.startswith("mindspore.dataset.") and _is_within(written.event.receiver, loader)
    if written.name != "builtins.len":
        return False
    of = written.event.arg(0)
    size = samples_of(of)
    return bool(keys_of(of) & keys_of(loader)) or (size is not None and size == samples_of(loader))


def _is_within(value: Value | None, loader: Made) -> bool:
    """Whether a pipeline is one that the loader goes on from."""
    at: Value | None = loader
    while isinstance(at, Made):
        if at is value:
            return True
        at = at.event.receiver
    return False
