"""Which cell an operator of a dumped graph belongs to, and what its tensors are to that cell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from trueline.formats.ms_dump.listings import DEEPEST
from trueline.formats.ms_names import is_training_state, slot_of
from trueline.model.key import Key, Kind, Phase

_WRAPPERS: Final = {"network", "_backbone", "_network"}
_OPTIMIZER: Final = "Default/optimizer-"
_BACKWARD: Final = "Gradients/"
_OP: Final = re.compile(r"-op\d+$")
_STATISTICS: Final = frozenset(("moving_mean", "moving_variance", "running_mean", "running_var"))
# Operators whose first input is the data, not a weight, a table or a label.
_TAKES_DATA: Final = frozenset(
    (
        *("Conv2D", "Conv3D", "Conv2DTranspose", "MatMul", "BatchMatMul", "BatchNorm", "LayerNorm", "InstanceNorm"),
        *("MaxPool", "AvgPool", "Dropout", "ReLU", "ReLU6", "GeLU", "SiLU", "Sigmoid", "Tanh", "Softmax", "LogSoftmax"),
    )
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where an operator belongs; ``first`` if it takes the cell's input, ``final`` if its output is the cell's."""

    module: str
    kind: Kind
    call: int
    type: str = ""
    first: bool = False
    final: bool = False

    def key(self, op: str, is_input: bool, slot: int, phase: Phase) -> Key:
        """The Key of one of the operator's tensors.

        A cell's own input and output have the Key they have in PyNative; every other tensor is told apart by its
        operator's name in the index: ``train/fc#0/out/MatMul.0``.
        """
        kind = self.kind
        if is_input:
            kind = Kind.IN if kind is Kind.OUT else Kind.GOUT
        own = self.final if not is_input else self.first and not slot and op in _TAKES_DATA
        return Key.of(self.module, kind, slot if own else f"{op}.{slot}", call=self.call, phase=phase)


def trains(order: Iterable[str]) -> bool:
    """Whether a graph has a backward or an update."""
    return any(scope.startswith((_OPTIMIZER, _BACKWARD)) for scope in order)


def places(order: Iterable[str], *, wrapped: bool) -> dict[str, Place]:
    """The place of each operator, from their scopes in order; ``wrapped`` if a training cell is around the network."""
    by_cell: dict[tuple[str, Kind], list[str]] = {}
    types: dict[str, str] = {}
    for scope in order:
        cell = _cell(scope, wrapped=wrapped)
        if cell is not None:
            module, kind, types[module] = cell
            by_cell.setdefault((module, kind), []).append(scope)
    holders = {""} | {above for module, _ in by_cell for above in _above(module)}
    found: dict[str, Place] = {}
    for (module, kind), members in by_cell.items():
        ops = [_OP.sub("", member.rpartition("/")[2]) for member in members]
        period = len(ops) + 1 if module in holders or kind is not Kind.OUT else _period(ops)
        seen: Counter[str] = Counter()
        for at, (one, op) in enumerate(zip(members, ops, strict=True)):
            first = period <= len(ops) and at % period == 0
            if at % period == period - 1:
                found[one] = Place(module, kind, at // period, types[module], first=first, final=True)
            else:
                found[one] = Place(module, kind, seen[op], types[module], first=first)
            seen[op] += 1
    return found


def is_wrapped(order: Iterable[str]) -> bool:
    """Whether the cells of a graph lie inside a cell that trains them."""
    return any(scope.startswith(_OPTIMIZER) for scope in order)


def unlisted(spelt: str) -> Place:
    """The place of an operator that no order of execution lists: its scope as it is spelt."""
    return Place(_OP.sub("", spelt), Kind.OUT, 0)


def parameter_keys(known: Mapping[str, bool], phase: Phase) -> dict[str, tuple[str, Key]]:
    """From how a graph's parameter is spelt in file names, to its name and Key: weights, slots, the graph's inputs."""
    found: dict[str, tuple[str, Key]] = {}
    inputs = 0
    for name, is_weight in known.items():
        slot = slot_of(name, known)
        if not is_weight:
            key = Key.of("", Kind.IN, inputs, phase=phase)
            inputs += 1
        elif slot is not None:
            module, _, leaf = slot[1].rpartition(".")
            key = Key.of(module, Kind.OPT, f"{leaf}:{slot[0]}", phase=phase)
        elif is_training_state(name):
            key = Key.of("", Kind.OPT, name, phase=phase)
        else:
            statistic = name.rpartition(".")[2] in _STATISTICS
            key = Key.of_parameter(name, Kind.BUFFER if statistic else Kind.PARAM, phase=phase)
        found[name.replace(".", "_").replace("/", "_")] = name, key
    return found


def _above(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _period(ops: list[str]) -> int:
    """How many operators one call of a cell has, when the cell was called several times."""
    count = len(ops)
    return next(
        length for length in range(1, count + 1) if count % length == 0 and ops == ops[:length] * (count // length)
    )


def _cell(scope: str, *, wrapped: bool) -> tuple[str, Kind, str] | None:
    """The cell's path, whether its forward or its backward, its type; None for what belongs to no cell."""
    parts = scope.split("/")
    kind = Kind.OUT
    if parts[0] == "Gradients":
        kind = Kind.GIN
        parts = [part for part in parts[1:] if not part.startswith("Grad_")]
    if not parts or parts[0] != "Default" or len(parts) > DEEPEST:
        return None
    cells = [part.partition("-") for part in parts[1:-1] if "-" in part and not _OP.search(part)]
    names = [name for name, _, _ in cells]
    if wrapped:
        if names[:1] == ["optimizer"]:
            return None
        while names and names[0] in _WRAPPERS:
            names.pop(0)
    return ".".join(names), kind, cells[-1][2] if cells else ""
