"""``trueline watch SCRIPT [args…]``: the first number of a training that is not one, with its operator and line."""

from __future__ import annotations

import math
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueline.cli.json_file import project_root
from trueline.cli.outcome import ScriptExit, Verdict, code_of, script_or_verdict
from trueline.cli.script_verb import ScriptVerb, begin, say, script_output, show_beside
from trueline.model.message import message
from trueline.model.result import Exit, Result
from trueline.model.trouble import BadUsage

if TYPE_CHECKING:
    from trueline.watch.running import Watched


class Magnitude(click.FloatRange):
    """A finite number above zero: nothing is beyond infinity, or beyond what is no number."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """As a range does, but for what is not finite."""
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(str(value), param, ctx)
        return found


@click.command("watch", cls=ScriptVerb, help="watch.help", script="SCRIPT|DUMP")
@click.option("-o", "--output", metavar="RUN", help="watch.option_output")
@click.option("--limit", type=Magnitude(), metavar="X", help="watch.option_limit")
@click.option("--on", multiple=True, metavar="ID[:LIMIT]", help="watch.option_on")
@click.option("--recommended", is_flag=True, help="watch.option_recommended")
@click.option("--go-on", is_flag=True, help="watch.option_go_on")
@click.option("--no-replay", is_flag=True, help="watch.option_no_replay")
def command(
    as_module: bool,
    output: str | None,
    limit: float | None,
    on: tuple[str, ...],
    recommended: bool,
    go_on: bool,
    no_replay: bool,
    quiet: bool,
    json_file: str | None,
    command_line: tuple[str, ...],
) -> int:
    """Run and watch, or look through a dump."""
    script, args = begin(command_line, json_file)
    if Path(script).is_dir() and not as_module:
        if output is not None:
            raise BadUsage("watch.no_run_of_dump")
        return _dump(Path(script), json_file)
    from trueline.record.again import Command
    from trueline.record.launch import check_module, check_script
    from trueline.record.launchers import find_launcher
    from trueline.watch.running import Watched

    if not as_module and find_launcher(script) is not None:
        raise BadUsage("watch.no_launcher")
    (check_module if as_module else check_script)(script)
    folder = _free_folder(output) if output is not None else None
    wanted = [*on, *(["recommended"] if recommended else [])]
    if on:
        from trueline.watch.points import parse

        for one in on:
            parse(one)
    watched = Watched(
        Command(script, args, as_module),
        say,
        project_root(script, as_module),
        folder,
        limit=limit,
        go_on=go_on,
        replay=not no_replay,
        on=wanted,
    )
    with script_output(json_file) as answer:

        def conclude() -> ScriptExit | Verdict:
            return _concluded(watched, answer, folder, output, quiet=quiet)

        watched.run(lambda: code_of(conclude))
        return conclude()


def _concluded(
    watched: Watched, answer: Callable[[str], object], folder: Path | None, output: str | None, *, quiet: bool
) -> ScriptExit | Verdict:
    if watched.errand is not None:
        return ScriptExit(0)
    if watched.needs_another_run and watched.watch is not None:
        if not quiet:
            say(message("watch.again", step=watched.watch.wrong_at))
        watched.run_again()
    watched.write_hits()
    from trueline.watch import report

    result = report.result(watched)
    if folder is not None:
        result = replace(result, fields={**result.fields, "run": str(folder)})
    answer(result.dump() + "\n")
    if not quiet:
        _show(watched, result)
        if output is not None and folder is not None and folder.is_dir() and watched.recording is not None:
            say(message("run.recorded", steps=watched.recording.steps, folder=shlex.quote(output)))
    own = watched.code if result.exit is not Exit.PROBLEM else 0
    return script_or_verdict(own, 0 if own else result.exit)


def _free_folder(output: str) -> Path:
    from trueline.record.ranks import begins_the_run
    from trueline.record.session import check_free

    if output == "":
        raise BadUsage("run.empty_name")
    folder = Path(output).absolute()
    if begins_the_run():
        check_free(folder)
    return folder


def _show(watched: Watched, result: Result) -> None:
    if result.exit is not Exit.PROBLEM:
        say(result.conclusion)
        return
    from trueline.watch.report import report

    show_beside(report(watched.command.script, list(result.findings), watched.hit))


def _dump(folder: Path, json_file: str | None) -> int:
    from trueline.report.terminal import render_report
    from trueline.watch import report
    from trueline.watch.dump import watch_dump

    found = watch_dump(folder)
    result = report.dump_result(found)
    with script_output(json_file) as answer:
        answer(result.dump() + "\n")
    if json_file != "-":
        render_report(report.dump_report(found), sys.stdout)
    return int(result.exit)
