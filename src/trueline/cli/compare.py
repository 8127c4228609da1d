"""``trueline compare A B``: two runs, tensor folders, weight files, loss logs or dumps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from trueline.cli.options import answer, json_flag
from trueline.cli.page import check_page, start_lightly, write_page
from trueline.cli.verb import Verb
from trueline.model.message import message


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
    check_page(output, force)
    start_lightly()
    # NumPy comes with the readers: they are loaded when there is work, not for --help.
    from trueline.cli.progress import bytes_progress
    from trueline.compare.paths import compare

    with bytes_progress(message("compare.measuring")) as progress:
        compared = compare(
            a,
            b,
            map=map_file,
            ignore=ignore,
            rtol=rtol,
            atol=atol,
            pattern=pattern,
            rank=rank,
            top=top,
            only_differing=only is not None,
            listed=as_json,
            progress=progress,
        )
    code = answer(compared.result, compared.report, as_json=as_json)
    if output is not None:
        # After the answer: a disk that is full is not to take that away too.
        write_page(output, compared.report())
    return code
