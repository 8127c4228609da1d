"""Named arrays of any weight file, read lazily."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from trueline.formats.stored import Stored, mapped
from trueline.model.budget import Budget

MODEL = ""
Keys = tuple[str, ...]
LEFT_OUT: Final = object()


class Shown(str):
    """A value of a file that is neither an array nor plain, or too long: only a text about it."""

    __slots__ = ()


# What verbs make of an array: its row in tables, its layer, its place among the modules.
_ARRAY_BYTES: Final = 4096
_ARRAY_WORK: Final = 150
# Each module on the way to an array has a name of its own; only those beyond every network's depth count.
_USUAL_PARTS: Final = 16
_MODULE_BYTES: Final = 1024


@dataclass(frozen=True, slots=True)
class Nested:
    """A file's tree of dictionaries and lists; ``home`` are the keys above the model, ``model`` those of its arrays.

    ``arrays`` are all arrays by their keys.
    """

    tree: object
    home: Keys
    arrays: Mapping[Keys, Stored]
    model: frozenset[Keys]

    def rebuilt(self, leaf: Callable[[Keys, object], object]) -> Any:
        """The same tree with each leaf replaced by what ``leaf`` gives for it, or LEFT_OUT; it gets arrays Stored."""
        return self._rebuilt((), self.tree, leaf)

    def _rebuilt(self, keys: Keys, value: object, leaf: Callable[[Keys, object], object]) -> object:
        if isinstance(value, dict):
            inside = ((key, self._rebuilt((*keys, str(key)), one, leaf)) for key, one in value.items())
            return {key: one for key, one in inside if one is not LEFT_OUT}
        if isinstance(value, (list, tuple)):
            # The reader has refused what is nested too deeply.
            generator = (self._rebuilt((*keys, str(place)), one, leaf) for place, one in enumerate(value))
            return type(value)([one for one in generator if one is not LEFT_OUT])
        return leaf(keys, self.arrays.get(keys, value))


@dataclass(frozen=True, slots=True)
class Weights:
    """What a weight file holds, in the file's order.

    ``sections`` splits the arrays by what they are: the model's weights under "" (their names without the keys they
    were nested under), and whatever else was saved beside them under its own key ("optimizer", "ema", ...).
    ``nested`` is the key that held the model's weights ("state_dict"), "" where they lay at the top. ``others`` are the
    plain values of the file (epoch, ...), by dotted name. ``whole`` is a nested file as it is.
    """

    path: Path
    format: str
    sections: Mapping[str, Mapping[str, Stored]]
    nested: str = ""
    others: Mapping[str, object] = field(default_factory=dict)
    whole: Nested | None = field(default=None, repr=False, compare=False)

    @property
    def model(self) -> Mapping[str, Stored]:
        """The model's weights by name."""
        return self.sections.get(MODEL, {})

    def check_worth(self) -> None:
        """An OverBudget where it has more arrays, or deeper ones, than its files are worth."""
        budget = Budget(self.path, 0)
        for path in {stored.path: None for section in self.sections.values() for stored in section.values()}:
            budget.widen(mapped(path).size)
        for section in self.sections.values():
            for name in section:
                deep = max(0, name.count(".") - _USUAL_PARTS)
                budget.hold(_ARRAY_BYTES + 4 * len(name) + deep * (_MODULE_BYTES + len(name)))
                budget.spend(_ARRAY_WORK)
