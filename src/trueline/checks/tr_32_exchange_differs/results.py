"""Whether the result of a call between ranks is what went into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final

from trueline.checks.evidence.exchanges import RECEIVES, SENDS, Call
from trueline.model.events import ExchangeEvent, Sent

# The rounding of one addition, by dtype; of whole numbers there is none.
_ROUNDING: Final = {"float64": 2.3e-16, "float32": 1.2e-7, "float16": 9.8e-4, "bfloat16": 7.9e-3}
# What sums of many rounded numbers may be off by, in roundings of each.
_ROOM: Final = 4.0


@dataclass(frozen=True, slots=True)
class Difference:
    """What ``rank`` has received is not what ``sender`` (or all, where it is None) gave; ``piece`` of its eight."""

    said: str
    rank: int
    sender: int | None = None
    piece: int | None = None
    measured: float | None = None
    limit: float | None = None


@dataclass(frozen=True, slots=True)
class Same:
    """It is."""


def difference(call: Call) -> Difference | Same | None:
    """The first difference in a complete call; None where too little was read of it."""
    kinds = {event.kind for event in call.values()}
    if all(kind in SENDS + RECEIVES for kind in kinds):
        return _judged(_between_two(call))
    if len(kinds) != 1:
        return None
    judge = _JUDGED.get(next(iter(kinds)))
    return _judged(judge(call)) if judge is not None else None


def _judged(compared: Iterator[Difference | None]) -> Difference | Same | None:
    looked = False
    for found in compared:
        looked = True
        if found is not None:
            return found
    return Same() if looked else None


def _between_two(call: Call) -> Iterator[Difference | None]:
    sender = next((rank for rank, event in call.items() if event.kind in SENDS), None)
    receiver = next((rank for rank, event in call.items() if event.kind in RECEIVES), None)
    if sender is not None and receiver is not None and call[receiver].read:
        yield from _same(call[sender].sent, call[receiver].received, receiver, sender)


def _same(sent: Sequence[Sent], received: Sequence[Sent], rank: int, sender: int | None) -> Iterator[Difference | None]:
    for here, there in zip(sent, received, strict=False):
        if here.fingerprint is not None and there.fingerprint is not None and here.dtype == there.dtype:
            apart = here.fingerprint != there.fingerprint
            yield Difference("other_values", rank, sender) if apart else None


def _broadcast(call: Call) -> Iterator[Difference | None]:
    root = next(iter(call.values())).peer
    if root is None or root not in call:
        return
    for rank, event in call.items():
        if event.read:
            yield from _same(call[root].sent, event.received, rank, root)


def _gathered(call: Call) -> Iterator[Difference | None]:
    for rank, event in call.items():
        if event.read and len(event.received) == len(event.group):
            for sender, part in zip(event.group, event.received, strict=True):
                yield from _same(call[sender].sent, [part], rank, sender)


def _scattered(call: Call) -> Iterator[Difference | None]:
    for rank, event in call.items():
        root = call.get(event.peer) if event.peer is not None else None
        if event.read and root is not None and len(root.sent) == len(event.group):
            yield from _same([root.sent[list(event.group).index(rank)]], event.received, rank, event.peer)


def _exchanged(call: Call) -> Iterator[Difference | None]:
    for rank, event in call.items():
        place = list(event.group).index(rank)
        if not event.read or len(event.received) != len(event.group):
            continue
        for sender, part in zip(event.group, event.received, strict=True):
            sent = call[sender].sent
            if len(sent) == len(event.group):
                yield from _same([sent[place]], [part], rank, sender)


def _reduced(call: Call) -> Iterator[Difference | None]:
    for rank, event in call.items():
        root_only = event.kind == "reduce"
        if event.read and len(event.received) == 1 and not (root_only and event.peer != rank):
            yield from _reduction([each.sent[:1] for each in call.values()], event.received[0], event, rank)


def _reduce_scattered(call: Call) -> Iterator[Difference | None]:
    for rank, event in call.items():
        place = list(event.group).index(rank)
        if event.read and len(event.received) == 1:
            sent = [each.sent[place : place + 1] for each in call.values() if len(each.sent) == len(event.group)]
            yield from _reduction(sent, event.received[0], event, rank)


def _reduction(
    sent: Sequence[Sequence[Sent]], received: Sent, event: ExchangeEvent, rank: int
) -> Iterator[Difference | None]:
    parts = [part for of in sent for part in of]
    rounding = _ROUNDING.get(received.dtype, 0.0 if "int" in received.dtype else None)
    known = len(parts) == len(event.group) and all(len(part.sums) == len(received.sums) for part in parts)
    if rounding is None or not known or not received.sums:
        return
    if event.op in ("max", "min"):
        yield from _extreme(parts, received, event.op, rank)
        return
    if event.op not in ("sum", "avg"):
        return
    share = 1 / len(parts) if event.op == "avg" else 1.0
    for piece, result in enumerate(received.sums):
        expected = share * sum(part.sums[piece] for part in parts)
        size = share * sum(part.sizes[piece] for part in parts)
        if not isfinite(expected) or not isfinite(result) or not isfinite(size):
            return
        allowed = _ROOM * len(parts) * rounding * size
        apart = abs(result - expected)
        # What is so small that its own dtype rounds it to zero.
        if apart > allowed + 1e-30:
            yield Difference("other_result", rank, None, piece, apart / size if size else apart, allowed)
            return
    yield None


def _extreme(parts: Sequence[Sent], received: Sent, op: str, rank: int) -> Iterator[Difference | None]:
    among = [part.most if op == "max" else part.least for part in parts]
    result = received.most if op == "max" else received.least
    known = [value for value in among if value is not None and isfinite(value)]
    if result is not None and isfinite(result) and len(known) == len(parts):
        expected = max(known) if op == "max" else min(known)
        yield Difference("other_result", rank, None, None, result, expected) if result != expected else None


_JUDGED: Final[Mapping[str, Callable[[Call], Iterator[Difference | None]]]] = {
    "all_reduce": _reduced,
    "reduce": _reduced,
    "broadcast": _broadcast,
    "all_gather": _gathered,
    "all_gather_into_tensor": _gathered,
    "all_gather_single": _gathered,
    "gather": _gathered,
    "scatter": _scattered,
    "all_to_all": _exchanged,
    "all_to_all_single": _exchanged,
    "reduce_scatter": _reduce_scattered,
    "reduce_scatter_tensor": _reduce_scattered,
    "reduce_scatter_single": _reduce_scattered,
}
