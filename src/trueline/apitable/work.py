"""Calls that do more than define: they train, read or fetch data, write, start processes or end this one."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

TRAIN: Final = "train"
EXIT: Final = "exit"
NOTEBOOK: Final = "notebook"
READ_DATA: Final = "read_data"
DOWNLOAD: Final = "download"
WRITE: Final = "write"
START_PROCESSES: Final = "start_processes"
START_PROGRAMS: Final = "start_programs"
LOAD_WEIGHTS: Final = "load_weights"
# What a module that only defines may do too.
BESIDE_DEFINING: Final = frozenset({START_PROGRAMS, LOAD_WEIGHTS})


@dataclass(frozen=True, slots=True)
class _Calls:
    """The calls of one kind of work, as ``work.toml`` has them."""

    names: frozenset[str]
    below: tuple[str, ...]
    dataset_modules: tuple[str, ...]
    methods: frozenset[str]
    called: frozenset[str]
    given: Mapping[str, int]

    def has(self, name: str, arguments: int) -> bool:
        """Whether a call of this (resolved) name, with so many arguments, is one of them."""
        _, dot, last = name.rpartition(".")
        return (
            name in self.names
            or last in self.called
            or any(name.startswith(f"{above}.") for above in self.below)
            or (last.endswith("Dataset") and name.startswith(self.dataset_modules))
            or (bool(dot) and (last in self.methods or arguments >= self.given.get(last, arguments + 1)))
        )


@cache
def _table() -> dict[str, _Calls]:
    text = resources.files("trueline.apitable").joinpath("work.toml").read_text("utf-8")
    return {
        kind: _Calls(
            frozenset(row.get("names", ())),
            tuple(row.get("below", ())),
            tuple(f"{module}." for module in row.get("dataset_modules", ())),
            frozenset(row.get("methods", ())),
            frozenset(row.get("called", ())),
            row.get("given", {}),
        )
        for kind, row in tomllib.loads(text).items()
    }


def work_of_call(name: str, arguments: int) -> str | None:
    """What a call of this name does beyond defining; None where nothing is known of it."""
    return next((kind for kind, calls in _table().items() if calls.has(name, arguments)), None)
