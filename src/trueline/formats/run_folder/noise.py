"""``noise/`` in a run folder: what repeating the run has shown, in one file."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from trueline.formats.run_folder import layout
from trueline.formats.run_folder.appending import replace_file
from trueline.formats.run_folder.guard import bad, decode_json, open_if_there, read_file
from trueline.formats.run_folder.json_text import json_page
from trueline.model.noise import Noise

NOISE: Final = "noise"
FILE: Final = "noise.json"
# Repeated runs lie here while they are needed; readers ignore names that begin with a dot.
_TRIES: Final = ".tries"


def write_noise(folder: Path, noise: Noise) -> None:
    """Keep what was measured for the run in this folder."""
    (folder / NOISE).mkdir(exist_ok=True)
    replace_file(folder / NOISE / FILE, json_page(noise.to_json()))


def read_measured(folder: Path) -> Noise | None:
    """What was measured for the run in this folder, without margins; None where nothing was."""
    path = folder / NOISE / FILE
    with open_if_there(folder, path) as there:
        if there is None:
            return None
    content = decode_json(path, read_file(folder, path, layout.MAX_JSON))
    try:
        return Noise.from_json(content)
    except ValueError as error:
        raise bad(path, "bad_content", reason=str(error)[:200]) from None


@contextmanager
def room_for_tries(folder: Path) -> Iterator[Path]:
    """A place inside the run folder for repeated runs, gone afterwards."""
    place = folder / NOISE / _TRIES
    place.mkdir(parents=True)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):
            (folder / NOISE).rmdir()
