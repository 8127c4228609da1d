"""Two paths, whatever is there: looked at, opened, compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from trueline.compare.align import Rules
from trueline.compare.floors import Floors
from trueline.compare.report.tables import View
from trueline.compare.tensors import How
from trueline.formats.kinds import Format, Kind, Looked, look
from trueline.model.message import message
from trueline.model.report import Report
from trueline.model.result import Result
from trueline.model.trouble import BadUsage


@dataclass(frozen=True, slots=True)
class Compared:
    """The answer for programs, and on demand the report for people."""

    result: Result
    report: Callable[[], Report]

    @property
    def verdict(self) -> str | None:
        """``equal``, ``noise`` or ``differs``; None where nothing could be compared."""
        verdict = self.result.fields["verdict"]
        return str(verdict) if verdict is not None else None


def compare(
    a: str | Path,
    b: str | Path,
    *,
    map: str | Path | None = None,
    ignore: Sequence[str] = (),
    rtol: float | None = None,
    atol: float | None = None,
    pattern: str | None = None,
    rank: int | None = None,
    top: int | None = None,
    only_differing: bool = False,
    listed: bool = True,
    executor: Executor | None = None,
    progress: Callable[[int], None] | None = None,
) -> Compared:
    """Compare two of a kind, ``b`` being the benchmark; the options are those of ``trueline compare``.

    Without ``listed`` the answer for programs has no rows of tensors, the report for people still does;
    ``executor`` measures tensors where there is more room; ``progress`` hears of the bytes that are done.
    """
    if any(one is not None and not (0 <= one < math.inf) for one in (rtol, atol)):
        raise BadUsage("compare.option_tolerance_negative")
    here, there = look(Path(a)), look(Path(b))
    if here.kind is not there.kind:
        kinds = {"kind_a": _kind(here), "kind_b": _kind(there)}
        raise BadUsage("compare.other_kinds", a=str(a), b=str(b), **kinds)
    given: dict[str, object] = {"--pattern": pattern, "--rank": rank, "--map": map, "--top": top}
    given |= {"--ignore": tuple(ignore) or None, "--only": only_differing or None}
    for looked in (here, there):
        _check_options(looked, given)
    rules = Rules.read(Path(map) if map is not None else None, ignore)
    how = How(Floors(rtol=rtol, atol=atol), rules, executor, progress)
    view = View(top, only_differing, listed)
    match here.kind:
        case Kind.RUN:
            return _runs(here, there, how, view, rank)
        case Kind.CURVES:
            return _logs(here, there, how, pattern)
        case _:
            return _arrays(here, there, how, view, rank)


def _check_options(found: Looked, given: Mapping[str, object]) -> None:
    """An option that means nothing for these files is a mistake, not to be passed over."""
    tensors = found.kind is not Kind.CURVES
    meant = {"--pattern": found.format is Format.LOG, "--rank": found.kind in (Kind.RUN, Kind.DUMP)}
    for option, value in given.items():
        if value is not None and not meant.get(option, tensors):
            raise BadUsage("compare.option_not_for", option=option, path=str(found.path), kind=_kind(found))


def _kind(found: Looked) -> str:
    return message(f"compare.kind_{found.kind.value}").text()


def _runs(here: Looked, there: Looked, how: How, view: View, rank: int | None) -> Compared:
    from trueline.compare.report.ranks import ranks_report, ranks_result
    from trueline.compare.runs import compare_ranks
    from trueline.formats.run_folder.reader import open_run

    compared = compare_ranks(open_run(here.path), open_run(there.path), rank, how)
    how.rules.need_used([alignment for comparison in compared.values() for alignment in comparison.alignments])
    if all(comparison.verdict is None for comparison in compared.values()):
        raise BadUsage("compare.nothing")
    return Compared(ranks_result(compared, view), lambda: ranks_report(compared, view))


def _logs(here: Looked, there: Looked, how: How, pattern: str | None) -> Compared:
    from trueline.compare.logs import compare_logs
    from trueline.compare.report.curves import logs_report, logs_result
    from trueline.formats.opening import open_loss

    curves = (open_loss(here, pattern), open_loss(there, pattern))
    compared = compare_logs(here.path, there.path, curves, how.floors)
    return Compared(logs_result(compared), lambda: logs_report(compared))


def _arrays(here: Looked, there: Looked, how: How, view: View, rank: int | None) -> Compared:
    from trueline.compare.arrays import compare_dumps, compare_folders, compare_weights
    from trueline.compare.report.arrays import arrays_report, arrays_result
    from trueline.formats.opening import open_arrays, open_dump, open_weights

    if here.kind is Kind.WEIGHTS:
        compared = compare_weights(open_weights(here), open_weights(there), how)
    elif here.kind is Kind.DUMP:
        compared = compare_dumps(open_dump(here), open_dump(there), how, rank)
    else:
        compared = compare_folders(here.path, there.path, open_arrays(here), open_arrays(there), how)
    how.rules.need_used(compared.alignments)
    if compared.verdict is None:
        raise BadUsage("compare.nothing_left", a=str(here.path), b=str(there.path))
    result = arrays_result(compared, how.floors, view, here.kind.value)
    return Compared(result, lambda: arrays_report(compared, how.floors, view))
