"""``trueline compare A B``: two runs, tensor folders, weight files, loss logs or dumps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trueline.cli.options import answer, json_flag
from trueline.cli.verb import Verb
from trueline.model.message import Message, message
from trueline.model.report import Report
from trueline.model.result import Result
from trueline.model.trouble import BadUsage

if TYPE_CHECKING:
    from trueline.compare.report.tables import View
    from trueline.compare.tensors import How
    from trueline.formats.kinds import Looked

Told = tuple[Result, Callable[[], Report]]


@click.command("compare", cls=Verb, help="compare.help")
@click.argument("a", metavar="A", type=click.Path(path_type=Path))
@click.argument("b", metavar="B", type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="compare.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="compare.option_top")
@click.option("--only", type=click.Choice(["differing"]), help="compare.option_only")
@click.option("--map", "map_file", metavar="FILE", type=click.Path(path_type=Path), help="compare.option_map")
@click.option("--ignore", multiple=True, metavar="PATTERN", help="compare.option_ignore")
@click.option("--rtol", type=float, metavar="R", help="compare.option_rtol")
@click.option("--atol", type=float, metavar="A", help="compare.option_atol")
@click.option("--pattern", metavar="REGEX", help="compare.option_pattern")
@click.option("--rank", type=click.IntRange(min=0), metavar="N", help="compare.option_rank")
@json_flag
def command(
    a: Path,
    b: Path,
    output: Path | None,
    force: bool,
    top: int | None,
    only: str | None,
    map_file: Path | None,
    ignore: Sequence[str],
    rtol: float | None,
    atol: float | None,
    pattern: str | None,
    rank: int | None,
    as_json: bool,
) -> int:
    """Compare two of a kind."""
    _check_tolerance(rtol, atol)
    if output is not None:
        _check_output(output, force)
    # NumPy comes with the readers: they are loaded when there is work, not for --help.
    from trueline.compare.align import Rules
    from trueline.compare.floors import Floors
    from trueline.compare.report.tables import View
    from trueline.compare.tensors import How
    from trueline.formats.kinds import look

    here, there = look(a), look(b)
    if here.kind is not there.kind:
        kinds = {"kind_a": _kind(here), "kind_b": _kind(there)}
        raise BadUsage("compare.other_kinds", a=str(a), b=str(b), **kinds)
    given = {"--pattern": pattern, "--rank": rank, "--map": map_file, "--ignore": ignore, "--top": top, "--only": only}
    for one in (here, there):
        _check_options(one, given)
    floors = Floors(rtol=rtol, atol=atol)
    rules = Rules.read(map_file, ignore)
    with _progress() as progress:
        how = How(floors, rules, progress=progress)
        result, report = _compare(here, there, how, View(top, only is not None), pattern, rank)
    if output is not None:
        _write(output, report())
        _say(message("compare.written", file=str(output)))
    return answer(result, report, as_json=as_json)


def _compare(here: Looked, there: Looked, how: How, view: View, pattern: str | None, rank: int | None) -> Told:
    from trueline.formats.kinds import Kind

    match here.kind:
        case Kind.RUN:
            return _runs(here, there, how, view, rank)
        case Kind.CURVES:
            return _logs(here, there, how, pattern)
        case _:
            return _arrays(here, there, how, view, rank)


def _runs(here: Looked, there: Looked, how: How, view: View, rank: int | None) -> Told:
    from trueline.compare.report.ranks import ranks_report, ranks_result
    from trueline.compare.runs import compare_ranks
    from trueline.formats.run_folder.reader import open_run

    compared = compare_ranks(open_run(here.path), open_run(there.path), rank, how)
    how.rules.need_used([one for each in compared.values() for one in each.alignments])
    return ranks_result(compared, view), lambda: ranks_report(compared, view)


def _logs(here: Looked, there: Looked, how: How, pattern: str | None) -> Told:
    from trueline.compare.logs import compare_logs
    from trueline.compare.report.curves import logs_report, logs_result
    from trueline.formats.opening import open_loss

    curves = (open_loss(here, pattern), open_loss(there, pattern))
    compared = compare_logs(here.path, there.path, curves, how.floors)
    return logs_result(compared), lambda: logs_report(compared)


def _arrays(here: Looked, there: Looked, how: How, view: View, rank: int | None) -> Told:
    from trueline.compare.arrays import compare_dumps, compare_folders, compare_weights
    from trueline.compare.report.arrays import arrays_report, arrays_result
    from trueline.formats.kinds import Kind
    from trueline.formats.opening import open_arrays, open_dump, open_weights

    if here.kind is Kind.WEIGHTS:
        compared = compare_weights(open_weights(here), open_weights(there), how)
    elif here.kind is Kind.DUMP:
        compared = compare_dumps(open_dump(here), open_dump(there), how, rank)
    else:
        compared = compare_folders(here.path, there.path, open_arrays(here), open_arrays(there), how)
    how.rules.need_used(compared.alignments)
    result = arrays_result(compared, how.floors, view, here.kind.value)
    return result, lambda: arrays_report(compared, how.floors, view)


def _kind(found: Looked) -> str:
    return message(f"compare.kind_{found.kind.value}").text()


def _check_tolerance(rtol: float | None, atol: float | None) -> None:
    if any(one is not None and not (0 <= one < math.inf) for one in (rtol, atol)):
        raise BadUsage("compare.option_tolerance_negative")


def _check_options(found: Looked, given: Mapping[str, object]) -> None:
    """An option that means nothing for these files is a mistake, not to be passed over."""
    from trueline.formats.kinds import Format, Kind

    tensors = found.kind is not Kind.CURVES
    meant = {"--pattern": found.format is Format.LOG, "--rank": found.kind in (Kind.RUN, Kind.DUMP)}
    for option, value in given.items():
        if value not in (None, ()) and not meant.get(option, tensors):
            raise BadUsage("compare.option_not_for", option=option, path=str(found.path), kind=_kind(found))


def _check_output(output: Path, force: bool) -> None:
    if output.suffix.lower() not in (".html", ".htm"):
        raise BadUsage("compare.not_html", file=str(output))
    if output.exists() and not force:
        raise BadUsage("compare.exists", file=str(output))


def _write(output: Path, report: Report) -> None:
    """The page appears only when it is whole."""
    import os
    from tempfile import NamedTemporaryFile

    from trueline.model.trouble import BadFile
    from trueline.report.html.page import render_html

    text = render_html(report).encode("utf-8", "replace")
    try:
        with NamedTemporaryFile(
            dir=output.absolute().parent, prefix=".trueline-", suffix=".html", delete=False
        ) as file:
            try:
                file.write(text)
                file.flush()
                os.chmod(file.name, 0o666 & ~_umask())  # noqa: PTH101
                os.replace(file.name, output)  # noqa: PTH105
            except BaseException:
                os.unlink(file.name)  # noqa: PTH108
                raise
    except OSError as error:
        raise BadFile(output, error.strerror or str(error)) from None


def _umask() -> int:
    import os

    mask = os.umask(0)
    os.umask(mask)
    return mask


def _progress() -> AbstractContextManager[Callable[[int], None] | None]:
    from trueline.cli.progress import bytes_progress

    return bytes_progress(message("compare.measuring"))


def _say(said: Message) -> None:
    click.echo(f"trueline: {said.text()}", err=True)
