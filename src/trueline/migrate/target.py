"""The names that the result must have: those of a model, or of a file of the other framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trueline.formats.weights import Weights
from trueline.model.run import ParamInfo


@dataclass(frozen=True, slots=True)
class Wanted:
    """One name of the target; ``shared_with`` where it is another name of the same tensor."""

    name: str
    shape: tuple[int, ...]
    shared_with: str | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """All names of the target, and the classes of its modules where they are known."""

    wanted: Sequence[Wanted]
    types: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_file(cls, weights: Weights) -> Target:
        """The names of a weight file."""
        return cls([Wanted(name, stored.shape, stored.shared_with) for name, stored in weights.model.items()])

    @classmethod
    def of_model(cls, params: Sequence[ParamInfo], types: Mapping[str, str]) -> Target:
        """The names of a model."""
        return cls([Wanted(parameter.name, parameter.shape, parameter.shared_with) for parameter in params], types)
