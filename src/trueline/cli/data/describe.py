"""``trueline data describe SOURCE``: what is in a dataset, field by field, and what of it is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from trueline.cli.options import answer, json_flag, timeout_option
from trueline.cli.outcome import ended_cleanly
from trueline.cli.page import check_page, start_lightly, write_page
from trueline.cli.progress import StepsLine
from trueline.cli.verb import Verb
from trueline.model.message import message


@click.command("describe", cls=Verb, help="describe.help")
@click.argument("source", metavar="SOURCE")
@click.option("--label", metavar="FIELD", help="describe.option_label")
@click.option("--missing", multiple=True, metavar="MARKER", help="describe.option_missing")
@click.option("--classes", type=click.IntRange(min=1), metavar="N", help="describe.option_classes")
@click.option("--exact", is_flag=True, help="describe.option_exact")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="compare.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@timeout_option
@json_flag
def command(
    source: str,
    label: str | None,
    missing: Sequence[str],
    classes: int | None,
    exact: bool,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Describe a dataset."""
    check_page(output, force)
    start_lightly()
    reading = message("describe.reading", source=source)
    from trueline.data.describing import Wanted, describe
    from trueline.data.describing.report import report, result
    from trueline.data.sources.opening import open_source
    from trueline.data.sources.tables import TableSource

    wanted = Wanted(label, tuple(one.strip() for one in missing if one.strip()), classes, exact)
    line = StepsLine()
    with ended_cleanly():
        opened = open_source(source, label=label)
        try:
            found = describe(opened, wanted, lambda done: line.show(done, opened.length or done, reading))
        finally:
            line.wipe()
            if isinstance(opened, TableSource):
                opened.close()
    code = answer(result(found), lambda: report(found), as_json=as_json)
    write_page(output, report(found))
    return code
