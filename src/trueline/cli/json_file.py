"""What verbs that execute a script share: the file their answer goes to, and the project around the script."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from trueline.model.message import message
from trueline.model.trouble import BadUsage


def check_writable(json_file: str | None) -> None:
    """Nobody wants to hear of it after the training."""
    if json_file not in (None, "-"):
        place = Path(str(json_file)).absolute()
        if place.is_dir() or not os.access(place if place.exists() else place.parent, os.W_OK):
            raise BadUsage("run.unwritable_answer", file=json_file)


def write_answer(json_file: str, text: str) -> None:
    """Where nothing of the script's own can be in the way."""
    if json_file == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        Path(json_file).write_text(text, encoding="utf-8")
    except OSError as error:
        said = message("run.no_answer", file=json_file, reason=error.strerror or str(error))
        sys.stderr.write(f"trueline: {said.text()}\n")


def project_root(script: str, as_module: bool) -> Path:
    """The project's folder: where the command was given if the script is below it, else the script's own."""
    here = Path.cwd()
    folder = here if as_module else Path(script).resolve().parent
    return here if folder.is_relative_to(here) else folder
