"""What MindSpore lists beside a dump's tensors: the order of execution, long file names, the graph's parameters."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import Final

from trueline.formats.files import fault, open_file
from trueline.model.budget import Budget

_PARAMETER: Final = re.compile(r"%para\d+_")
_WEIGHT: Final = re.compile(r"IsWeight: ?(true|false)")
_LONGEST_LINE: Final = 1 << 16
# Deeper than this no operator lies in a network.
DEEPEST: Final = 200
# A listed operator: its scope, its place, its name without a number. A cell of a row: its text in a dictionary.
_SCOPE_BYTES: Final = 512
_ROW_BYTES: Final = 64


def execution_order(rank: Path, graph: str) -> list[str]:
    """The operators of a graph in the order of execution: each one's scope, with its number at the end."""
    listing = rank / "execution_order" / f"ms_execution_order_graph_{graph}.csv"
    budget = Budget(listing, 0)
    found: dict[str, None] = {}
    for row in _rows(listing, budget):
        if row and "/" in row[0]:
            # The cells that hold an operator are known by their paths, each as long as its part of the scope.
            budget.hold(_SCOPE_BYTES + len(row[0]) * min(row[0].count("/"), DEEPEST))
            found[row[0]] = None
    return list(found)


def spellings(order: Iterable[str], seen: Iterable[str]) -> dict[str, str]:
    """How the operators are spelt in file names, to how they are listed.

    Where a second graph has the same cells, the files' numbers go on from the first graph's, and the listing's do not.
    """
    listed: dict[str, dict[int, str]] = {}
    for scope in order:
        base, number = _split(scope.replace("/", "_"))
        listed.setdefault(base, {})[number] = scope
    spelt: dict[str, dict[int, str]] = {}
    for scope in seen:
        base, number = _split(scope)
        if base in listed:
            spelt.setdefault(base, {})[number] = scope
    found: dict[str, str] = {}
    for base, numbers in spelt.items():
        known = listed[base]
        if numbers.keys() <= known.keys():
            found.update({scope: known[number] for number, scope in numbers.items()})
        elif len(numbers) == len(known):
            found.update(zip((numbers[at] for at in sorted(numbers)), (known[at] for at in sorted(known)), strict=True))
    return found


def _split(scope: str) -> tuple[str, int]:
    base, mark, number = scope.rpartition("-op")
    return (base, int(number)) if mark and len(number) < 10 and number.isascii() and number.isdigit() else (scope, 0)


def long_names(folder: Path) -> dict[str, str]:
    """File names that were too long are replaced by numbers, and listed."""
    listing = folder / "mapping.csv"
    return {row[0]: row[1] for row in _rows(listing, Budget(listing, 0)) if len(row) == 2}


def parameters(rank: Path, graph: str) -> dict[str, bool]:
    """The names of a graph's parameters in order, and whether each is a weight; the others are its inputs."""
    path = rank / "graphs" / f"ms_output_trace_code_graph_{graph}.ir"
    found: dict[str, bool] = {}
    if path.is_file():
        with open_file(path) as file:
            while raw := file.readline(_LONGEST_LINE):
                line = _parameter(raw.decode("utf-8", "replace"))
                if line is not None:
                    found[line[0]] = line[1]
                elif found and raw.strip():
                    break
    return found


def _parameter(line: str) -> tuple[str, bool] | None:
    """The name in a line like ``%para3_conv.weight : <Ref[Tensor]> … : IsWeight: true``, and whether it is a weight."""
    start = _PARAMETER.match(line)
    name, mark, about = line[start.end() if start is not None else 0 :].partition(": <")
    said = _WEIGHT.findall(about) if start is not None and mark else []
    return (name.rstrip(), said[-1] == "true") if said and name.strip() else None


def _rows(path: Path, budget: Budget) -> Iterator[list[str]]:
    """The rows of a listing, which adds its size to the budget."""
    if not path.is_file():
        return
    with open_file(path) as file, TextIOWrapper(file, encoding="utf-8", newline="") as lines:
        budget.widen(os.fstat(file.fileno()).st_size)
        try:
            for row in csv.reader(lines):
                budget.hold(_ROW_BYTES * len(row))
                yield row
        except (csv.Error, UnicodeDecodeError):
            raise fault(path, "damaged") from None
