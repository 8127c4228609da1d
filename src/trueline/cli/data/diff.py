"""``trueline data diff A B [C …]``: how lists of files differ from the first of them."""

from __future__ import annotations

import click

from trueline.cli.options import answer, json_flag
from trueline.cli.verb import Verb
from trueline.model.message import message
from trueline.model.trouble import BadUsage


@click.command("diff", cls=Verb, help="manifest.diff_help")
@click.argument("sides", metavar="A B...", nargs=-1, required=True)
@json_flag
def command(sides: tuple[str, ...], as_json: bool) -> int:
    """Hold lists of files against the first."""
    from trueline.cli.progress import bytes_progress
    from trueline.data.manifest.diff_report import Differences, report, result
    from trueline.data.manifest.sides import hash_sides, open_sides

    opened = open_sides(sides)
    if len(opened) < 2:
        raise BadUsage("manifest.needs_two")
    with bytes_progress(message("manifest.hashing")) as progress:
        hashed = hash_sides(opened, progress)
    found = Differences(hashed)
    return answer(result(found), lambda: report(found), as_json=as_json)
