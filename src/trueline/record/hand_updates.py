"""Updates that a script makes by itself, without an optimizer: seen in what has become of parameters since backward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

import numpy as np

from trueline.adapters.identity import Reference, reference
from trueline.adapters.nouns import Unreadable, Value
from trueline.adapters.protocol import Values
from trueline.kernel.array import Array

# So many parameters are followed, the smallest, and so many of their numbers.
_FOLLOWED: Final = 4
_NUMBERS: Final = 256
_Form = frozenset[tuple[int, ...]]


@dataclass(slots=True, eq=False)
class _Followed:
    """A parameter as backward has left it: its version, some of its numbers and of its gradient's."""

    parameter: Reference
    identity: int
    shape: tuple[int, ...]
    version: int | None
    numbers: Array | None
    gradient: Array | None
    # Whether the gradient waits at the parameter until the script takes it away.
    waits: bool
    # Whether it is a value that was handed to the function: what becomes of it says nothing, the next one may.
    handed: bool
    # The pass that has reached it.
    passed: int

    @property
    def moves_nothing(self) -> bool:
        """Whether an update with this gradient could not be seen: it is zero, or has no finite number."""
        return self.gradient is not None and not (np.isfinite(self.gradient) & (self.gradient != 0)).any()

    @property
    def is_spoilt(self) -> bool:
        """Whether there are numbers in its gradient that are not finite."""
        return self.gradient is not None and not np.isfinite(self.gradient).all()


class HandUpdates:
    """Follows a few parameters from one backward to the next forward or backward, while no optimizer updates.

    An optimizer that updates every so many passes does so until there are more of them without it than ever before.
    An update has been made when their numbers have changed, they are gone, or their gradients were cleared. Values that
    are handed to a function are updated where others with other numbers are handed to it in their place; another
    training begins where what is handed now has a part neither in this iteration nor in the one before, which were
    alike.
    """

    def __init__(self, values: Values) -> None:
        self.possible = True
        # Passes since an optimizer was last heard of, and the most there were before an update of one.
        self._passes = self._most_passes = 0
        self._values = values
        self._followed: list[_Followed] = []
        self._parameters: list[Reference] = []
        self._handed: frozenset[int] = frozenset()
        # What was handed to functions in this iteration and in the one before, by its shapes.
        self._forms: set[_Form] = set()
        self._forms_before: set[_Form] = set()
        self._cleared = False
        # Whether others have taken the place of what was handed to a function, and came of its gradients.
        self.used = False
        self._spoilt = False

    def optimizer_seen(self, *, updates: bool = False) -> None:
        """There is an optimizer, and what it does is told."""
        if updates:
            self._most_passes = max(self._most_passes, self._passes)
        self.possible, self._passes = False, 0
        self.forget()

    def backward_begins(self) -> None:
        """One more pass, which an optimizer will use or not."""
        self._passes += 1
        if self._most_passes and self._passes > self._most_passes:
            self.possible = True

    def forget(self) -> None:
        """A new iteration begins."""
        self._followed, self._parameters, self._cleared = [], [], False
        self._forms_before, self._forms = self._forms, set()
        self.used = self._spoilt = False

    def handed(self, given: Sequence[Value]) -> None:
        """A function is differentiated that is given these."""
        self._handed = frozenset(id(value) for value in given if not _is_declared(value))
        if given and self.possible:
            self._forms.add(self._form(given))

    def of_handed(self, pairs: Sequence[tuple[Value, Value]]) -> list[tuple[Value, Value]]:
        """Those of values that were handed to a function: what becomes of them is not seen."""
        return [(value, gradient) for value, gradient in pairs if gradient is not None and id(value) in self._handed]

    def cleared(self) -> None:
        """A network's gradients were cleared as a whole."""
        self._cleared = bool(self._followed)

    def pulled(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        """Backward has reached these parameters, with these gradients."""
        if not self.possible:
            return
        fresh = {id(parameter) for parameter, _ in pairs}
        kept = [followed for followed in self._followed if followed.identity not in fresh]
        smallest = sorted(pairs, key=lambda pair: int(np.prod(self._values.shape(pair[0]))))[:_FOLLOWED]
        self._followed = [
            *kept[: 2 * _FOLLOWED],
            *(self._follow(parameter, gradient) for parameter, gradient in smallest),
        ]
        self._spoilt = self._spoilt or any(followed.is_spoilt for followed in self._followed)
        known = {id(parameter) for parameter in self.parameters}
        self._parameters += [reference(parameter) for parameter, _ in pairs if id(parameter) not in known]
        self._cleared = False

    @property
    def parameters(self) -> list[Value]:
        """Those that are still there."""
        return [parameter for known in self._parameters if (parameter := known()) is not None]

    def made(self, using: Sequence[Value] = ()) -> bool:
        """Whether an update was made since; ``using`` are the parameters that the next backward would reach."""
        if not self._followed:
            return False
        if self._cleared or any(map(self._has_changed, self._followed)):
            return True
        if all(followed.moves_nothing and not followed.handed for followed in self._followed):
            return True
        passes = groupby(self._followed, key=lambda followed: followed.passed)
        if any(self._are_replaced(list(reached), using) for _, reached in passes):
            # Nothing finite comes of a gradient that is not: it was thrown away.
            self.used = not (self._spoilt and all(map(self._is_finite, using)))
            return True
        self.used = self._is_another_training(using)
        return self.used

    def _is_another_training(self, using: Sequence[Value]) -> bool:
        """Whether the same was handed as in the iteration before, and something else is handed now."""
        return bool(using) and self._forms == self._forms_before and self._form(using) not in self._forms

    def _are_replaced(self, followed: Sequence[_Followed], using: Sequence[Value]) -> bool:
        """Whether others of the same shapes have taken the place of a pass's, as where parameters are handed around.

        Parameters of a network take the place of none, and what has the same numbers was not updated.
        """
        if any(parameter.parameter() is given for parameter in followed for given in using):
            return False
        undeclared = [value for value in using if not _is_declared(value)]
        shapes = {self._values.shape(value) for value in undeclared}
        return all(parameter.shape in shapes for parameter in followed) and not all(
            any(self._is_equal(parameter, given) for given in undeclared) for parameter in followed
        )

    def _form(self, given: Sequence[Value]) -> _Form:
        return frozenset(map(self._values.shape, given))

    def _is_finite(self, given: Value) -> bool:
        numbers = self._numbers(given)
        return numbers is not None and bool(np.isfinite(numbers).all())

    def _is_equal(self, followed: _Followed, given: Value) -> bool:
        if followed.numbers is None or followed.shape != self._values.shape(given):
            return False
        numbers = self._numbers(given)
        return numbers is not None and numbers.tobytes() == followed.numbers.tobytes()

    def _follow(self, parameter: Value, gradient: Value) -> _Followed:
        return _Followed(
            reference(parameter),
            id(parameter),
            self._values.shape(parameter),
            self._values.version(parameter),
            self._numbers(parameter),
            self._numbers(gradient) if gradient is not None else None,
            self._values.gradient(parameter) is not None,
            id(parameter) in self._handed,
            self._passes,
        )

    def _has_changed(self, followed: _Followed) -> bool:
        parameter = followed.parameter()
        if parameter is None:
            return not followed.handed
        if self._values.version(parameter) != followed.version:
            return True
        now = self._numbers(parameter)
        if now is not None and followed.numbers is not None and now.tobytes() != followed.numbers.tobytes():
            return True
        return followed.waits and self._is_cleared(parameter, followed)

    def _is_cleared(self, parameter: Value, followed: _Followed) -> bool:
        gradient = self._values.gradient(parameter)
        if gradient is None:
            return True
        now = self._numbers(gradient)
        return now is not None and not now.any() and followed.gradient is not None and bool(followed.gradient.any())

    def _numbers(self, tensor: Value) -> Array | None:
        try:
            return np.array(self._values.to_numpy(tensor).flat[:_NUMBERS])
        except (Unreadable, ValueError, TypeError):
            return None


def _is_declared(tensor: Value) -> bool:
    """Whether a tensor is a network's parameter by its type, in either framework."""
    return any(kind.__name__ == "Parameter" for kind in type(tensor).__mro__)
