"""``trueline data debug``: a pipeline run by itself, or two side by side."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from trueline.cli.options import Seconds, answer, be_patient, json_flag
from trueline.cli.outcome import ended_cleanly
from trueline.cli.page import check_page, write_page
from trueline.cli.progress import doing
from trueline.cli.verb import Verb
from trueline.model.message import Message, message

if TYPE_CHECKING:
    from trueline.adapters.guest.entry import Entry
    from trueline.data.pipeline.looking import Wish

# So many samples of a pipeline are looked at, unless others are asked for; of two of them fewer, since all that each
# operator makes of them is kept.
_ALONE: Final = 1000
_SIDE_BY_SIDE: Final = 32


@click.command("debug", cls=Verb, help="data_debug.help")
@click.argument("pipeline", metavar="MODULE:FACTORY")
@click.argument("port", metavar="[PORT:FACTORY]", required=False)
@click.option("--samples", type=click.IntRange(1), metavar="N", help="data_debug.option_samples")
@click.option("--epochs", default=2, type=click.IntRange(1, 100), metavar="N", help="data_debug.option_epochs")
@click.option("--workers", type=click.IntRange(0, 64), metavar="N", help="data_debug.option_workers")
@click.option(
    "--timeout",
    type=Seconds(),
    metavar="SECONDS",
    help="data_debug.option_timeout",
    callback=be_patient,
)
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="compare.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@json_flag
def command(
    pipeline: str,
    port: str | None,
    samples: int | None,
    epochs: int,
    workers: int | None,
    timeout: float | None,
    output: Path | None,
    force: bool,
    as_json: bool,
) -> int:
    """Run a pipeline by itself."""
    check_page(output, force)
    from trueline.adapters.guest.entry import Entry
    from trueline.data.pipeline.judged import judged
    from trueline.data.pipeline.looking import Wish, look
    from trueline.data.pipeline.report import report, result

    entry = Entry.parse(pipeline)
    if samples is None:
        samples = _ALONE if port is None else _SIDE_BY_SIDE
    wish = Wish(samples, epochs, workers)
    if timeout is not None:
        # What a user gives holds for all that is asked of his code.
        wish = replace(wish, limit=timeout, building=timeout)
    if port is not None:
        return _beside(entry, Entry.parse(port), wish, output, as_json=as_json)
    with ended_cleanly(), doing(_said) as tell:
        evidence = look(entry, wish, tell)
    findings = judged(evidence)
    if output is not None:
        write_page(output, report(str(entry), evidence, findings))
    return answer(
        result(str(entry), evidence, findings), lambda: report(str(entry), evidence, findings), as_json=as_json
    )


def _beside(bench: Entry, port: Entry, wish: Wish, output: Path | None, *, as_json: bool) -> int:
    """Two pipelines side by side."""
    from trueline.data.pipeline.passing import Passing
    from trueline.pair.data.pipelines import put_beside
    from trueline.pair.data.pipelines_report import report, result

    names = str(bench), str(port)
    with ended_cleanly(), doing(_said) as tell, ExitStack() as stack:
        tell("building")
        sides = [stack.enter_context(Passing(entry, wish)) for entry in (bench, port)]
        tell("passage")
        found = put_beside(sides[0], sides[1], wish.samples)
    if output is not None:
        write_page(output, report(*names, found))
    return answer(result(*names, found), lambda: report(*names, found), as_json=as_json)


def _said(what: str) -> Message:
    return message(f"data_debug.doing_{what}")
