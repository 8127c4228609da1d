"""``trueline replay RUN --step D``: a step of a recorded run done again, as the second step of a fresh process."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trueline.cli.json_file import check_writable, write_answer
from trueline.cli.outcome import INTERRUPTED, TERMINATED, ended_cleanly, script_or_verdict
from trueline.cli.script_verb import say, script_output, show_beside
from trueline.cli.verb import Verb
from trueline.model.message import message
from trueline.model.result import Exit, Result
from trueline.model.trouble import BadUsage

if TYPE_CHECKING:
    from trueline.record.wanted import Wanted
    from trueline.replay.report import ReplayOutcome
    from trueline.replay.running import Asked
    from trueline.replay.source import Source, Way

_STARTED = "TRUELINE_REPLAYING"


@click.command("replay", cls=Verb, help="replay.help")
@click.argument("folder", metavar="RUN")
@click.option("--step", type=click.IntRange(0), metavar="D", help="replay.option_step")
@click.option("--more", type=click.IntRange(0), default=0, metavar="N", help="replay.option_more")
@click.option("--watch", "watched", is_flag=True, help="replay.option_watch")
@click.option("--limit", type=click.FloatRange(min=0, min_open=True), metavar="X", help="watch.option_limit")
@click.option("--debug", is_flag=True, help="replay.option_debug")
@click.option("--fp32", is_flag=True, help="replay.option_fp32")
@click.option("--bisect", is_flag=True, help="replay.option_bisect")
@click.option("--trust", is_flag=True, help="replay.option_trust")
@click.option("--only", type=click.IntRange(0), hidden=True)
@click.option("-o", "--output", metavar="RUN", help="replay.option_output")
@click.option("--stats", is_flag=True, help="run.stats")
@click.option("--tensors", is_flag=True, help="run.tensors")
@click.option("--inputs", is_flag=True, help="run.inputs")
@click.option("--grads", is_flag=True, help="run.grads")
@click.option("--weights", is_flag=True, help="run.weights")
@click.option("--modules", multiple=True, metavar="PATTERN", help="run.modules")
@click.option("--quiet", is_flag=True, help="run.quiet")
@click.option("--json", "json_file", metavar="FILE", help="run.json")
def command(
    folder: str,
    step: int | None,
    more: int,
    watched: bool,
    limit: float | None,
    debug: bool,
    fp32: bool,
    bisect: bool,
    trust: bool,
    only: int | None,
    output: str | None,
    stats: bool,
    tensors: bool,
    inputs: bool,
    grads: bool,
    weights: bool,
    modules: tuple[str, ...],
    quiet: bool,
    json_file: str | None,
) -> int:
    """Do a step again."""
    from trueline.formats.run_folder.reader import open_run
    from trueline.record.session import check_free
    from trueline.replay.source import Way, check, source_of, way_to

    check_writable(json_file)
    if (stats or tensors or inputs or grads or weights) and output is None:
        raise BadUsage("replay.needs_output")
    if output is not None:
        check_free(Path(output))
    # The script may go to another folder.
    source = source_of(open_run(Path(folder).absolute()))
    if bisect and (step is not None or more or watched or debug or fp32 or output is not None):
        raise BadUsage("replay.bisect_alone")
    if not trust:
        _ask(source, folder)
    if bisect:
        return _bisect(source, folder, limit, quiet=quiet, json_file=json_file)
    way = way_to(source, step, more) if only is None else Way(only, [only])
    doubts = check(source, way)
    _start_as_then(source)
    if not quiet:
        for doubt in doubts:
            say(doubt)
    from trueline.record.wanted import Wanted
    from trueline.replay.running import Asked
    from trueline.watch.state import Watch

    target = step if step is not None else way.last
    asked = Asked(
        watch=Watch(replay=False, at=way.start, limit=limit) if watched or limit is not None else None,
        stop_at=source.reach.get(target, target) if debug else None,
        float32=fp32,
    )
    json_file = json_file if json_file in (None, "-") else str(Path(str(json_file)).absolute())
    with ended_cleanly(), _room(output) as place:
        wanted = Wanted(
            place,
            stats=stats or ((inputs or grads or weights) and not tensors),
            tensors=tensors,
            inputs=inputs,
            grads=grads,
            weights=weights,
            modules=modules,
            source=output is not None,
            seed=source.run.info.seed,
        )
        with script_output(json_file) as answer:
            outcome = _outcome(source, way, asked, wanted)
            more_fields = {"step": target, "replay": str(place) if output is not None else None}
            result = outcome.result(more_fields)
            answer(result.dump() + "\n")
        if not quiet:
            show_beside(outcome.report(folder))
    return script_or_verdict(outcome.code, result.exit)


def _ask(source: Source, shown: str) -> None:
    """Whether to run what a folder says, where that is not plainly the user's own; a BadUsage where nobody says yes."""
    from trueline.replay.trust import foreign

    found = foreign(source.started, os.environ) if _STARTED not in os.environ else None
    if found is None:
        return
    if sys.stdin.isatty() and sys.stderr.isatty():
        say(message("replay.foreign", **found.said(shown)))
        if click.confirm(message("replay.really").text(), err=True):
            return
    raise BadUsage("replay.untrusted", **found.said(shown))


def _outcome(source: Source, way: Way, asked: Asked, wanted: Wanted) -> ReplayOutcome:
    """Run it; a BadUsage where the state could not be put in place."""
    from trueline.record.keeping.command import command_of
    from trueline.replay.reenactment import Reenactment
    from trueline.replay.report import ReplayOutcome
    from trueline.replay.running import Replayed

    replay = Reenactment(source.states, _state(way), way.steps)
    replayed = Replayed(command_of(source.started, os.environ), replay, asked, wanted)
    replayed.run(say)
    if replay.trouble is not None:
        raise replay.trouble
    if replayed.off is not None:
        reason = str(replayed.off.params.get("reason", os.strerror(errno.ENOSPC)))
        raise BadUsage("replay.off", folder=str(wanted.folder), reason=reason)
    if not replay.began and replayed.code in (INTERRUPTED, TERMINATED):
        raise SystemExit(replayed.code)
    if not replay.began:
        raise BadUsage("replay.never_fetched", code=replayed.code)
    return ReplayOutcome(source, replayed)


def _state(way: Way) -> int:
    """The state to start from: the one before the first step, but for a bisection."""
    from trueline.record.run_mode import RunMode

    asked = RunMode.of_process().replayed_state
    return way.start if asked is None else asked


def _bisect(source: Source, shown: str, limit: float | None, *, quiet: bool, json_file: str | None) -> int:
    from trueline.replay.bisect import Bisection, loss_of_state
    from trueline.replay.source import Way, check

    whole, states = source.whole, source.states.steps
    if len(states) < 2 or not whole:
        raise BadUsage("replay.too_few_states", run=shown)
    batch = whole[0]
    for one in states:
        check(source, Way(one, [batch]))
    found = Bisection(shown, batch, limit)

    def measure(state: int) -> float:
        if not quiet:
            say(message("replay.probing", step=state, count=len(found.losses) + 1))
        return loss_of_state(source.run.path.absolute(), state, batch)

    with ended_cleanly():
        found.search(states, measure)
    finding = found.finding()
    code = Exit.PROBLEM if finding.conclusion == "found" else Exit.FINE
    result = Result("replay", finding.message, code, [finding], found.to_json())
    if json_file is not None:
        write_answer(json_file, result.dump() + "\n")
    if json_file != "-":
        from trueline.report.terminal import render_report

        render_report(found.report(), sys.stdout)
    return int(code)


def _start_as_then(source: Source) -> None:
    """Start anew with the environment of the run, which counts only when Python starts."""
    from trueline.record.keeping.command import command_of

    if os.environ.pop(_STARTED, None) is not None:
        return
    started = Path(source.started["executable"])
    known = re.fullmatch(r"python[\d.]*", started.name) and os.access(started, os.X_OK)
    python = str(started) if known else sys.executable
    sys.stdout.flush()
    sys.stderr.flush()
    environment = {**command_of(source.started, os.environ).environment, _STARTED: "1"}
    os.execve(python, [python, "-m", "trueline", *sys.argv[1:]], environment)


@contextmanager
def _room(output: str | None) -> Iterator[Path]:
    """Where the replay is recorded: gone afterwards, unless it is to be kept."""
    if output is not None:
        yield Path(output).absolute()
        return
    place = Path(tempfile.mkdtemp(prefix="trueline-"))
    try:
        yield place / "run"
    finally:
        shutil.rmtree(place, ignore_errors=True)
