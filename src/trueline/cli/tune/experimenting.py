"""What the verbs that experiment with a script share: running it, showing how far it is, giving the answer."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trueline.cli.json_file import project_root, write_answer
from trueline.cli.outcome import INTERRUPTED, ended_cleanly
from trueline.cli.page import check_page, start_lightly, write_page
from trueline.cli.progress import StepsLine
from trueline.cli.room import room_for_runs
from trueline.cli.script_verb import begin

if TYPE_CHECKING:
    from trueline.model.message import Message
    from trueline.model.report import Report
    from trueline.model.result import Result
    from trueline.record.command import Command
    from trueline.record.run_mode import Experiment
    from trueline.tune.told import Word
    from trueline.tune.trial import Trial


@dataclass(frozen=True, slots=True)
class Runner:
    """Runs a script with experiments in it, each time under another name."""

    command: Command
    room: Path
    root: Path
    line: StepsLine

    def run(
        self,
        name: str,
        experiment: Experiment,
        heard: Callable[[Word], bool],
        args: Sequence[str] | None = None,
    ) -> Trial:
        """Once, with other arguments where they are given."""
        from dataclasses import replace

        from trueline.tune.trial import run_trial

        command = self.command if args is None else replace(self.command, args=list(args))
        return run_trial(command, self.room / name, experiment, heard)

    def show(self, done: int, count: int, what: Message) -> None:
        """How far it is."""
        self.line.show(done, count, what)


def check_begun(output: Path | None, force: bool, json_file: str | None, command_line: Sequence[str]) -> None:
    """Whatever would fail at the end fails now."""
    check_page(output, force)
    begin(command_line, json_file)


@contextmanager
def experimenting(command_line: Sequence[str], *, as_module: bool, keep: Path | None, quiet: bool) -> Iterator[Runner]:
    """What runs the script; in the block its runs have a room, and a line that shows how far they are."""
    from trueline.record.launch import check_module, check_script

    script, *args = command_line
    # As it is before anything of TrueLine's is set in it.
    environment = dict(os.environ)
    start_lightly()
    from trueline.record.command import Command, check_one_process

    check_one_process(script, as_module=as_module)
    (check_module if as_module else check_script)(script)
    line = StepsLine(quiet=quiet)
    with ended_cleanly(), room_for_runs(keep, "trueline-tune-") as room:
        command = Command(script, args, as_module, environment=environment)
        try:
            yield Runner(command, room, project_root(script, as_module).resolve(), line)
        finally:
            line.wipe()


def give(result: Result, report: Report, *, output: Path | None, json_file: str | None, interrupted: bool) -> int:
    """The answer where it was asked for, and the exit code."""
    if json_file is not None:
        write_answer(json_file, result.dump() + "\n")
    if json_file != "-":
        from trueline.report.terminal import render_report

        render_report(report, sys.stdout)
    write_page(output, report)
    return INTERRUPTED if interrupted else int(result.exit)
