"""``trueline explain CODE``: a code's own page."""

from __future__ import annotations

import click

from trueline.cli.options import answer, json_flag
from trueline.cli.verb import Verb
from trueline.model.trouble import BadUsage


@click.command("explain", cls=Verb, help="explain.help")
@click.argument("code", metavar="[CODE]", required=False)
@json_flag
def command(code: str | None, as_json: bool) -> int:
    """Explain a code, or list them all."""
    from trueline.report.codes import every_code, nearest
    from trueline.report.explaining import explained, listed

    if code is None:
        result, report = listed()
        return answer(result, lambda: report, as_json=as_json)
    if code.lower() not in every_code():
        near = nearest(code)
        if near:
            raise BadUsage("explain.no_such_code", code=code, nearest=", ".join(near))
        raise BadUsage("explain.nothing_like_it", code=code)
    result, report = explained(code.lower())
    return answer(result, lambda: report, as_json=as_json)
