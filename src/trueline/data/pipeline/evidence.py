"""What the process of a pipeline has seen, as it comes through the pipe: nothing here judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from trueline.data.pipeline.answers import (
    Answers,
    ColumnsJson,
    Counted,
    Facts,
    FailureJson,
    FieldJson,
    Number,
    OperatorJson,
)
from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.numbers import decode


@dataclass(frozen=True, slots=True)
class Some:
    """How many samples, and the indexes of the first of them."""

    count: int
    first: Sequence[int]

    @classmethod
    def from_json(cls, found: Counted) -> Self:
        """Read [count, [indexes]]."""
        count, first = found
        assert isinstance(count, int) and not isinstance(first, int)
        return cls(count, first)


@dataclass(frozen=True, slots=True)
class Field:
    """One value of an operator's output over all samples: how many had which type, shape and dtype, and their range.

    ``whole`` are the values of numbers that are whole, as labels are; ``nonfinite`` the samples by the kind of value;
    ``apart`` samples whose values are so many times those of all others; ``lacking`` those without the field.
    """

    name: str
    types: Mapping[str, Some]
    shapes: Mapping[str, Some]
    dtypes: Mapping[str, Some]
    low: float | None = None
    high: float | None = None
    mean: float | None = None
    std: float | None = None
    nonfinite: Mapping[str, Some] = field(default_factory=dict)
    whole: Mapping[str, Some] = field(default_factory=dict)
    apart: tuple[float, Sequence[int]] | None = None
    lacking: Sequence[int] = ()

    @classmethod
    def from_json(cls, found: FieldJson) -> Self:
        """Read what ``child/fields.py`` tells."""
        types, shapes, dtypes, nonfinite, whole = (
            _groups(found[kind]) for kind in ("types", "shapes", "dtypes", "nonfinite", "whole")
        )
        low, high, mean, std = (_number(found[number]) for number in ("low", "high", "mean", "std"))
        apart = (found["apart"][0], found["apart"][1]) if found["apart"] else None
        lacking = found.get("lacking", ())
        return cls(found["name"], types, shapes, dtypes, low, high, mean, std, nonfinite, whole, apart, lacking)


@dataclass(frozen=True, slots=True)
class Change:
    """What an operator did to the values of a sample that no operator should: ``kind`` says what, ``numbers`` how."""

    kind: str
    sample: int
    numbers: Mapping[str, Number]


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator with all that came out of it; ``seconds`` are its own, without those of operators inside it.

    ``typical`` is the median of a call, ``waited`` that of the time in which the processor did nothing for it.
    """

    place: int
    name: str
    kind: str
    settings: Mapping[str, Json]
    line: Location | None
    called: Location | None
    columns: Sequence[str]
    calls: int
    seconds: float
    typical: float
    waited: float
    slowest: tuple[int, float] | None
    fields: Sequence[Field]
    changes: Sequence[Change]

    @classmethod
    def from_json(cls, found: OperatorJson) -> Self:
        """Read what ``child/meter.py`` tells."""
        return cls(
            found["place"],
            found["name"],
            found["kind"],
            found["settings"],
            read_line(found["line"]),
            read_line(found["called"]),
            found["columns"],
            found["calls"],
            found["seconds"],
            found["typical"],
            found["waited"],
            (found["slowest"][0], found["slowest"][1]) if found["slowest"] else None,
            [Field.from_json(field) for field in found["fields"]],
            [Change(change["kind"], change["sample"], change["numbers"]) for change in found["changes"]],
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """What was raised: for which sample, by which operator, in which of the user's lines, while doing what."""

    kind: str
    error: str
    line: Location | None
    code: str
    doing: str
    sample: int | None = None
    operator: int | None = None
    again: Sequence[int] = ()
    columns: ColumnsJson | None = None
    function: str = ""

    @classmethod
    def from_json(cls, found: FailureJson) -> Self:
        """Read what ``child/failing.py`` tells."""
        return cls(
            found["kind"],
            found["error"],
            read_line(found["line"]),
            found["code"],
            found["doing"],
            found["sample"],
            found["operator"],
            found.get("again", ()),
            found.get("columns"),
            found.get("function", ""),
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """All of one pipeline. ``parts`` holds by name what each further question was answered with; none where not asked.

    ``failures`` are those of samples one by one, ``ended`` why the process could not go on.
    """

    framework: str
    kind: str
    facts: Facts
    operators: Sequence[Operator] = ()
    sample: Sequence[Field] = ()
    looked: int = 0
    failures: Sequence[Failure] = ()
    parts: Answers = field(default_factory=Answers)
    ended: Failure | None = None

    def operator(self, place: int | None) -> Operator | None:
        """The operator at a place."""
        return next((operator for operator in self.operators if operator.place == place), None)

    @property
    def source(self) -> Operator | None:
        """The operator that samples begin with: the innermost dataset, or the source."""
        return next((operator for operator in self.operators if operator.kind in ("dataset", "source")), None)


def _groups(found: Mapping[str, Counted]) -> dict[str, Some]:
    return {name: Some.from_json(counted) for name, counted in found.items()}


def _number(found: float | str | None) -> float | None:
    return decode(found) if found is not None else None


def read_line(found: object) -> Location | None:
    """A line, or none."""
    return Location.from_line_json(found) if found is not None else None
