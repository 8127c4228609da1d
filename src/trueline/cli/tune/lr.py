"""``trueline tune lr SCRIPT [args…]``: the range test, its bounds and a suggestion."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueline.cli.json_file import write_answer
from trueline.cli.outcome import INTERRUPTED
from trueline.cli.page import check_page, start_lightly, write_page
from trueline.cli.progress import StepsLine
from trueline.cli.room import room_for_runs
from trueline.cli.script_verb import ScriptVerb, begin
from trueline.model.message import message
from trueline.model.trouble import BadUsage

if TYPE_CHECKING:
    from trueline.tune.told import Update


class Rate(click.FloatRange):
    """A learning rate: a finite number above 0."""

    name = "rate"

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As a range does, but for what is not finite."""
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(str(value), param, ctx)
        return found


@click.command("lr", cls=ScriptVerb, help="tune_lr.help", quiet="tune.option_quiet", json="tune.option_json")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="tune_lr.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@click.option("--from", "low", type=Rate(), metavar="LR", help="tune_lr.option_from")
@click.option("--to", "high", type=Rate(), metavar="LR", help="tune_lr.option_to")
@click.option("--steps", type=click.IntRange(20, 1_000_000), default=100, metavar="N", help="tune_lr.option_steps")
@click.option("--shape", type=click.Choice(["exp", "linear"]), default="exp", help="tune_lr.option_shape")
@click.option("--repeats", type=click.IntRange(1, 100), default=1, metavar="N", help="tune_lr.option_repeats")
@click.option("--metric", type=click.Choice(["auto", "loss"]), default="auto", help="tune_lr.option_metric")
@click.option("--keep", metavar="DIR", type=click.Path(path_type=Path), help="tune.option_keep")
def command(
    as_module: bool,
    output: Path | None,
    force: bool,
    low: float | None,
    high: float | None,
    steps: int,
    shape: str,
    repeats: int,
    metric: str,
    keep: Path | None,
    quiet: bool,
    json_file: str | None,
    command_line: tuple[str, ...],
) -> int:
    """Raise the learning rate from step to step."""
    from trueline.cli.outcome import ended_cleanly
    from trueline.record.launch import check_module, check_script

    script, args = begin(command_line, json_file)
    if low is not None and high is not None and low >= high:
        raise BadUsage("tune_lr.from_above_to", low=low, high=high)
    check_page(output, force)
    environment = dict(os.environ)
    start_lightly()
    from trueline.record.again import Command, check_one_process
    from trueline.tune.lr import report
    from trueline.tune.lr.testing import Wish, run_test

    check_one_process(script, as_module=as_module)
    (check_module if as_module else check_script)(script)
    wish = Wish(low, high, steps, shape, repeats, metric == "auto")
    line = StepsLine(quiet=quiet)

    def heard(update: Update, count: int, number: int) -> None:
        shown = {"rate": f"{update.fields['rate']:.2g}", "loss": "" if update.loss is None else f"{update.loss:.5g}"}
        line.show(update.step + 1, count, message("tune_lr.progress", number=number, runs=repeats, **shown))

    with ended_cleanly(), room_for_runs(keep, "trueline-tune-") as room:
        try:
            tested = run_test(Command(script, args, as_module, environment=environment), room, wish, heard)
        finally:
            line.wipe()
    result = report.result(tested)
    if json_file is not None:
        write_answer(json_file, result.dump() + "\n")
    write_page(output, report.report(tested, script, page=True))
    if json_file != "-":
        from trueline.report.terminal import render_report

        render_report(report.report(tested, script), sys.stdout)
    return INTERRUPTED if tested.interrupted else int(result.exit)
