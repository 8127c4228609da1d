"""``trueline watch SCRIPT [args…]``: the first number of a training that is not one, with its operator and line."""

from __future__ import annotations

import math
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueline.cli.json_file import project_root
from trueline.cli.script_verb import ScriptVerb, begin, say, script_output
from trueline.model.message import message
from trueline.model.result import Exit, Result
from trueline.model.trouble import BadUsage

if TYPE_CHECKING:
    from trueline.record.watching.running import Watched


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
    from trueline.record.watching.running import Watched

    if not as_module and find_launcher(script) is not None:
        raise BadUsage("watch.no_launcher")
    (check_module if as_module else check_script)(script)
    folder = _free_folder(output) if output is not None else None
    wanted = [*on, *(["recommended"] if recommended else [])]
    if on:
        from trueline.record.points import parse

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
        watched.run()
        if watched.errand is not None:
            return 0
        if watched.needs_another_run and watched.watch is not None:
            if not quiet:
                say(message("watch.again", step=watched.watch.wrong_at))
            watched.run_again()
        watched.write_hits()
        result = _result(watched)
        if folder is not None:
            result = replace(result, fields={**result.fields, "run": str(folder)})
        answer(result.dump() + "\n")
    if not quiet:
        _show(watched, result)
        if output is not None and folder is not None and folder.is_dir() and watched.recording is not None:
            say(message("run.recorded", steps=watched.recording.steps, folder=shlex.quote(output)))
    return int(result.exit) or watched.code


def _free_folder(output: str) -> Path:
    from trueline.record.ranks import rank_in_environment
    from trueline.record.session import check_free

    if output == "":
        raise BadUsage("run.empty_name")
    folder = Path(output).absolute()
    if rank_in_environment()[0] == 0:
        check_free(folder)
    return folder


def _result(watched: Watched) -> Result:
    if watched.watch is None:
        return Result("watch", message("watch.no_framework"), fields={"first": None, "script_exit": watched.code})
    from trueline.model.finding import Conclusion
    from trueline.record.watching.telling import conclusion, findings

    found = findings(watched.watch, watched.hit)
    problem = any(one.conclusion is Conclusion.FOUND for one in found)
    seen = watched.watch
    fields = {
        "first": watched.hit.to_json() if watched.hit is not None else None,
        "script_exit": watched.code,
        "steps": seen.steps,
        "skipped": seen.skipped,
        "kept_bytes": seen.kept_bytes,
    }
    return Result("watch", conclusion(found), Exit.PROBLEM if problem else Exit.FINE, found, fields)


def _show(watched: Watched, result: Result) -> None:
    if watched.watch is None or result.exit is Exit.FINE:
        say(result.conclusion)
        return
    from trueline.record.watching.telling import report
    from trueline.report.terminal import render_report

    # The script has stdout to itself.
    render_report(report(watched.command.script, watched.watch, watched.hit), sys.stderr)


def _dump(folder: Path, json_file: str | None) -> int:
    from trueline.model.report import Report
    from trueline.record.dump_watch import watch_dump
    from trueline.report.terminal import render_report

    found = watch_dump(folder)
    first = found.first.to_json() if found.first is not None else None
    code = Exit.FINE if found.first is None else Exit.PROBLEM
    result = Result("watch", found.sentence(), code, [found.finding()], {"first": first})
    with script_output(json_file) as answer:
        answer(result.dump() + "\n")
    if json_file != "-":
        render_report(
            Report(message("watch.title", script=str(folder)), found.sentence(), [found.finding()]), sys.stdout
        )
    return int(code)
