"""``trueline check [PATH…]``: the guide's checklist, filled in from scripts, runs and data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueline.cli.options import answer, json_flag, timeout_option
from trueline.cli.page import start_lightly
from trueline.cli.progress import StepsLine, doing
from trueline.cli.verb import Verb
from trueline.model.message import message
from trueline.model.trouble import BadUsage

if TYPE_CHECKING:
    from trueline.checks.engine.check import Check
    from trueline.checks.engine.gathering import Gathered
    from trueline.checks.engine.settings import Settings

_BENCH = "--bench"


class CheckVerb(Verb):
    """Everything after ``--bench`` up to the next option is the benchmark's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given: list[str] = []
        of_bench = False
        for place, one in enumerate(args):
            if one == _BENCH:
                if not args[place + 1 :] or args[place + 1].startswith("-"):
                    raise BadUsage("check.bench_of_what")
                of_bench = True
            elif one.startswith("-"):
                of_bench = False
                given.append(one)
            else:
                given.extend((_BENCH, one) if of_bench else (one,))
        return super().parse_args(ctx, given)


@click.command("check", cls=CheckVerb, help="check.help")
@click.argument("paths", metavar="[PATH…]", nargs=-1)
@click.option(_BENCH, multiple=True, metavar="PATH…", help="check.option_bench")
@click.option("--data", metavar="SOURCE", help="check.option_data")
@click.option("--bench-data", metavar="SOURCE", help="check.option_bench_data")
@click.option("--select", multiple=True, metavar="ITEM,…", help="check.option_select")
@click.option("--ignore", multiple=True, metavar="ITEM,…", help="check.option_ignore")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="check.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@timeout_option
@json_flag
def command(
    paths: Sequence[str],
    bench: Sequence[str],
    data: str | None,
    bench_data: str | None,
    select: Sequence[str],
    ignore: Sequence[str],
    output: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Fill in the checklist."""
    from trueline.cli.report_file import check_output, write_output

    check_output(output, force)
    start_lightly()
    from trueline.checks.engine.checklist import fill_in
    from trueline.checks.engine.gathering import BENCH, Gathered
    from trueline.checks.engine.report import report, result

    settings = _settings(paths)
    checks = _chosen(_items(select), _items(ignore), settings)
    gathered = Gathered()
    gathered.add(paths or ["."] if data is None else paths)
    gathered.add(bench, BENCH)
    for name, source in (("data", data), ("bench_data", bench_data)):
        if source is not None:
            _describe(gathered, name, source)
    with doing(lambda what: message("check.asking", check=what)) as tell:
        checklist = fill_in(
            checks,
            gathered.evidence,
            settings.limits,
            looked_at=gathered.looked_at,
            notes=gathered.notes,
            progress=lambda check: tell(check.code),
        )
    code = answer(result(checklist), lambda: report(checklist), as_json=as_json)
    write_output(output, checklist)
    return code


def _items(given: Sequence[str]) -> list[str]:
    return [one.strip().lower() for text in given for one in text.split(",") if one.strip()]


def _settings(paths: Sequence[str]) -> Settings:
    """Those of the project that the first path is in."""
    from trueline.checks.engine.settings import find_settings, read_settings

    first = Path(paths[0]) if paths else Path()
    return read_settings(find_settings(first if first.is_dir() else first.parent))


def _chosen(select: Sequence[str], ignore: Sequence[str], settings: Settings) -> list[Check]:
    """What the command line selects is asked even where the project ignores it."""
    from trueline.checks.engine.checklist import chosen

    if select:
        return chosen(select, ignore)
    return chosen(settings.select, [*ignore, *settings.ignore])


def _describe(gathered: Gathered, name: str, source: str) -> None:
    """Read a dataset, telling how far it has come."""
    from trueline.data.describing import Wanted, describe
    from trueline.data.sources.opening import open_source

    reading, line = message("check.describing", source=source), StepsLine()
    opened: Any = open_source(source)
    try:
        gathered.evidence[name] = describe(
            opened, Wanted(), lambda done: line.show(done, opened.length or done, reading)
        )
    finally:
        line.wipe()
        if hasattr(opened, "close"):
            opened.close()
    gathered.looked_at[name] = source
