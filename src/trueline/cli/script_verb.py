"""A verb that executes a user's script: its command line, and how it speaks and answers beside the script's output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import click

from trueline.cli.json_file import check_writable, complain, write_answer
from trueline.cli.verb import Verb
from trueline.model.descriptor import OwnDescriptor
from trueline.model.trouble import BadUsage
from trueline.record.stderr_line import BesideTheScript, write_line

if TYPE_CHECKING:
    from trueline.model.message import Message
    from trueline.model.report import Report


class ScriptVerb(Verb):
    """A verb of ``SCRIPT [ARGS]...`` with ``-m``, ``--quiet`` and ``--json FILE`` among its options.

    The callback gets ``as_module``, ``quiet``, ``json_file`` and ``command_line``. ``script`` is what usage calls the
    script, ``quiet`` and ``json`` are the ids of what help says of these options.
    """

    def __init__(
        self,
        name: str | None,
        *,
        params: Sequence[click.Parameter] = (),
        script: str = "SCRIPT",
        quiet: str = "run.quiet",
        json: str = "run.json",
        **settings: object,
    ) -> None:
        options = [
            *params,
            click.Option(["-m", "as_module"], is_flag=True, help="run.module"),
            click.Option(["--quiet"], is_flag=True, help=quiet),
            click.Option(["--json", "json_file"], metavar="FILE", help=json),
        ]
        # Help begins with the options that have a letter.
        options.sort(key=lambda option: min(map(len, option.opts)) > len("-m"))
        command_line = click.Argument(
            ["command_line"], metavar=f"{script} [ARGS]...", nargs=-1, required=True, type=click.UNPROCESSED
        )
        # What comes after the script is the script's own.
        settings["context_settings"] = {"allow_interspersed_args": False}
        super().__init__(name, params=[*options, command_line], **settings)


def begin(command_line: Sequence[str], json_file: str | None) -> tuple[str, list[str]]:
    """The script and its arguments, once it has a name and its answer has a place."""
    script, *args = command_line
    if script == "":
        raise BadUsage("run.empty_name")
    check_writable(json_file)
    return script, args


def say(said: Message) -> None:
    """A line of TrueLine's own beside the script's output."""
    write_line(f"trueline: {said.text()}")


def show_beside(report: Report) -> None:
    """A whole page beside the script's output: the script has stdout to itself."""
    from trueline.report.terminal import render_report

    render_report(report, cast("TextIO", BesideTheScript()))


@contextmanager
def script_output(json_file: str | None) -> Iterator[Callable[[str], object]]:
    """What writes the answer; for ``-`` it has stdout to itself, and the script's stdout goes to stderr."""
    if json_file is None:
        yield lambda _: None
        return
    if json_file != "-":
        place = str(Path(json_file).absolute())
        yield lambda text: write_answer(place, text)
        return
    sys.stdout.flush()
    kept = OwnDescriptor(os.dup(1))
    os.dup2(2, 1)
    try:
        yield lambda text: _write_kept(kept, text)
    finally:
        # The script may have closed any of them.
        with suppress(Exception):
            sys.stdout.flush()
        with suppress(OSError):
            os.dup2(kept.proven(), 1)
        kept.close()


def _write_kept(stdout: OwnDescriptor, text: str) -> None:
    try:
        stdout.write_all(text.encode())
    except OSError as error:
        complain("-", error)
