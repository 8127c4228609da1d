"""Parameters that are drawn anew, or filled by an initialiser, after their optimizer has updated them."""

from __future__ import annotations

from typing import Final

from trueline.adapters.lines import user_line
from trueline.adapters.nouns import Unreadable, Value
from trueline.adapters.protocol import Adapter
from trueline.model.run import EventName
from trueline.record.kept import Kept
from trueline.record.training import Training

_MAX_EVENTS: Final = 64


class InitialisedLook:
    """Before the first update nothing is looked at: networks are being built."""

    def __init__(self, training: Training, kept: Kept, adapter: Adapter) -> None:
        self._training, self._kept, self._adapter = training, kept, adapter
        self._count = 0

    def told(self, tensor: Value) -> None:
        """An initialiser has filled a tensor."""
        updates = self._kept.counts.updates
        if not updates or self._count >= _MAX_EVENTS:
            return
        values = self._adapter.values
        try:
            place = values.identity(tensor)
        except Unreadable:
            return
        for optimizer in self._training.optimizers_alive():
            held = [parameter for group in values.groups(optimizer) for parameter in group.parameters]
            filled = next((parameter for parameter in held if values.identity(parameter) == place), None)
            number = self._training.optimizer_index(optimizer, self._adapter)
            if filled is None or not updates.get(number):
                continue
            self._count += 1
            named = self._training.parameters.find(filled)
            line = self._training.project.line(user_line(self._adapter.build.package()))
            self._kept.event(
                EventName.INITIALISED,
                optimizer=number,
                parameter=named.place_of_leaf if named is not None else "",
                updates=updates[number],
                held=len(held),
                remembers=not values.is_fresh(optimizer),
                line=None if line is None else line.line_json(),
            )
