"""What entered the network, its first layers and its losses, in the first steps of training and of evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trueline.apitable.functions import classes_of, stems_of
from trueline.apitable.traits import Trait
from trueline.checks.evidence.feeding import once
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.location import Location
from trueline.model.numbers import decode
from trueline.model.run import EventName, ModuleInfo
from trueline.model.sample import Ends
from trueline.model.summary import Summary

_WHOLE: Final = stems_of(Trait.TO_INTEGER, Trait.TO_TRUTH)
NORMALISING: Final = ("norm",)
LOOKING_UP: Final = ("embed",)
CLASSIFYING: Final = classes_of(Trait.CLASSIFIES)


@dataclass(frozen=True, slots=True)
class Columns:
    """Mean and standard deviation of every feature."""

    axis: int
    mean: Sequence[float]
    std: Sequence[float]


@dataclass(frozen=True, slots=True)
class Field:
    """One tensor."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    summary: Summary
    columns: Columns | None = None
    ends: Ends | None = None

    @property
    def whole(self) -> bool:
        """Whether it holds whole numbers: ids, labels, masks."""
        return self.dtype.startswith(_WHOLE)


@dataclass(frozen=True, slots=True)
class Entered:
    """A module's call: what it was called with."""

    step: int
    phase: str
    module: str
    kind: str
    fields: Sequence[Field]

    @property
    def is_loss(self) -> bool:
        """Whether it is a loss, by its class."""
        return "Loss" in self.kind or self.kind in CLASSIFYING


def entered(run: Run, rank: int | None = None) -> list[Entered]:
    """All such calls of one rank, the first where none is named."""
    if not run.ranks:
        return []
    return once(run.rank(run.ranks[0] if rank is None else rank), "entered", _entered)


def _entered(folder: RankFolder) -> list[Entered]:
    found = []
    for event in folder.events(EventName.INPUT):
        try:
            fields = [_field(one) for one in event["fields"]]
            kind, module = str(event["kind"]), str(event["module"])
            found.append(Entered(int(event["step"]), str(event["phase"]), module, kind, fields))
        except (KeyError, TypeError, AttributeError, ValueError):
            continue
    return found


def _field(found: Mapping[str, Any]) -> Field:
    columns, ends = found.get("columns"), found.get("ends")
    return Field(
        str(found["name"]),
        tuple(int(one) for one in found["shape"]),
        str(found["dtype"]),
        Summary.from_json(found["summary"]),
        Columns(int(columns["axis"]), _numbers(columns["mean"]), _numbers(columns["std"])) if columns else None,
        Ends.from_json(ends) if ends else None,
    )


def _numbers(found: Sequence[Any]) -> list[float]:
    return [decode(one) for one in found]


def into_network(run: Run, phase: str) -> list[Entered]:
    """The calls of the network itself in a phase's first steps."""
    calls = [one for one in entered(run) if one.phase == phase and not one.is_loss]
    outermost = {one.module for one in calls if one.step > 0} or {one.module for one in calls[:1]}
    return [one for one in calls if one.module in outermost]


def into_first_layer(run: Run, phase: str) -> Entered | None:
    """The first call of a module with weights of its own: what came before it may have scaled its input."""
    if not run.ranks:
        return None
    folder = run.rank(run.ranks[0])
    owners = {one.name.rpartition(".")[0] for one in folder.params}
    calls = [one for one in entered(run) if one.phase == phase and not one.is_loss]
    return next((one for one in calls if one.module in owners), None)


def module_at(run: Run, path: str) -> ModuleInfo | None:
    """A module by its path."""
    return next((one for one in run.rank(run.ranks[0]).modules if one.path == path), None)


def place_of(run: Run, path: str, phase: str = "train", *, step: int | None = None) -> Location:
    """Where a module was called in a phase's first step, else where it was built."""
    folder = run.rank(run.ranks[0])
    called = next((one.called_at for one in folder.calls if one.path == path and one.phase == phase), None)
    module = module_at(run, path)
    line = called or (module.built_at if module is not None else None)
    if line is None:
        return Location(module=path, step=step)
    return Location(file=line.file, line=line.line, module=path, step=step)


def losses(run: Run) -> list[Entered]:
    """The calls of losses in training."""
    return [one for one in entered(run) if one.is_loss and one.phase == "train"]
