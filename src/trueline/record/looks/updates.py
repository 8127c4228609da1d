"""The first updates of an optimizer in a few elements: weights before, gradients, weights after."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.adapters.identity import Reference, reference
from trueline.adapters.nouns import Group, Optimizer, Unreadable, Value
from trueline.adapters.protocol import Values
from trueline.kernel.array import Array
from trueline.model.json_value import Json, JsonObject
from trueline.model.numbers import encode
from trueline.model.run import EventName
from trueline.record.kept import Kept
from trueline.record.training import Training

# An optimizer does what it does from the first updates on.
_UPDATES: Final = 6
_PARAMETERS: Final = 4
_ELEMENTS: Final = 6
# Larger ones are not read for a few elements.
_MAX_ELEMENTS: Final = 1 << 18
# A training that builds an optimizer for every update is followed for so many of them.
_OPTIMIZERS: Final = 16


@dataclass(slots=True, eq=False)
class _Chosen:
    """A parameter that is followed: which of its elements, and what they were as the update began."""

    parameter: Reference
    group: int
    name: str
    places: Array
    before: Array | None = None
    gradient: Array | None = None


@dataclass(slots=True, eq=False)
class _Following:
    """An optimizer's update that is going on."""

    update: int
    fresh: bool
    settings: list[JsonObject]


class UpdateLook:
    """Follows a few elements through the first updates of each optimizer."""

    def __init__(self, training: Training, kept: Kept, values: Values) -> None:
        self._training, self._kept, self._values = training, kept, values
        self._chosen: dict[int, list[_Chosen]] = {}
        self._counts = kept.counts.followed
        self._following: dict[int, _Following] = {}

    def began(
        self,
        number: int,
        optimizer: Optimizer,
        groups: Sequence[Group],
        gradients: Sequence[tuple[Value, Value]] | None,
    ) -> None:
        """An optimizer begins to update with these gradients."""
        self._following.pop(number, None)
        update = self._counts.get(number, 0)
        if gradients is None or update >= _UPDATES or (not update and len(self._counts) >= _OPTIMIZERS):
            return
        self._counts[number] = update + 1
        if number not in self._chosen:
            self._chosen[number] = self._choose(groups, gradients)
        given = {id(parameter): gradient for parameter, gradient in gradients}
        for chosen in self._chosen[number]:
            parameter = chosen.parameter()
            chosen.before = self._elements(parameter, chosen.places)
            chosen.gradient = self._elements(given.get(id(parameter)), chosen.places)
        settings = [_plain(group.settings) for group in groups]
        self._following[number] = _Following(update, self._values.is_fresh(optimizer), settings)

    def ended(self, number: int, skipped: bool) -> None:
        """The update is made."""
        following = self._following.pop(number, None)
        if following is None or skipped:
            return
        moved: list[Json] = []
        for chosen in self._chosen[number]:
            parameter = chosen.parameter()
            after = self._elements(parameter, chosen.places)
            if parameter is None or after is None or chosen.before is None or chosen.gradient is None:
                continue
            moved.append(
                {
                    "name": chosen.name,
                    "group": chosen.group,
                    "dtype": self._values.dtype(parameter),
                    "before": _written(chosen.before),
                    "gradient": _written(chosen.gradient),
                    "after": _written(after),
                }
            )
        if moved:
            built = self._training.built_at(number)
            self._kept.event(
                EventName.UPDATE,
                optimizer=number,
                update=following.update,
                fresh=following.fresh,
                settings=following.settings,
                moved=moved,
                line=None if built is None else built.line_json(),
            )

    def _choose(self, groups: Sequence[Group], gradients: Sequence[tuple[Value, Value]]) -> list[_Chosen]:
        group_of = {id(parameter): place for place, group in enumerate(groups) for parameter in group.parameters}
        sized = [(int(np.prod(self._values.shape(pair[0]))), pair) for pair in gradients]
        small = sorted((pair for pair in sized if 0 < pair[0] <= _MAX_ELEMENTS), key=lambda pair: pair[0])
        # The smallest are biases, the largest weights.
        wanted = small if len(small) <= _PARAMETERS else [small[0], small[len(small) // 2], small[-2], small[-1]]
        chosen: list[_Chosen] = []
        for _, (parameter, gradient) in wanted:
            with contextlib.suppress(Unreadable, ValueError, TypeError):
                flat = self._values.to_numpy(gradient).reshape(-1)
                moving = np.flatnonzero(np.isfinite(flat) & (flat != 0))
                places = moving[:: max(1, len(moving) // _ELEMENTS)][:_ELEMENTS]
                if len(places):
                    named = self._training.parameters.find(parameter)
                    name = named.leaf if named is not None else ""
                    path = named.place.path if named is not None else ""
                    full = f"{path}.{name}" if path else name
                    chosen.append(_Chosen(reference(parameter), group_of.get(id(parameter), 0), full, places))
        return chosen

    def _elements(self, tensor: Value, places: Array) -> Array | None:
        if tensor is None:
            return None
        try:
            return np.asarray(self._values.to_numpy(tensor).reshape(-1)[places], np.float64)
        except (Unreadable, ValueError, TypeError, IndexError):
            return None


def _written(numbers: Array) -> list[Json]:
    return [encode(float(number)) for number in numbers]


def _plain(settings: Mapping[str, object]) -> JsonObject:
    """Numbers and switches, and pairs of numbers."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in settings.items()
        if isinstance(value, bool | int | float)
        or (isinstance(value, tuple | list) and all(isinstance(part, int | float) for part in value))
    }
