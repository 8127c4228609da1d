"""What ranks send one another: every call in the first steps, with numbers of what goes in and what comes out."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from trueline.adapters.exchange import EXCHANGE, JOIN, Exchange, Moment
from trueline.adapters.identity import ByIdentity
from trueline.adapters.nouns import Optimizer, Unreadable, Value
from trueline.kernel import UnsupportedDtype, fingerprint
from trueline.kernel.array import Array
from trueline.model.json_value import JsonObject
from trueline.model.key import Phase
from trueline.model.numbers import encode
from trueline.model.run import EventName
from trueline.record.looks.when import due
from trueline.record.networks import Place
from trueline.record.observers import SilentObserver
from trueline.record.open_step import OpenEvent

if TYPE_CHECKING:
    from trueline.record.recorded import Recorded

# Of so many steps every call is written down; later those of the steps that are looked at.
_STEPS_WITH_CALLS: Final = 24
_MAX_CALLS_OF_STEP: Final = 512
# Of a step's calls so many elements are read.
_MAX_ELEMENTS_OF_STEP: Final = 1 << 23
# A tensor is summed up in so many pieces, so that one that is lost shows.
_PIECES: Final = 8
# How often in a step gradients are looked for that a known one is not among.
_MAX_SEARCHES: Final = 8
_BETWEEN_TWO: Final = ("send", "isend", "recv", "irecv")


class ExchangeObserver(SilentObserver):
    """Hears of exchanges; numbers each by its place among those of its group, which is the same on all ranks."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded, self._values = recorded, recorded.values
        self._recorder = recorded.recorder
        self._boundaries, self._kept = self._recorder.boundaries, self._recorder.kept
        self._numbers: dict[tuple[int | str, ...], int] = {}
        self._open: dict[Exchange, tuple[OpenEvent, bool]] = {}
        self._step: object = None
        self._calls = self._elements = self._searches = 0
        self._gradients: ByIdentity[Place] = ByIdentity()

    def aside(self, what: str, **facts: Any) -> None:
        if what == EXCHANGE:
            exchange: Exchange = facts["exchange"]
            moment: Moment = facts["moment"]
            if moment is Moment.BEGINS:
                self._begins(exchange)
            elif moment is Moment.ENDED:
                self._ended(exchange)
            else:
                self._open.pop(exchange, None)

    def step_began(self, optimizer: Optimizer, gradients: Sequence[tuple[Value, Value]] | None) -> None:
        for exchange, (event, _) in self._open.items():
            if exchange.kind.startswith(("all_reduce", "reduce")):
                event.fields["pending"] = True

    def _begins(self, exchange: Exchange) -> None:
        if exchange.kind == JOIN:
            self._kept.event(EventName.EXCHANGE, kind=JOIN, group=[], number=0)
            return
        among = _sequence(exchange)
        number = self._numbers.get(among, 0)
        self._numbers[among] = number + 1
        step = self._boundaries.steps[Phase.TRAIN]
        if self._step != (step, self._boundaries.steps[Phase.EVAL]):
            self._step = (step, self._boundaries.steps[Phase.EVAL])
            self._calls = self._elements = self._searches = 0
            self._gradients = ByIdentity()
        looked = due(step + 1) or due(step)
        if self._calls >= _MAX_CALLS_OF_STEP or not (looked or step < _STEPS_WITH_CALLS):
            return
        self._calls += 1
        line = self._recorded.line()
        event = self._kept.event(
            EventName.EXCHANGE,
            kind=exchange.kind,
            op=exchange.op,
            group=list(exchange.group),
            group_name=exchange.group_name,
            number=number,
            peer=exchange.peer,
            tag=exchange.tag,
            sent=[self._part(tensor, looked) for tensor in exchange.sent],
            received=[],
            read=False,
            deferred=exchange.deferred,
            pending=False,
            line=None if line is None else line.line_json(),
        )
        if looked:
            event.fields["parameter"] = self._name(exchange)
        self._open[exchange] = (event, looked)

    def _ended(self, exchange: Exchange) -> None:
        event, looked = self._open.pop(exchange, (None, False))
        if event is not None:
            event.fields["received"] = [self._part(tensor, looked) for tensor in exchange.received]
            event.fields["read"] = True
        exchange.sent = exchange.received = ()

    def _name(self, exchange: Exchange) -> Place | None:
        """The parameter whose gradient is sent, or which is sent itself."""
        if len(exchange.sent) != 1:
            return None
        tensor = exchange.sent[0]
        training = self._recorder.training
        named = training.parameters.find(tensor)
        if named is not None:
            return named.place_of_leaf
        found = self._gradients.get(tensor)
        if found is None and self._searches < _MAX_SEARCHES:
            self._gradients = self._known_gradients()
            found = self._gradients.get(tensor)
        return found

    def _known_gradients(self) -> ByIdentity[Place]:
        known: ByIdentity[Place] = ByIdentity()
        self._searches += 1
        for root in self._recorder.training.networks.roots:
            module = root.module()
            for tensor in root.adapter.values.tensors(module) if module is not None else ():
                gradient = None if tensor.buffer else self._values.gradient(tensor.value)
                named = self._recorder.training.parameters.find(tensor.value)
                if gradient is not None and named is not None:
                    known.set(gradient, named.place_of_leaf)
        return known

    def _part(self, tensor: Value, looked: bool) -> JsonObject:
        try:
            shape = list(self._values.shape(tensor))
        except (Unreadable, AttributeError):
            return {"shape": [], "dtype": ""}
        part: dict[str, Any] = {"shape": [int(side) for side in shape], "dtype": _dtype(tensor)}
        elements = int(np.prod(shape, dtype=np.int64))
        if looked and self._elements + elements <= _MAX_ELEMENTS_OF_STEP:
            self._elements += elements
            with contextlib.suppress(Unreadable, UnsupportedDtype, TypeError):
                part |= _numbers(self._values.to_numpy(tensor))
        return part


def _dtype(tensor: Value) -> str:
    return str(getattr(tensor, "dtype", "")).rpartition(".")[2].lower()


def _sequence(exchange: Exchange) -> tuple[int | str, ...]:
    """Within which calls are in one order: those of a group, or those from one rank to another."""
    if exchange.kind in _BETWEEN_TWO:
        return (exchange.kind.lstrip("i"), -1 if exchange.peer is None else exchange.peer, exchange.tag or 0)
    return (exchange.group_name, *exchange.group)


def _numbers(array: Array) -> dict[str, Any]:
    """A fingerprint, and sums of pieces: those of a sum are the sums of what went into it."""
    flat = np.ascontiguousarray(array).reshape(-1)
    told: dict[str, Any] = {"fingerprint": f"{fingerprint(flat):016x}"}
    if not flat.size or flat.dtype.kind == "c":
        return told
    numbers = flat.astype(np.float64)
    starts = np.unique(np.linspace(0, flat.size, _PIECES, endpoint=False).astype(np.int64))
    with np.errstate(all="ignore"):
        sums, sizes = np.add.reduceat(numbers, starts), np.add.reduceat(np.abs(numbers), starts)
    return told | {
        "sums": [encode(float(value)) for value in sums],
        "sizes": [encode(float(value)) for value in sizes],
        "least": encode(float(numbers.min())),
        "most": encode(float(numbers.max())),
    }
