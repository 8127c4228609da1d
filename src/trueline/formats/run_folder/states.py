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
from typing import Annotated, Any, Final, NotRequired, TypedDict, TypeVar

import msgspec
import numpy as np

from trueline.formats.run_folder import layout
from trueline.formats.run_folder.appending import replace_file
from trueline.formats.run_folder.guard import decode_typed, list_names, read_file
from trueline.formats.run_folder.json_text import json_page
from trueline.formats.run_folder.tensors import can_keep, read_arrays, write_arrays
from trueline.kernel.array import Array

Page = TypeVar("Page")


class ThingPage(TypedDict):
    """What a state is of: an optimizer, a scaler …"""

    kind: str
    type: str


class StatePage(TypedDict):
    """state.json."""

    format: Annotated[int, msgspec.Meta(ge=1, le=1)]
    step: NotRequired[int]
    framework: str
    things: list[ThingPage]
    plain: dict[str, Any]
    lost: list[str]
    place: int
    waiting: list[int]
    counters: Any
    ended_before: list[int]
    begins_at: dict[str, tuple[int, int]]


class FetchPage(TypedDict):
    """What was fetched from a loader: ``tree`` has the places of its arrays, ``random`` the generators before it."""

    serial: Annotated[int, msgspec.Meta(ge=0)]
    loader: int
    iteration: int
    tree: Any
    indexes: list[Any] | None
    random: dict[str, Any]
    lost: list[str]


class _FetchesPage(TypedDict):
    fetched: list[FetchPage]
    ended: list[int]


class CommandPage(TypedDict):
    """command.json: how the run was started; ``withheld`` are names of the environment that hold secrets."""

    script: str
    args: list[str]
    as_module: bool
    cwd: str
    executable: str
    python: str
    environment: dict[
        Annotated[str, msgspec.Meta(pattern=r"^[^=\0]+$")], Annotated[str, msgspec.Meta(pattern=r"^[^\0]*$")]
    ]
    withheld: list[str]


_STATE: Final = msgspec.json.Decoder(StatePage)
_FETCHES: Final = msgspec.json.Decoder(_FetchesPage)
_COMMAND: Final = msgspec.json.Decoder(CommandPage)


@dataclass(frozen=True, slots=True)
class Kept:
    """The page of a state, and arrays by the names that it speaks of."""

    tree: StatePage
    arrays: Mapping[str, Array]


class StatesWriter:
    """Writes one rank's states; what a kill leaves behind is whole or not there."""

    def __init__(self, rank_folder: Path) -> None:
        self._folder = rank_folder / layout.STATES

    def write_command(self, command: Mapping[str, object]) -> None:
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
        replace_file(part / layout.FETCHES, json_page({"fetched": [], "ended": []}))
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

    def write_fetches(self, step: int, fetched: Sequence[Mapping[str, object]], ended: Sequence[int] = ()) -> None:
        """All that was fetched so far, in order; each names its loader and has a tree. Loaders that ended after it."""
        page = json_page({"fetched": list(fetched), "ended": list(ended)})
        replace_file(self._folder / str(step) / layout.FETCHES, page)

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
        names = [name for name in list_names(self._root, self._folder) if layout.STATE_NAME.fullmatch(name)]
        return sorted(int(name) for name in names if (self._folder / name / layout.STATE_FILE).exists())

    def command(self) -> CommandPage | None:
        """How the run was started, None where that was not kept."""
        path = self._folder / layout.STATE_COMMAND
        return self._page(path, _COMMAND) if path.exists() else None

    def state(self, step: int) -> Kept:
        """The state before a step."""
        folder = self._folder / str(step)
        tree = self._page(folder / layout.STATE_FILE, _STATE)
        return Kept(tree, read_arrays(self._root, folder / layout.STATE_ARRAYS))

    def fetches(self, step: int) -> list[FetchPage]:
        """What was fetched from the state before a step until the next one."""
        return self._fetches(step)["fetched"]

    def ends(self, step: int) -> list[int]:
        """The loaders that came to their end after that."""
        return self._fetches(step)["ended"]

    def _fetches(self, step: int) -> _FetchesPage:
        return self._page(self._folder / str(step) / layout.FETCHES, _FETCHES)

    def batch(self, step: int, serial: int) -> dict[str, Array]:
        """The arrays of a batch."""
        return read_arrays(self._root, self._folder / str(step) / layout.fetch_name(serial))

    def _page(self, path: Path, decoder: msgspec.json.Decoder[Page]) -> Page:
        return decode_typed(path, read_file(self._root, path, layout.MAX_JSON), decoder)
