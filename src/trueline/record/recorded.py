"""One framework's side of a recording: its observers, and what they share with those that take part in it."""

from __future__ import annotations

from trueline.adapters.lines import user_line
from trueline.adapters.protocol import Adapter
from trueline.model.location import Location
from trueline.record.call_observer import CallObserver
from trueline.record.data_observer import DataObserver
from trueline.record.exchange_observer import ExchangeObserver
from trueline.record.observers import Observers
from trueline.record.operator_observer import OperatorObserver
from trueline.record.recorder import Recorder
from trueline.record.update_observer import UpdateObserver


class Recorded:
    """Batches are ``data``, the calls of modules ``calls``, gradients and what is done with them ``updates``,
    what ranks send one another ``exchanges``."""

    def __init__(self, recorder: Recorder, adapter: Adapter, observers: Observers) -> None:
        self.recorder = recorder
        self.adapter = adapter
        self.values = adapter.values
        self.observers = observers
        self.data = DataObserver(self)
        self.calls = CallObserver(self)
        self.updates = UpdateObserver(self)
        self.operators = OperatorObserver(self)
        self.exchanges = ExchangeObserver(self)
        for observer in (self.data, self.calls, self.updates, self.operators, self.exchanges):
            observers.put_last(observer)

    def line(self) -> Location | None:
        """The user's line that runs now."""
        return self.recorder.training.project.line(user_line(self.adapter.build.package()))
