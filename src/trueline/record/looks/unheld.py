"""Whether what gets gradients is held by an optimizer, and moves in the step: looked at in every one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from trueline.adapters.identity import Reference, reference
from trueline.adapters.nouns import Group, Network, Tensor, Unreadable, Value
from trueline.adapters.protocol import Adapter
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.record.looks.ties import TiesLook
from trueline.record.networks import Place, Root
from trueline.record.open_step import Field, OpenStep
from trueline.record.training import Training

_MAX_NAMES: Final = 16
# So many parameters are followed through the step, and so many of their numbers.
_FOLLOWED: Final = 6
_NUMBERS: Final = 64
# What stays as it is is told so often: a second time says that the first was no accident.
_TOLD: Final = 2


@dataclass(slots=True, eq=False)
class _Followed:
    parameter: Reference
    version: int | None
    numbers: Array | None


@dataclass(slots=True, eq=False)
class _Open:
    """What was seen as an optimizer began to update, and is told if the step does not move it."""

    key: tuple[object, ...]
    fields: dict[str, Field]
    followed: list[_Followed]


class UnheldLook:
    """Looks at the networks that were called in training as an optimizer updates."""

    def __init__(self, training: Training, adapter: Adapter) -> None:
        self._training, self._adapter, self._values = training, adapter, adapter.values
        self._pulled: dict[int, Value] | None = None
        self.ties = TiesLook(training, adapter)
        self._open: list[_Open] = []
        # Parameters that want no gradient and are given one, with what is told of them if they move.
        self._frozen: list[tuple[_Open, list[Place]]] = []
        self._told: Counter[tuple[object, ...]] = Counter()
        self._frozen_told: Counter[tuple[object, ...]] = Counter()

    def pulled(self, parameters: Sequence[Value]) -> None:
        """A backward pass has handed out gradients of these, which do not wait at them."""
        self._pulled = {**(self._pulled or {}), **{id(parameter): parameter for parameter in parameters}}

    def updating(
        self,
        step: OpenStep,
        optimizer: int,
        built: Location | None,
        groups: Sequence[Group],
        gradients: Sequence[tuple[Value, Value]] | None,
    ) -> None:
        """An optimizer, built on this line, is about to update."""
        handed, self._pulled = self._pulled, None
        if gradients is None or self._open:
            return
        own = {id(parameter) for group in groups for parameter in group.parameters}
        walked = [(inner, list(self._values.tensors(inner))) for inner in self._called(step, handed)]
        given = {id(parameter) for parameter, _ in gradients}
        reached = self._reached(walked, handed, given)
        self._note_frozen(walked, optimizer, built, given)
        if {id(tensor.value) for _, tensor in reached} <= own:
            self._told.clear()
            return
        held = own | self._held_elsewhere()
        unheld = [(module, tensor) for module, tensor in reached if id(tensor.value) not in held]
        if unheld:
            self._note(step, optimizer, built, groups, handed, given, reached, unheld)
        else:
            self._told.clear()

    def _reached(
        self, walked: Sequence[tuple[Network, list[Tensor]]], handed: dict[int, Value] | None, given: set[int]
    ) -> list[tuple[Network, Tensor]]:
        """The parameters of the networks that have a gradient, each once."""
        found: dict[int, tuple[Network, Tensor]] = {}
        for inner, tensors in walked:
            self.ties.look(inner, self._root(inner), tensors)
            for tensor in tensors:
                if not tensor.trainable:
                    continue
                place = id(tensor.value)
                if handed is not None:
                    there = place in handed
                else:
                    # Not asked where it is known: a call for every parameter of every step.
                    there = place in given or self._values.gradient(tensor.value) is not None
                if there:
                    found.setdefault(place, (inner, tensor))
        return list(found.values())

    def _called(self, step: OpenStep, handed: dict[int, Value] | None) -> list[Network]:
        """The networks that were called to be trained: where gradients are handed out, in whichever mode."""
        known = [root.module for root in step.modes] if handed is not None else list(step.called.values())
        modules = [self._values.unwrap(module) for refer in known if (module := refer()) is not None]
        return list({id(module): module for module in modules}.values())

    def _note_frozen(
        self, walked: Sequence[tuple[Network, list[Tensor]]], optimizer: int, built: Location | None, given: set[int]
    ) -> None:
        for inner, tensors in walked:
            frozen = [
                tensor for tensor in tensors if not tensor.trainable and not tensor.buffer and id(tensor.value) in given
            ][:_FOLLOWED]
            root = self._root(inner) if frozen else None
            if root is not None:
                fields: dict[str, Field] = {
                    "optimizer": optimizer,
                    "line": None if built is None else built.line_json(),
                }
                key = (optimizer, "frozen", id(inner))
                seen = _Open(key, fields, [self._follow(tensor.value) for tensor in frozen])
                self._frozen.append((seen, [Place(root, tensor.name) for tensor in frozen]))

    def _held_elsewhere(self) -> set[int]:
        """What any other optimizer holds, by now."""
        alive = (*self._adapter.build.optimizers(), *self._training.optimizers_alive())
        return {
            id(parameter)
            for optimizer in alive
            for group in self._values.groups(optimizer)
            for parameter in group.parameters
        }

    def _note(
        self,
        step: OpenStep,
        optimizer: int,
        built: Location | None,
        groups: Sequence[Group],
        handed: dict[int, Value] | None,
        given: set[int],
        reached: Sequence[tuple[Network, Tensor]],
        unheld: Sequence[tuple[Network, Tensor]],
    ) -> None:
        called = {id(tensor.value) for inner in self._called(step, handed) for tensor in self._values.tensors(inner)}
        moving = handed if handed is not None else given
        held = [parameter for group in groups for parameter in group.parameters]
        idle = [parameter for parameter in held if id(parameter) not in moving]
        foreign = [parameter for parameter in held if id(parameter) not in called]
        for module in dict.fromkeys(id(module) for module, _ in unheld):
            own = [tensor for inner, tensor in unheld if id(inner) == module]
            root = self._root(next(inner for inner, _ in unheld if id(inner) == module))
            if root is None:
                continue
            fields: dict[str, Field] = {
                "optimizer": optimizer,
                "network": Place(root, ""),
                "names": [Place(root, tensor.name) for tensor in own[:_MAX_NAMES]],
                "count": len(own),
                "reached": sum(id(inner) == module for inner, _ in reached),
                "held": len(held),
                "idle": len(idle),
                "outside": sum(id(parameter) not in called for parameter in idle),
                "alike": self._are_alike(foreign, own),
                "line": None if built is None else built.line_json(),
            }
            key = (optimizer, module, *sorted(id(tensor.value) for tensor in own))
            self._open.append(_Open(key, fields, [self._follow(tensor.value) for tensor in own[:_FOLLOWED]]))

    def _root(self, module: Network) -> Root | None:
        return next((root for root in self._training.networks.roots if root.module() is module), None)

    def _are_alike(self, held: Sequence[Value], unheld: Sequence[Tensor]) -> bool:
        """Whether tensors of another place are copies of these by their shapes, or all of them in one."""
        there = Counter(self._values.shape(parameter) for parameter in held)
        here = Counter(self._values.shape(tensor.value) for tensor in unheld)
        elements = sum(prod(shape) * count for shape, count in there.items())
        return bool(there) and (
            not here - there or elements == sum(prod(shape) * count for shape, count in here.items())
        )

    def _follow(self, parameter: Value) -> _Followed:
        return _Followed(reference(parameter), self._values.version(parameter), self._numbers(parameter))

    def _numbers(self, parameter: Value) -> Array | None:
        try:
            flat = self._values.to_numpy(parameter).reshape(-1)
        except (Unreadable, ValueError, TypeError):
            return None
        return np.array(flat[:: max(1, flat.size // _NUMBERS)])

    # ---- at the end of the step

    def still(self) -> list[dict[str, Field]]:
        """What no optimizer holds and nothing has moved; each so often until it changes."""
        opened, self._open = self._open, []
        found: list[dict[str, Field]] = []
        for seen in opened:
            if not seen.followed or any(map(self._has_moved, seen.followed)):
                self._told.pop(seen.key, None)
                continue
            self._told[seen.key] += 1
            if self._told[seen.key] <= _TOLD:
                found.append(seen.fields)
        return found

    def moved(self) -> list[dict[str, Field]]:
        """What wants no gradient and has moved; each so often."""
        noted, self._frozen = self._frozen, []
        found: list[dict[str, Field]] = []
        for seen, places in noted:
            pairs = zip(places, seen.followed, strict=True)
            names = [
                place for place, followed in pairs if followed.parameter() is not None and self._has_moved(followed)
            ]
            if names and self._frozen_told[seen.key] < _TOLD:
                self._frozen_told[seen.key] += 1
                found.append({**seen.fields, "names": names, "count": len(names)})
        return found

    def _has_moved(self, followed: _Followed) -> bool:
        parameter = followed.parameter()
        if parameter is None or self._values.version(parameter) != followed.version:
            return True
        now = self._numbers(parameter)
        return now is None or followed.numbers is None or now.tobytes() != followed.numbers.tobytes()
