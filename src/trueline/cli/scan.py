"""``trueline scan PATH…``: which APIs a project uses, and what becomes of each in the other framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from trueline.cli.options import answer, json_flag
from trueline.cli.page import check_place, start_lightly
from trueline.cli.progress import StepsLine
from trueline.cli.verb import Verb
from trueline.model.message import message
from trueline.model.trouble import BadFile, BadUsage
from trueline.record.stderr_line import write_line

if TYPE_CHECKING:
    from trueline.model.report import Report
    from trueline.model.result import Result
    from trueline.script.uses.found import FileUses

_SARIF: Final = ".sarif"
_CSV: Final = ".csv"
_ENDINGS: Final = (".html", ".htm", ".md", ".markdown", _CSV, _SARIF)
_SIDES: Final = 2


@click.command("scan", cls=Verb, help="scan.help")
@click.argument("paths", metavar="PATH…", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--diff", "is_diff", is_flag=True, help="scan.option_diff")
@click.option("--to", type=click.Choice(["torch", "mindspore"]), help="scan.option_to")
@click.option("--style", type=click.Choice(["classic", "mint"]), help="scan.option_style")
@click.option("--table", "table_file", metavar="FILE", type=click.Path(path_type=Path), help="api.option_table")
@click.option("--rewrite", "out", metavar="OUT", type=click.Path(path_type=Path), help="scan.option_rewrite")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="scan.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@json_flag
def command(
    paths: Sequence[Path],
    is_diff: bool,
    to: str | None,
    style: str | None,
    table_file: Path | None,
    out: Path | None,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Scan a project, compare the calls of two scripts, or write the draft of a port."""
    if out is not None:
        return _rewrite(paths, out, style, force, as_json, others=is_diff or to is not None or output is not None)
    if output is not None:
        if _ending(output) not in _ENDINGS:
            raise BadUsage("scan.not_a_kind", file=str(output))
        check_place(output, force)
    if is_diff and len(paths) != _SIDES:
        raise BadUsage("scan.diff_of_what")
    start_lightly()
    listed = as_json or (output is not None and _ending(output) == _CSV)
    found, people, programs = _diff(paths) if is_diff else _scan(paths, to, style, table_file, listed=listed)
    code = answer(found, people, as_json=as_json)
    if output is not None:
        _write(output, found, people, programs)
    return code


Answer = tuple["Result", "Callable[[], Report]", "Callable[[], Report]"]


def _rewrite(paths: Sequence[Path], out: Path, style: str | None, force: bool, as_json: bool, *, others: bool) -> int:
    from trueline.cli.rewriting import write_drafts

    if others:
        raise BadUsage("scan.rewrite_alone")
    start_lightly()
    found, report = write_drafts(paths, out, style or "classic", force)
    return answer(found, lambda: report, as_json=as_json)


def _scan(paths: Sequence[Path], to: str | None, style: str | None, table_file: Path | None, *, listed: bool) -> Answer:
    from trueline.cli.api import read_table
    from trueline.migrate.scan.report import findings_report, report, result
    from trueline.migrate.scan.scanned import scan

    scanned = scan(_read(paths), to, style, read_table(table_file))
    return result(scanned, listed=listed), lambda: report(scanned), lambda: findings_report(scanned)


def _diff(paths: Sequence[Path]) -> Answer:
    from trueline.migrate.scan.diff import diff
    from trueline.migrate.scan.diff_report import Compared, findings_report, report, result

    sides = [_read([path]) for path in paths]
    for files in sides:
        for file in files:
            if file.trouble is not None:
                raise BadFile(file.file, file.trouble)
    bench, port = ([use for file in files for use in file.uses] for files in sides)
    compared = Compared(str(paths[0]), str(paths[1]), diff(bench, port))
    return result(compared), lambda: report(compared), lambda: findings_report(compared)


def _read(paths: Sequence[Path]) -> list[FileUses]:
    """All files, telling how far it has come."""
    from trueline.script.uses.many import list_files, read_many

    files = list_files(paths)
    if not files:
        raise BadUsage("scan.no_scripts", path=", ".join(map(str, paths)))
    roots = [path if path.is_dir() else path.parent for path in paths]
    line, reading = StepsLine(), message("scan.reading", count=len(files))
    try:
        found = list(read_many(files, roots, progress=lambda done: line.show(done, len(files), reading)))
    finally:
        line.wipe()
    if all(file.trouble is not None for file in found):
        # Nothing can be said of a project of which nothing was read.
        raise BadFile(found[0].file, found[0].trouble or "")
    return found


def _ending(output: Path) -> str:
    # SARIF asks for .sarif or .sarif.json.
    return _SARIF if output.name.lower().endswith(f"{_SARIF}.json") else output.suffix.lower()


def _write(output: Path, found: Result, people: Callable[[], Report], programs: Callable[[], Report]) -> None:
    """The report as what the file is called; it appears only when it is whole."""
    from trueline.formats.run_folder.appending import replace_file

    try:
        replace_file(output, _rendered(_ending(output), found, people, programs).encode("utf-8", "replace"))
    except OSError as error:
        raise BadFile(output, error.strerror or str(error)) from None
    write_line(f"trueline: {message('compare.written', file=str(output)).text()}")


def _rendered(ending: str, found: Result, people: Callable[[], Report], programs: Callable[[], Report]) -> str:
    if ending == _CSV:
        from trueline.migrate.scan.sheet import render_csv

        return render_csv(found)
    if ending == _SARIF:
        from trueline.report.sarif import render_sarif

        return render_sarif(programs())
    if ending in (".html", ".htm"):
        from trueline.report.html.page import render_html

        return render_html(people())
    from trueline.report.markdown import render_markdown

    return render_markdown(people())
