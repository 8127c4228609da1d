"""A verb that executes a user's script: its command line, and how it speaks and answers beside the script's output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from trueline.cli.json_file import check_writable
from trueline.cli.verb import Verb
from trueline.model.trouble import BadUsage

if TYPE_CHECKING:
    from trueline.model.message import Message


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
        **settings: Any,
    ) -> None:
        options = [
            *params,
            click.Option(["-m", "as_module"], is_flag=True, help="run.module"),
            click.Option(["--quiet"], is_flag=True, help=quiet),
            click.Option(["--json", "json_file"], metavar="FILE", help=json),
        ]
        # Help begins with the options that have a letter.
        options.sort(key=lambda one: min(map(len, one.opts)) > len("-m"))
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
    sys.stderr.write(f"trueline: {said.text()}\n")
    sys.stderr.flush()


@contextmanager
def script_output(json_file: str | None) -> Iterator[Callable[[str], object]]:
    """What writes the answer; for ``-`` it has stdout to itself, and the script's stdout goes to stderr."""
    if json_file is None:
        yield lambda _: None
        return
    if json_file != "-":
        place = Path(json_file).absolute()
        yield lambda text: place.write_text(text, encoding="utf-8")
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield lambda text: os.write(kept, text.encode())
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
