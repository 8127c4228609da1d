"""``trueline run SCRIPT [args…]``: run an unchanged training script and record it."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trueline.cli.json_file import project_root
from trueline.cli.opened_files import begin_list, checked_roots, finish_list
from trueline.cli.outcome import INTERRUPTED, Verdict, code_of, script_or_verdict
from trueline.cli.rank_endings import sentences
from trueline.cli.script_verb import ScriptVerb, begin, say, script_output
from trueline.model.message import Message, message
from trueline.model.result import Exit, Result
from trueline.model.trouble import BadUsage

if TYPE_CHECKING:
    from trueline.cli.run_check import RunCheck
    from trueline.record.command import Command
    from trueline.record.companion import Companion
    from trueline.record.keeping.keep import Keep
    from trueline.record.process_exit import Leaving
    from trueline.record.recording import Recording
    from trueline.record.run_mode import RunMode
    from trueline.record.wanted import Wanted

_RESTARTED = "TRUELINE_RESTARTED"


@click.command("run", cls=ScriptVerb, help="run.help")
@click.option("-o", "--output", metavar="RUN", help="run.output")
@click.option("--stats", is_flag=True, help="run.stats")
@click.option("--tensors", is_flag=True, help="run.tensors")
@click.option("--inputs", is_flag=True, help="run.inputs")
@click.option("--grads", is_flag=True, help="run.grads")
@click.option("--weights", is_flag=True, help="run.weights")
@click.option("--steps", metavar="STEPS", help="run.steps")
@click.option("--modules", multiple=True, metavar="PATTERN", help="run.modules")
@click.option("--graph-dump", is_flag=True, help="run.graph_dump")
@click.option("--deterministic", "seed", type=click.IntRange(0, 2**32 - 1), metavar="SEED", help="run.deterministic")
@click.option("--noise", is_flag=True, help="run.noise")
@click.option("--noise-runs", type=click.IntRange(1, 1000), default=3, metavar="N", help="run.noise_runs")
@click.option("--noise-steps", type=click.IntRange(1), default=20, metavar="STEPS", help="run.noise_steps")
@click.option("--keep-state", "ring", type=click.IntRange(1), metavar="N", help="run.keep_state")
@click.option("--keep-state-at", "kept_steps", metavar="STEPS", help="run.keep_state_at")
@click.option("--manifest", is_flag=True, help="manifest.option_run")
@click.option("--data-root", "data_roots", multiple=True, metavar="DIR", help="manifest.option_data_root")
@click.option("--batches", type=click.IntRange(1), metavar="N", help="sources.option_batches")
@click.option("--hang-after", type=click.FloatRange(0), metavar="SECONDS", help="run.hang_after")
@click.option("--check", is_flag=True, help="check.option_run")
@click.option("--no-source", is_flag=True, help="run.no_source")
def command(
    output: str | None,
    as_module: bool,
    stats: bool,
    tensors: bool,
    inputs: bool,
    grads: bool,
    weights: bool,
    steps: str | None,
    modules: tuple[str, ...],
    graph_dump: bool,
    seed: int | None,
    noise: bool,
    noise_runs: int,
    noise_steps: int,
    ring: int | None,
    kept_steps: str | None,
    manifest: bool,
    data_roots: tuple[str, ...],
    batches: int | None,
    hang_after: float | None,
    check: bool,
    no_source: bool,
    quiet: bool,
    json_file: str | None,
    command_line: tuple[str, ...],
) -> int:
    """Run and record."""
    from trueline.record.ranks import begins_the_run
    from trueline.record.recording import INTERNAL_ERROR
    from trueline.record.session import check_free, default_folder
    from trueline.record.wanted import Wanted, chosen_steps

    if output == "":
        raise BadUsage("run.empty_name")
    script, args = begin(command_line, json_file)
    folder = Path(output) if output is not None else default_folder(_name(script, as_module))
    if noise and not (stats or tensors or inputs or grads or weights):
        inputs = grads = weights = True
    tensors = tensors or noise
    wanted = Wanted(
        folder.absolute(),
        stats=stats or ((inputs or grads or weights) and not tensors),
        tensors=tensors,
        inputs=inputs,
        grads=grads,
        weights=weights,
        steps=chosen_steps(steps, tensors=tensors),
        modules=modules,
        source=not no_source,
        graph_dump=graph_dump,
        seed=seed,
        keep=_keep(ring, kept_steps),
        manifest=manifest or bool(data_roots),
        data_roots=checked_roots(data_roots),
        batches=batches or 0,
    )
    begins = begins_the_run()
    if begins:
        check_free(folder)
    _restart_with_fixed_hash(seed)
    checked = _check(wanted.folder, [script, *args], as_module, quiet) if check and begins else None
    repeated = _to_repeat(wanted, script, args, as_module) if noise else None
    with script_output(json_file) as answer:

        def conclude(run: _Ran) -> int:
            interrupted, fields = False, {**run.fields}
            if repeated is not None:
                fields["noise"], interrupted = _measure_noise(
                    repeated, wanted, run.code, noise_runs, noise_steps, quiet
                )
            ended = checked.finish() if checked is not None else None
            if ended is not None and ended.exit is not Exit.PROBLEM and run.off is not None:
                ended = replace(ended, exit=Exit.INTERNAL if run.off.id == INTERNAL_ERROR else Exit.BAD_INPUT)
            if ended is not None:
                fields["check"] = ended.to_json()
            result = Result(
                "run",
                run.recorded,
                ended.exit if ended is not None else Exit.FINE,
                ended.findings if ended is not None else (),
                {"run": str(wanted.folder), "script_exit": run.code, **fields},
            )
            answer(result.dump() + "\n")
            if not quiet:
                say(run.recorded)
            if interrupted:
                return Verdict(INTERRUPTED)
            return script_or_verdict(run.code, ended.exit if ended is not None and run.code == 0 else 0)

        return conclude(
            _run(wanted, folder, script, args, checked, conclude, hang_after, as_module=as_module, quiet=quiet)
        )


def _check(folder: Path, command_line: list[str], as_module: bool, quiet: bool) -> RunCheck:
    """What asks the checklist of this run; of a launcher the script is among its arguments."""
    from trueline.cli.run_check import RunCheck

    scripts = [] if as_module else [Path(one) for one in command_line if one.endswith(".py") and Path(one).is_file()]
    return RunCheck(folder, scripts[0] if scripts else None, quiet=quiet)


def _keep(ring: int | None, steps: str | None) -> Keep:
    """Which states are to be kept."""
    from trueline.model.steps import Steps
    from trueline.record.keeping.keep import Keep
    from trueline.record.wanted import chosen_steps

    return Keep(ring or 0, chosen_steps(steps, tensors=False) if steps is not None else Steps.none())


def _to_repeat(wanted: Wanted, script: str, args: list[str], as_module: bool) -> Command:
    """The command, and the world as it is before the script has run."""
    from trueline.record.command import command_to_repeat

    return command_to_repeat(wanted, script, args, as_module=as_module)


def _measure_noise(
    repeated: Command, wanted: Wanted, code: int, runs: int, steps: int, quiet: bool
) -> tuple[dict[str, object], bool]:
    """What the answer says of it, and whether the user has interrupted it."""
    from trueline.cli.noise import measure_noise

    measured = measure_noise(repeated, wanted, code, runs, steps, lambda said: None if quiet else say(said))
    if not (measured.done and quiet):
        say(measured.said)
    return measured.to_json(), measured.interrupted


@dataclass(frozen=True, slots=True)
class _Ran:
    """The script's exit code, what was recorded, why no more was, and what the answer says."""

    code: int
    recorded: Message
    off: Message | None
    fields: dict[str, object]


def _run(
    wanted: Wanted,
    shown: Path,
    script: str,
    args: list[str],
    checked: RunCheck | None,
    conclude: Callable[[_Ran], int],
    hang_after: float | None,
    *,
    as_module: bool,
    quiet: bool,
) -> _Ran:
    """Run it; where the script leaves its process at once, ``conclude`` is asked from there for the exit code."""
    from trueline.record import graph_dump, launchers
    from trueline.record.command import Command
    from trueline.record.launch import check_module, check_script, run_module, run_script
    from trueline.record.process_exit import before_leaving
    from trueline.record.randomness import fix_random
    from trueline.record.rank_report import HANG_AFTER_SECONDS
    from trueline.record.recording import Recording
    from trueline.record.run_mode import RunMode
    from trueline.watch.coverage import Coverage

    launcher = None if as_module else launchers.find_launcher(script)
    if launcher is not None:
        if wanted.graph_dump:
            raise BadUsage("run.no_graph_dump_of_ranks")
        if wanted.keep:
            raise BadUsage("run.no_state_of_ranks")
        opened = begin_list(wanted, script, launcher=True)
        seconds = HANG_AFTER_SECONDS if hang_after is None else hang_after
        launched = launchers.run_launcher(
            launcher, args, wanted, checked.look if checked is not None else None, seconds
        )
        listed = finish_list(opened, wanted, shown, launcher=True, quiet=quiet)
        if launched.ending is not None:
            for told in sentences(launched.ending):
                say(told)
            listed["ending"] = launched.ending.to_json()
        recorded = message("run.recorded_ranks", folder=shlex.quote(str(shown)))
        return _Ran(launched.code, recorded, None, listed)
    if hang_after is not None:
        raise BadUsage("run.hang_without_launcher")
    (check_module if as_module else check_script)(script)
    if wanted.graph_dump:
        graph_dump.prepare(wanted)
    fixed = fix_random(wanted.seed) if wanted.seed is not None else None
    companions = _companions(RunMode.of_process(), wanted.keep, Command(script, args, as_module))
    for companion in companions:
        companion.begin()
    recording = Recording(wanted, say, root=project_root(script, as_module), companions=companions)
    recording.begin(lambda: checked.hear(recording.recorder) if checked is not None else None)
    opened = begin_list(wanted, script, launcher=False)

    def ended(code: int) -> _Ran:
        recording.finish(code)
        listed = finish_list(opened, wanted, shown, launcher=False, quiet=quiet)
        said = list(fixed.free) if fixed is not None else []
        said.extend(Coverage.of(recording).unseen)
        if wanted.graph_dump:
            said.append(graph_dump.collect(wanted))
        if not quiet:
            for one in said:
                say(one)
        fields: dict[str, object] = {"steps": recording.steps, "off": recording.off and recording.off.text(), **listed}
        if fixed is not None:
            fields["random"] = {"seed": fixed.seed, "fixed": fixed.fixed, "free": [one.text() for one in fixed.free]}
        return _Ran(code, _conclusion(recording, shown), recording.off, fields)

    def leave(leaving: Leaving) -> int | None:
        if leaving.command:
            recording.replaced(leaving.command)
        code = code_of(lambda: conclude(ended(leaving.code)))
        # A recording is no answer to wait for: the other program has the process to itself.
        return None if leaving.command and checked is None else code

    code = 1
    try:
        with before_leaving(leave):
            code = run_module(script, args) if as_module else run_script(script, args)
    finally:
        recording.finish(code)
    return ended(code)


def _companions(mode: RunMode, keep: Keep, started: Command) -> list[Companion]:
    """What takes part in the recorded training, as the user or the process that has started this one asks."""
    companions: list[Companion] = []
    if mode.randomness is not None and mode.perturbation is not None:
        from trueline.repro.child import Repeated

        companions.append(Repeated(mode.randomness, mode.perturbation))
    elif mode.perturbation is not None:
        from trueline.record.perturb import Perturbed

        companions.append(Perturbed(mode.perturbation))
    elif mode.experiment is not None:
        from trueline.tune.child.companion import Experimenting

        companions.append(Experimenting(mode.experiment))
    if keep:
        from trueline.record.keeping.command import describe
        from trueline.record.keeping.keep import StatesKept

        companions.append(StatesKept(keep, describe(started)))
    return companions


def _conclusion(recording: Recording, shown: Path) -> Message:
    if recording.recorder is None:
        return message("run.no_framework")
    if recording.off is not None and (not recording.steps or not recording.wanted.folder.is_dir()):
        return message("run.nothing_recorded")
    kind = "run.recorded" if recording.off is None else "run.recorded_in_part"
    return message(kind, steps=recording.steps, folder=shlex.quote(str(shown)))


def _name(script: str, as_module: bool) -> str:
    return script.rpartition(".")[2] if as_module else Path(script).stem or "run"


def _restart_with_fixed_hash(seed: int | None) -> None:
    """The hash seed counts only when Python starts: start it again with the environment that fixed randomness needs."""
    from trueline.record.randomness import environment

    if seed is None:
        return
    wanted = environment(seed)
    if all(os.environ.get(name) == value for name, value in wanted.items()) or os.environ.get(_RESTARTED):
        os.environ.pop(_RESTARTED, None)
        return
    os.environ.update(wanted, **{_RESTARTED: "1"})
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(sys.executable, [sys.executable, "-m", "trueline", *sys.argv[1:]])
