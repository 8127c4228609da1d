"""``trueline explain CODE``: an item's own page."""

from __future__ import annotations

import click

from trueline.cli.options import answer, json_flag
from trueline.cli.verb import Verb
from trueline.model.trouble import BadUsage


@click.command("explain", cls=Verb, help="explain.help")
@click.argument("code", metavar="[CODE]", required=False)
@json_flag
def command(code: str | None, as_json: bool) -> int:
    """Explain an item of the checklist, or list them all."""
    from trueline.checks.engine.explaining import explained, listed
    from trueline.checks.engine.listing import codes

    if code is None:
        result, report = listed()
        return answer(result, lambda: report, as_json=as_json)
    known = codes()
    if code not in known:
        raise BadUsage("check.no_such_code", item=code, known=", ".join(known))
    result, report = explained(code)
    return answer(result, lambda: report, as_json=as_json)
