"""``trueline tune scale SCRIPT [args…]``: the loss scale, by what overflows and what vanishes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from trueline.cli.script_verb import ScriptVerb
from trueline.cli.tune.experimenting import check_begun, experimenting, give

if TYPE_CHECKING:
    from trueline.cli.tune.experimenting import Runner
    from trueline.tune.scale.search import Searched

# Of so many updates the gradients are looked at whole, of the others only the largest.
_LOOKED_AT = 50


@click.command("scale", cls=ScriptVerb, help="tune_scale.help", quiet="tune.option_quiet", json="tune.option_json")
@click.option("--steps", type=click.IntRange(5, 1_000_000), default=200, metavar="N", help="tune_scale.option_steps")
@click.option("--assume-half", is_flag=True, help="tune_scale.option_assume_half")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="compare.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@click.option("--keep", metavar="DIR", type=click.Path(path_type=Path), help="tune.option_keep")
def command(
    steps: int,
    assume_half: bool,
    output: Path | None,
    force: bool,
    keep: Path | None,
    as_module: bool,
    quiet: bool,
    json_file: str | None,
    command_line: tuple[str, ...],
) -> int:
    """Watch the loss scale, suggest one, and try it."""
    check_begun(output, force, json_file, command_line)
    with experimenting(command_line, as_module=as_module, keep=keep, quiet=quiet) as runner:
        found = _search(runner, steps, assume_half)
    from trueline.tune.scale import report

    return give(
        report.result(found, runner.root),
        report.report(found, runner.root),
        output=output,
        json_file=json_file,
        interrupted=found.interrupted,
    )


def _search(runner: Runner, steps: int, assume_half: bool) -> Searched:
    from trueline.tune.scale.search import Search

    search = Search(
        runner.run,
        steps,
        max(1, steps // _LOOKED_AT),
        assume_half,
        lambda done, saying: runner.show(done, steps, saying),
    )
    return search.run()
