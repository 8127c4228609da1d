"""The batch is too large: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trueline.checks.check import check, found, na, none, suspect
from trueline.checks.of_script.passes import keys_of, training_data
from trueline.checks.of_script.ranks import is_distributed
from trueline.checks.of_script.sizes import batch_size_of, samples_of
from trueline.model.finding import Finding
from trueline.script.place import Place
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Trace
from trueline.script.values import Const, Made, Value, constant


@check("hp.03")
def from_script(script: Script, *, max_batch: int = 256, min_updates: int = 10) -> Iterator[Finding]:
    """The batch that is written down against the number of samples that is."""
    trace = script.trace
    loaders = [one for one in training_data(trace) if isinstance(one, Made)]
    told = False
    small: list[object] = []
    whole = any(event.name.endswith(".LBFGS") for event in trace.of_role(Role.BUILD_OPTIMIZER))
    for loader in loaders:
        written = batch_size_of(loader)
        size, samples = constant(written), samples_of(loader)
        place = _place(written, loader)
        if _is_length(written, loader):
            size = samples
            if samples is None and not whole:
                told = True
                yield suspect("hp_03_in_script.whole_set", place.where())
        if not isinstance(size, int) or whole:
            continue
        if size <= max_batch:
            small.append({"batch": size, "samples": samples, "at": str(place)})
        elif samples is not None and samples < size * min_updates:
            told = True
            params: dict[str, Any] = {"size": size, "samples": samples, "updates": max(1, samples // size)}
            yield found("hp_03_in_script.few_updates", place.where(), measured=size, limit=max_batch, **params)
        elif samples is None:
            told = True
            yield suspect("hp_03_in_script.large", place.where(), measured=size, limit=max_batch, size=size)
        else:
            small.append({"batch": size, "samples": samples, "at": str(place)})
    if told:
        return
    if small and not _is_several(trace):
        yield none("hp_03_in_script.small", evidence=small)
    else:
        yield na("hp_03_in_script.not_written")


def _is_several(trace: Trace) -> bool:
    """Several processes: what is written down is only a part of the batch."""
    return is_distributed(trace)


def _place(written: Value | None, loader: Made) -> Place:
    return written.origin if isinstance(written, Const) and written.origin is not None else loader.event.place


def _is_length(written: Value | None, loader: Made) -> bool:
    """``batch_size=len(dataset)``."""
    if not isinstance(written, Made) or written.name not in ("builtins.len",):
        return False
    of = written.event.arg(0)
    size = samples_of(of)
    return bool(keys_of(of) & keys_of(loader)) or (size is not None and size == samples_of(loader))
