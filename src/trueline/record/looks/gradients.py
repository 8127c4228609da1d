"""Which of an optimizer's parameters get no gradient, or one of zeros, and which it should hold and does not."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trueline.adapters.nouns import Group, Unreadable, Value
from trueline.adapters.protocol import Adapter
from trueline.model.json_value import JsonObject
from trueline.model.run import EventName
from trueline.record.looks.weights import MAX_ELEMENTS
from trueline.record.looks.when import due
from trueline.record.networks import Place
from trueline.record.recorder import Recorder

_MAX_SHAPES = 16


class GradientLook:
    """Looks at the gradients that an optimizer is given."""

    def __init__(self, recorder: Recorder, adapter: Adapter) -> None:
        self._training, self._kept = recorder.training, recorder.kept
        self._values = adapter.values
        self._counts = recorder.kept.counts.gradients

    def look(self, optimizer: int, groups: Sequence[Group], gradients: Sequence[tuple[Value, Value]] | None) -> None:
        """Tell of an optimizer's gradients where a look is due."""
        number = self._counts.get(optimizer, 0)
        self._counts[optimizer] = number + 1
        if gradients is None or not due(number):
            return
        for root in self._training.networks.roots:
            if root.module() is not None:
                self._kept.meet_parameters(root)
        given = {id(parameter): gradient for parameter, gradient in gradients}
        none: list[Place] = []
        zero: list[Place] = []
        strangers: list[list[int]] = []
        elements = zeros = held = 0
        for parameter in (parameter for group in groups for parameter in group.parameters):
            held += 1
            named = self._training.parameters.find(parameter)
            gradient = given.get(id(parameter))
            if named is None:
                strangers.append(list(self._values.shape(parameter)))
                continue
            name = named.place_of_leaf
            if gradient is None:
                none.append(name)
                continue
            if elements > MAX_ELEMENTS:
                continue
            there, empty = self._counted(gradient)
            elements, zeros = elements + there, zeros + empty
            if there and there == empty:
                zero.append(name)
        self._kept.event(
            EventName.GRADIENTS,
            optimizer=optimizer,
            update=number,
            held=held,
            none=none,
            zero=zero,
            strangers=len(strangers),
            stranger_shapes=strangers[:_MAX_SHAPES],
            unheld=self._unheld(),
            strays=self._strays(),
            elements=elements,
            zeros=zeros,
        )

    def _counted(self, gradient: Value) -> tuple[int, int]:
        try:
            array = self._values.to_numpy(gradient)
        except Unreadable:
            return 0, 0
        return int(array.size), int(array.size - np.count_nonzero(array))

    def _strays(self) -> list[JsonObject]:
        """Modules with parameters that are called and not registered: are they still there, held, reached?"""
        found: list[JsonObject] = []
        for stray in self._training.networks.strays:
            alive = [parameter for known in stray.parameters if (parameter := known()) is not None]
            gradients = [self._values.gradient(parameter) for parameter in alive]
            found.append(
                {
                    "path": stray.place.full,
                    "parameters": len(stray.parameters),
                    "alive": stray.module() is not None,
                    "held": any(self._training.parameters.is_held(parameter) for parameter in alive),
                    "reached": any(gradient is not None for gradient in gradients),
                }
            )
        return found

    def _unheld(self) -> list[Place]:
        """Parameters that no optimizer holds and that a gradient has reached all the same."""
        found: list[Place] = []
        for root in self._training.networks.roots:
            module = root.module()
            own = list(root.adapter.values.tensors(module)) if module is not None else []
            # A network of which nothing is held, as one that only measures a distance, is meant to stay as it is.
            if not any(self._training.parameters.is_held(tensor.value) for tensor in own):
                continue
            for tensor in own:
                if not tensor.trainable or self._training.parameters.is_held(tensor.value):
                    continue
                gradient = root.adapter.values.gradient(tensor.value)
                if gradient is not None:
                    there, empty = self._counted(gradient)
                    if empty < there:
                        found.append(Place(root, tensor.name))
        return found
