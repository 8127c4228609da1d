"""What verbs that execute a script share: the file their answer goes to, and the project around the script."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from trueline.model.message import message
from trueline.model.result import SCHEMA
from trueline.model.trouble import BadUsage
from trueline.record.stderr_line import write_line

_ANSWER: Final = f'"{SCHEMA}"'.encode()
# An answer says so in its first lines.
_BEGINNING_BYTES: Final = 200


def check_writable(json_file: str | None) -> None:
    """Nobody wants to hear of it after the training."""
    if json_file is not None and json_file != "-" and not _is_writable(Path(json_file)):
        raise BadUsage("run.unwritable_answer", file=json_file)
    if json_file is not None and json_file != "-" and _holds_something_else(Path(json_file)):
        raise BadUsage("run.not_an_answer", file=json_file)


def _holds_something_else(file: Path) -> bool:
    """A script, mostly, that was taken for the file of the answer; an earlier answer is written over."""
    try:
        if not file.is_file() or not file.stat().st_size:
            return False
        with file.open("rb") as opened:
            return _ANSWER not in opened.read(_BEGINNING_BYTES)
    except OSError:
        return False


def _is_writable(file: Path) -> bool:
    # A link is written through.
    place = Path(os.path.realpath(file))
    try:
        if place.exists():
            return not place.is_dir() and os.access(place, os.W_OK)
        return place.parent.is_dir() and os.access(place.parent, os.W_OK)
    except OSError:
        # A name that is too long, for instance.
        return False


def write_answer(json_file: str, text: str) -> None:
    """Where nothing of the script's own can be in the way."""
    if json_file == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        _write(Path(os.path.realpath(json_file)), text)
    except OSError as error:
        complain(json_file, error)


def complain(json_file: str, error: OSError) -> None:
    """The answer is shown all the same, and only its file is lost."""
    said = message("run.no_answer", file=json_file, reason=error.strerror or str(error))
    write_line(f"trueline: {said.text()}")


def _write(place: Path, text: str) -> None:
    """A new file is whole or not there; what is there may be a pipe, or open elsewhere, and stays the same file."""
    if place.exists():
        place.write_text(text, encoding="utf-8")
        return
    from trueline.formats.run_folder.appending import replace_file

    replace_file(place, text.encode())


def project_root(script: str, as_module: bool) -> Path:
    """The project's folder: where the command was given if the script is below it, else the script's own."""
    here = Path.cwd()
    folder = here if as_module else Path(script).resolve().parent
    return here if folder.is_relative_to(here) else folder
