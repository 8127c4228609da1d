"""``trueline repro SCRIPT [args…]``: is it reproducible, and if not, which randomness is free."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from trueline.cli.json_file import project_root, write_answer
from trueline.cli.room import room_for_runs
from trueline.cli.script_verb import ScriptVerb, begin, say


@click.command("repro", cls=ScriptVerb, help="repro.help", quiet="repro.option_quiet", json="repro.option_json")
@click.option("--steps", type=click.IntRange(1, 100_000), default=10, metavar="K", help="repro.option_steps")
@click.option("--runs", type=click.IntRange(2, 1000), default=3, metavar="N", help="repro.option_runs")
@click.option("--keep", metavar="DIR", type=click.Path(path_type=Path), help="repro.option_keep")
def command(
    as_module: bool,
    steps: int,
    runs: int,
    keep: Path | None,
    quiet: bool,
    json_file: str | None,
    command_line: tuple[str, ...],
) -> int:
    """Run it several times."""
    from trueline.cli.outcome import ended_cleanly
    from trueline.cli.page import start_lightly
    from trueline.record.launch import check_module, check_script

    script, args = begin(command_line, json_file)
    environment = _environment()
    start_lightly()
    from trueline.record.command import Command, check_one_process
    from trueline.repro import report
    from trueline.repro.search import reproduce
    from trueline.repro.trials import Trials

    check_one_process(script, as_module=as_module)
    (check_module if as_module else check_script)(script)
    with ended_cleanly(), room_for_runs(keep, "trueline-repro-") as room:
        trials = Trials(
            Command(script, args, as_module, environment=environment),
            room,
            steps,
            lambda said: None if quiet else say(said),
        )
        found = reproduce(trials, runs)
        root = project_root(script, as_module).resolve()
        result = report.result(found, root)
    if json_file is not None:
        write_answer(json_file, result.dump() + "\n")
    if json_file != "-":
        from trueline.report.terminal import render_report

        render_report(report.report(found, root), sys.stdout)
    return int(result.exit)


def _environment() -> dict[str, str]:
    """As it is before anything of TrueLine's is set in it."""
    import os

    return dict(os.environ)
