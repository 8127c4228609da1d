"""The first batches of a run, whole: what the loader handed out, and what entered the network where that differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trueline.adapters.nouns import Value
from trueline.adapters.protocol import Values
from trueline.formats.run_folder.batches import WholeBatch
from trueline.model.key import Phase
from trueline.model.run import EventName
from trueline.record.batches import Laid, lay_out
from trueline.record.open_step import OpenEvent
from trueline.record.tensors import memory_share


@dataclass(slots=True)
class _Pending:
    event: OpenEvent
    loader: int | None
    laid: Laid
    entered: bool = False


class WholeBatches:
    """Copies batches until there are enough of training and of evaluation, which share no count."""

    def __init__(self, most: int) -> None:
        self._left = dict.fromkeys(Phase, most)
        self._most_bytes = memory_share()
        self._pending: list[_Pending] = []
        # Which phases the batches of a loader went into: one that only trains is not copied for evaluation's sake.
        self._served: dict[int | None, set[Phase]] = {}

    def add(self, event: OpenEvent, loader: int | None, laid: Laid, *, from_loader: bool = True) -> str | None:
        """A batch has come; it counts once it belongs to a finished step. A notice's id where it is too large."""
        phases = self._served.get(loader) or set(Phase)
        if not any(self._left[phase] for phase in phases) or len(self._pending) >= sum(self._left.values()):
            return None
        if not self._has_room(laid.bytes):
            return "record.batch_too_large"
        copied = [(name, np.array(array)) for name, array in laid.arrays]
        kept = Laid(laid.size, copied, list(laid.texts))
        self._pending.append(_Pending(event, loader, kept, entered=not from_loader))
        return None

    def _has_room(self, size: int) -> bool:
        return sum(pending.laid.bytes for pending in self._pending) + size <= self._most_bytes

    def enter(self, events: Sequence[OpenEvent], given: Value, values: Values) -> str | None:
        """A network is called: keep of its inputs what is not the batch itself. A notice's id as in ``add``."""
        found = next(
            (pending for pending in reversed(self._pending) if any(pending.event is event for event in events)), None
        )
        if found is None or found.entered:
            return None
        found.entered = True
        known = [array for _, array in found.laid.arrays]
        for name, array in lay_out(given, values, None).arrays:
            same = any(array.shape == field.shape and np.array_equal(array, field) for field in known)
            if array.shape[0] == found.laid.size and not same:
                if not self._has_room(array.nbytes):
                    return "record.batch_too_large"
                found.laid.arrays.append((f"network.{name}", np.array(array)))
        return None

    def of_step(self, events: Sequence[OpenEvent], phase: Phase) -> list[WholeBatch] | None:
        """The batches of a finished step in the order of their events, or None."""
        found: list[WholeBatch] = []
        for event in events:
            if event.name is not EventName.BATCH:
                continue
            place = next((at for at, pending in enumerate(self._pending) if pending.event is event), None)
            if place is None:
                found.append(WholeBatch({}, {}))
                continue
            pending = self._pending.pop(place)
            self._served.setdefault(pending.loader, set()).add(phase)
            # What the script has passed over does not come any more.
            earlier = [passed for passed in self._pending[:place] if passed.loader != pending.loader]
            self._pending[:place] = earlier
            wanted = self._left[phase] > 0
            self._left[phase] -= wanted
            texts = pending.laid.texts if wanted else []
            found.append(WholeBatch(dict(pending.laid.arrays if wanted else []), {"text": texts} if texts else {}))
        return found if any(batch.arrays or batch.texts for batch in found) else None
