"""Batches as they are fetched, or as they enter a network where no loader has fetched them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from trueline.adapters.nouns import Loader, LoaderFacts, Value
from trueline.adapters.tree import leaves
from trueline.model.run import EventName
from trueline.record.batches import Laid, describe_batch, lay_out
from trueline.record.observers import SilentObserver

if TYPE_CHECKING:
    from trueline.record.recorded import Recorded

# So many batches of each loader are looked at closely.
_EARLY_BATCHES: Final = 3


class DataObserver(SilentObserver):
    """A fetched batch waits until it is seen in use; asking for one may end the step."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded, self._values = recorded, recorded.values
        self._training, self._boundaries = recorded.recorder.training, recorded.recorder.boundaries
        self._kept = recorded.recorder.kept
        self._asked_at = 0.0

    def loader_began(self, loader: Loader, facts: LoaderFacts) -> None:
        number = self._training.loader_index(loader, facts)
        self._boundaries.data_wanted(loader)
        line = self._recorded.line()
        at = line.line_json() if line is not None else None
        self._kept.event(EventName.LOADER, loader=number, **facts, at=at)

    def fetch_began(self, loader: Loader) -> None:
        self._boundaries.data_wanted(loader)
        self._asked_at = time.perf_counter()

    def fetched(self, loader: Loader, batch: Value, indexes: Sequence[int] | None) -> None:
        waited = time.perf_counter() - self._asked_at
        if not self._boundaries.open.active:
            self._boundaries.open.began = time.perf_counter()
        laid = lay_out(batch, self._values, indexes)
        event = self._kept.new_event(
            EventName.BATCH,
            source="loader",
            loader=self._training.loader_known(loader),
            waited=round(waited, 6),
            samples=describe_batch(laid, indexes, closely=self._is_early(id(loader))).to_json(),
        )
        self._notice_expanded(laid)
        if self._kept.whole is not None:
            self._notice_too_large(self._kept.whole.add(event, id(loader), laid))
        tensors = [tensor for _, tensor in leaves(batch, self._values.is_tensor)]
        self._boundaries.waiting.add(event, tensors, id(loader))

    def loader_ended(self, loader: Loader) -> None:
        self._boundaries.data_wanted(loader)

    def entered(self, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        """A network is called with these: they are the batch where none was fetched."""
        step, whole = self._boundaries.open, self._kept.whole
        if not step.fetched and not step.backward and not self._has_batch():
            laid = lay_out((args, dict(kwargs)), self._values, None)
            samples = describe_batch(laid, None, closely=self._is_early(None)).to_json()
            event = self._kept.event(EventName.BATCH, source="forward", loader=None, waited=0.0, samples=samples)
            if whole is not None:
                self._notice_too_large(whole.add(event, None, laid, from_loader=False))
            self._notice_expanded(laid)
        elif whole is not None:
            given = {**{str(place): value for place, value in enumerate(args)}, **kwargs}
            self._notice_too_large(whole.enter(step.events, given, self._values))

    def _has_batch(self) -> bool:
        return any(event.name is EventName.BATCH for event in self._boundaries.open.events)

    def _is_early(self, loader: int | None) -> bool:
        """Whether this is one of the first batches of a loader."""
        seen = self._kept.counts.batches
        seen[loader] = seen.get(loader, 0) + 1
        return seen[loader] <= _EARLY_BATCHES

    def _notice_expanded(self, laid: Laid) -> None:
        for name in laid.left_out:
            self._kept.notice("record.field_expanded", field=name)

    def _notice_too_large(self, left_out: str | None) -> None:
        if left_out is not None:
            self._kept.notice(left_out)
