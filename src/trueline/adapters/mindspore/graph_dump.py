"""Graph mode: MindSpore's own dump, prepared before it is imported and read after the run.

Nothing here imports MindSpore.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trueline.adapters.protocol import Array
from trueline.model.key import Key, Kind
from trueline.model.steps import Steps

_NET = "trueline"
_LAST = 2**31 - 1
_MOST_PARTS = 1000
_FILE = re.compile(r"(?P<op>[^.]+)\.(?P<scope>.+)\.\d+\.\d+\.(?P<time>\d+)\.output\.(?P<output>\d+)\.[^.]+\.[^.]+\.npy")
_WRAPPERS = {"network", "_backbone", "_network"}
_OP = re.compile(r"-op\d+$")


def prepare(folder: Path, steps: Steps) -> dict[str, str]:
    """Write the dump's settings into a folder; the variables to set before MindSpore is imported."""
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "common_dump_settings": {
            "op_debug_mode": 0,
            "dump_mode": 0,
            "path": str(folder / "dump"),
            "net_name": _NET,
            "iteration": _iterations(steps),
            "saved_data": "tensor",
            "input_output": 2,
            "kernels": [],
            "support_device": list(range(8)),
        },
        "e2e_dump_settings": {"enable": True, "trans_flag": True},
    }
    config = folder / "dump.json"
    config.write_text(json.dumps(settings, indent=1), encoding="utf-8")
    return {"MINDSPORE_DUMP_CONFIG": str(config)}


def _iterations(steps: Steps) -> str:
    parts: list[str] = []
    for start, stop, stride in steps.parts:
        if (start, stop, stride) == (0, None, 1):
            return "all"
        last = _LAST if stop is None else stop - 1
        if stride == 1:
            parts.append(f"{start}-{last}" if last > start else str(start))
        else:
            parts.extend(str(step) for step in range(start, last + 1, stride)[: _MOST_PARTS - len(parts)])
    return "|".join(parts)


@dataclass(frozen=True, slots=True)
class _Dumped:
    step: int
    time: int
    op: str
    scope: str
    output: int
    path: Path


def collect(folder: Path) -> Iterator[tuple[int, Key, Array, str]]:
    """(step, Key, values, operator) of every output with a cell path, in the order the operators ran.

    The last operator of a cell without cells inside gives the cell's output, under the Key it has in PyNative.
    Every other operator is told apart by its name in the index: ``train/fc#0/out/MatMul.0``, and with kind ``gin``
    what the backward gives.
    """
    for rank in sorted((folder / "dump").glob("rank_*")):
        places = _places(_scopes(rank))
        for one in sorted(_dumped(rank), key=lambda found: (found.step, found.time)):
            place = places.get(one.scope)
            if place is not None:
                index = str(one.output) if place.final else f"{one.op}.{one.output}"
                key = Key.of(place.module, place.kind, index, call=place.call)
                yield one.step, key, np.load(one.path, allow_pickle=False), one.op


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an operator belongs; ``final`` if its output is the cell's."""

    module: str
    kind: Kind
    call: int
    final: bool = False


def _places(scopes: dict[str, str]) -> dict[str, _Place]:
    """From scopes in the order of execution, as file names spell them."""
    trains = any(scope.startswith("Default/optimizer-") for scope in scopes.values())
    by_cell: dict[tuple[str, Kind], list[str]] = {}
    for spelt, scope in scopes.items():
        cell = _cell(scope, trains=trains)
        if cell is not None:
            by_cell.setdefault(cell, []).append(spelt)
    found: dict[str, _Place] = {}
    for (module, kind), members in by_cell.items():
        ops = [_OP.sub("", scopes[one].rpartition("/")[2]) for one in members]
        inside = any(other.startswith(f"{module}.") for other, _ in by_cell) or not module
        period = len(ops) + 1 if inside or kind is not Kind.OUT else _period(ops)
        for at, (one, op) in enumerate(zip(members, ops, strict=True)):
            if at % period == period - 1:
                found[one] = _Place(module, kind, at // period, final=True)
            else:
                found[one] = _Place(module, kind, ops[:at].count(op))
    return found


def _period(ops: list[str]) -> int:
    """How many operators one call of a cell has, when the cell was called several times."""
    count = len(ops)
    return next(
        length for length in range(1, count + 1) if count % length == 0 and ops == ops[:length] * (count // length)
    )


def _scopes(rank: Path) -> dict[str, str]:
    """How a scope is spelt in file names, to the scope with its slashes."""
    found: dict[str, str] = {}
    for listing in sorted(rank.glob("execution_order/ms_execution_order_graph_*.csv")):
        with listing.open(encoding="utf-8", newline="") as lines:
            for row in csv.reader(lines):
                if row and "/" in row[0]:
                    found[row[0].replace("/", "_")] = row[0]
    return found


def _dumped(rank: Path) -> Iterator[_Dumped]:
    for directory in sorted((rank / _NET).glob("*/*")):
        if not directory.name.isdigit():
            continue
        names = _long_names(directory)
        for path in directory.glob("*.npy"):
            found = _FILE.fullmatch(names.get(path.name, path.name))
            if found is not None and found["op"] != "Parameter":
                yield _Dumped(
                    int(directory.name), int(found["time"]), found["op"], found["scope"], int(found["output"]), path
                )


def _long_names(directory: Path) -> dict[str, str]:
    """File names that were too long are replaced by numbers, and listed."""
    listing = directory / "mapping.csv"
    if not listing.exists():
        return {}
    with listing.open(encoding="utf-8", newline="") as lines:
        return {row[0]: row[1] for row in csv.reader(lines) if len(row) == 2}


def _cell(scope: str, *, trains: bool) -> tuple[str, Kind] | None:
    """The cell's path and whether its forward or its backward; None for what belongs to no cell."""
    parts = scope.split("/")
    kind = Kind.OUT
    if parts[0] == "Gradients":
        kind = Kind.GIN
        parts = [one for one in parts[1:] if not one.startswith("Grad_")]
    if parts[0] != "Default":
        return None
    names = [one.partition("-")[0] for one in parts[1:-1] if "-" in one and not _OP.search(one)]
    if trains:
        if names[:1] == ["optimizer"]:
            return None
        while names and names[0] in _WRAPPERS:
            names.pop(0)
    return ".".join(names), kind
