"""``trueline runs DIR``: the recorded runs of a folder."""

from __future__ import annotations

from pathlib import Path

import click

from trueline.cli.options import answer, json_flag
from trueline.cli.verb import Verb
from trueline.model.result import Result


@click.command("runs", cls=Verb, help="runs.help")
@click.argument("folder", metavar="[DIR]", default="runs")
@json_flag
def command(folder: str, as_json: bool) -> int:
    """List runs."""
    # NumPy comes with the reader: it is loaded when there is work, not for --help.
    from trueline.report.run.listing import list_runs, listing_conclusion, listing_report

    top = Path(folder)
    runs = list_runs(top)
    result = Result("runs", listing_conclusion(top, runs), fields={"runs": [run.to_json() for run in runs]})
    return answer(result, lambda: listing_report(top, runs), as_json=as_json)
