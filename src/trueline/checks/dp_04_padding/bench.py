"""What shows beside a benchmark."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.dp_04_padding.fed import Padded, ends_seen, padded_fields
from trueline.checks.engine.check import Params, check, found, na, none, undecided
from trueline.data.described import Described, Padding
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.location import Location


@check("dp.04")
def from_data_pair(data: Described, bench_data: Described) -> Iterator[Finding]:
    """The same field of two datasets is to be padded in the same way."""
    here, there = _told(data), _told(bench_data)
    common = [name for name in here if name in there]
    if not common:
        yield undecided("dp_04.no_common_padding") if here else na("dp_04.no_padding")
        return
    different = [name for name in common if _way(here[name]) != _way(there[name])]
    for name in different:
        yield _differs(name, _way(here[name]), _way(there[name]), Location())
    if not different:
        yield none("dp_04.as_bench", evidence=[{name: _way(here[name]) for name in common}], fields=", ".join(common))


def _told(data: Described) -> dict[str, Padding]:
    return {field.name: field.padding for field in data.fields if field.padding is not None}


def _way(padding: Padding | Padded) -> tuple[str, float]:
    return padding.side, float(padding.value)


def _differs(name: str, here: tuple[str, float], there: tuple[str, float], where: Location) -> Finding:
    params: Params = {"field": name, "side": here[0], "value": here[1]}
    params |= {"bench_side": there[0], "bench_value": there[1]}
    return found("dp_04.differs", where, measured=list(here), limit=list(there), evidence=[params], **params)


@check("dp.04")
def from_runs(run: Run, bench_run: Run) -> Iterator[Finding]:
    """The way of padding of the benchmark's first batches."""
    here, there = padded_fields(run), padded_fields(bench_run)
    if not here or not there:
        yield na("dp_04.no_padding") if not here and ends_seen(run) else undecided("dp_04.no_common_padding")
        return
    own, bench = here[0], there[0]
    if _way(own) != _way(bench):
        yield _differs(own.field, _way(own), _way(bench), own.stream.where(step=own.step))
    else:
        yield none("dp_04.as_bench", evidence=[{own.field: _way(own)}], fields=own.field)
