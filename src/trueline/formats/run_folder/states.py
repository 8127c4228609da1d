"""States of a training before its steps, with the batches that came: JSON trees and safetensors, nothing executable.

``state/100/`` holds what is true before training step 100 and what was fetched from then until step 101.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from trueline.formats.run_folder import layout
from trueline.formats.run_folder.appending import replace_file
from trueline.formats.run_folder.guard import bad, decode_json, list_names, read_file
from trueline.formats.run_folder.json_text import json_page
from trueline.formats.run_folder.tensors import can_keep, read_arrays, write_arrays

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Kept:
    """A JSON object, and arrays by the names that it speaks of."""

    tree: Mapping[str, Any]
    arrays: Mapping[str, Array]


class StatesWriter:
    """Writes one rank's states; what a kill leaves behind is whole or not there."""

    def __init__(self, rank_folder: Path) -> None:
        self._folder = rank_folder / layout.STATES

    def write_command(self, command: Mapping[str, Any]) -> None:
        """How the run was started. It is nobody else's business: the environment is in it."""
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / layout.STATE_COMMAND
        with contextlib.suppress(FileExistsError):
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        path.write_bytes(json_page(command))

    def write_state(self, step: int, kept: Kept) -> None:
        """The state before a step, with nothing fetched yet; one that was written before is replaced."""
        place = self._folder / str(step)
        part = self._folder / f".{step}.part"
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        arrays, left_out = _fitting(kept.arrays)
        write_arrays(part / layout.STATE_ARRAYS, arrays)
        tree = {**kept.tree, "lost": [*kept.tree.get("lost", ()), *left_out]}
        replace_file(part / layout.STATE_FILE, json_page(tree))
        replace_file(part / layout.FETCHES, json_page({"fetched": []}))
        shutil.rmtree(place, ignore_errors=True)
        part.replace(place)

    def write_batch(self, step: int, serial: int, arrays: Mapping[str, Array]) -> list[str]:
        """A batch's arrays; the names of those that fit into no file are returned."""
        fitting, left_out = _fitting(arrays)
        path = self._folder / str(step) / layout.fetch_name(serial)
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
        write_arrays(path, fitting)
        return left_out

    def write_fetches(self, step: int, fetched: Sequence[Mapping[str, Any]]) -> None:
        """All that was fetched so far, in order; each names its loader and has a tree."""
        replace_file(self._folder / str(step) / layout.FETCHES, json_page({"fetched": list(fetched)}))

    def remove(self, step: int) -> None:
        """A state that is wanted no more."""
        shutil.rmtree(self._folder / str(step), ignore_errors=True)


def _fitting(arrays: Mapping[str, Array]) -> tuple[dict[str, Array], list[str]]:
    fitting = {name: array for name, array in arrays.items() if can_keep(array)}
    left_out = [f"{name} ({np.asarray(array).dtype})" for name, array in arrays.items() if name not in fitting]
    return fitting, left_out


class StatesReader:
    """Reads one rank's states; every fault is one BadFile."""

    def __init__(self, root: Path, rank_folder: Path) -> None:
        self._root = root
        self._folder = rank_folder / layout.STATES

    @property
    def steps(self) -> list[int]:
        """The steps before which a state was kept, in order."""
        names = [one for one in list_names(self._root, self._folder) if layout.STATE_NAME.fullmatch(one)]
        return sorted(int(one) for one in names if (self._folder / one / layout.STATE_FILE).exists())

    def command(self) -> dict[str, Any] | None:
        """How the run was started, None where that was not kept."""
        path = self._folder / layout.STATE_COMMAND
        return self._json(path) if path.exists() else None

    def state(self, step: int) -> Kept:
        """The state before a step."""
        folder = self._folder / str(step)
        return Kept(self._json(folder / layout.STATE_FILE), read_arrays(self._root, folder / layout.STATE_ARRAYS))

    def fetches(self, step: int) -> list[dict[str, Any]]:
        """What was fetched from the state before a step until the next one."""
        path = self._folder / str(step) / layout.FETCHES
        found = self._json(path).get("fetched")
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
            raise bad(path, "bad_content", reason="fetched")
        return found

    def batch(self, step: int, serial: int) -> dict[str, Array]:
        """The arrays of a batch."""
        return read_arrays(self._root, self._folder / str(step) / layout.fetch_name(serial))

    def _json(self, path: Path) -> dict[str, Any]:
        found = decode_json(path, read_file(self._root, path, layout.MAX_JSON))
        if not isinstance(found, dict):
            raise bad(path, "bad_content", reason=path.name)
        return found
