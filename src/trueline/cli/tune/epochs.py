"""``trueline tune epochs RUN|LOG``: is the number of epochs right, from a validation curve."""

from __future__ import annotations

from pathlib import Path

import click

from trueline.cli.options import answer, json_flag, rank_option
from trueline.cli.page import check_page, start_lightly, write_page
from trueline.cli.verb import Verb


@click.command("epochs", cls=Verb, help="tune_epochs.help")
@click.argument("path", metavar="RUN|LOG", type=click.Path(path_type=Path))
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="compare.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@click.option("--metric", metavar="NAME", help="tune_epochs.option_metric")
@click.option("--pattern", metavar="REGEX", help="tune_epochs.option_pattern")
@rank_option
@json_flag
def command(
    path: Path,
    output: Path | None,
    force: bool,
    metric: str | None,
    pattern: str | None,
    rank: int | None,
    as_json: bool,
) -> int:
    """Look at a validation curve."""
    check_page(output, force)
    start_lightly()
    from trueline.tune.epochs.course import course_of
    from trueline.tune.epochs.curves import chosen, evaluated
    from trueline.tune.epochs.report import Judged, report, result

    found = evaluated(path, pattern, rank)
    curve = chosen(found, metric)
    judged = Judged(
        str(path),
        found,
        course_of(curve) if curve is not None else None,
        [course_of(one) for one in found.curves if one is not curve],
    )
    code = answer(result(judged), lambda: report(judged), as_json=as_json)
    write_page(output, report(judged))
    return code
