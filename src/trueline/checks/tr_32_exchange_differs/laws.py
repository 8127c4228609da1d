"""Ranks make the same calls in the same order, what arrives is what went in, and it is waited for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import prod

from trueline.checks.engine.check import check, na, none, undecided
from trueline.checks.evidence.exchanges import JOIN, RECEIVES, SENDS, Call, Calls, shapes
from trueline.checks.laws.engine import heard_of_all, judged, ranks_law
from trueline.checks.laws.law import Breach, Lines, RanksLaw
from trueline.checks.tr_32_exchange_differs.results import Difference, difference
from trueline.formats.run_folder.reader import Run
from trueline.model.events import Event, ExchangeEvent, StepEvent
from trueline.model.finding import Conclusion, Finding

# Each rank may give another number of rows to these.
_UNEVEN = ("all_gather", "gather", "scatter", "all_to_all", "all_to_all_single")
# The share of the trained elements from which on what is reduced are the gradients.
_GRADIENTS = 0.5


@ranks_law
class SameCallsInTheSameOrder(RanksLaw):
    """The n-th call of a group is the same on all ranks: kind, operation, root, shapes, and whose gradient it is."""

    hears = (ExchangeEvent,)

    def __init__(self, run: Run, lines: Mapping[int, Lines]) -> None:
        super().__init__(run, lines)
        self._calls = Calls()
        # Ranks that have no batches left make fewer calls, and the framework answers in their place.
        self._joined = False

    def hear(self, rank: int, event: Event, /) -> Iterator[Breach]:
        assert isinstance(event, ExchangeEvent)
        self._joined = self._joined or event.kind == JOIN
        call = self._calls.add(rank, event) if event.group and not self._joined else None
        if call is None or event.kind in SENDS + RECEIVES:
            return
        self.looked += 1
        yield from self._compared(call)

    def _compared(self, call: Call) -> Iterator[Breach]:
        for said, facts in (
            ("tr_32.other_call", {rank: event.kind for rank, event in call.items()}),
            ("tr_32.other_operation", {rank: event.op for rank, event in call.items()}),
            ("tr_32.other_root", {rank: event.peer for rank, event in call.items()}),
            ("tr_32.other_shapes", {rank: _comparable(event) for rank, event in call.items()}),
            ("tr_32.other_parameter", {rank: event.parameter for rank, event in call.items()}),
        ):
            texts = {rank: str(fact) for rank, fact in facts.items()}
            if len(set(texts.values())) > 1 and None not in facts.values():
                odd = _odd(texts)
                first = next(rank for rank in sorted(texts) if texts[rank] != texts[odd])
                yield Breach(
                    said,
                    self.at(odd, call[odd]),
                    evidence=[{"rank": rank, "call": call[rank].kind, "is": texts[rank]} for rank in sorted(call)[:16]],
                    params={
                        "kind": call[odd].kind,
                        "rank": odd,
                        "own": texts[odd],
                        "other": first,
                        "others": texts[first],
                        "number": call[odd].number,
                    },
                )
                return


def _comparable(event: ExchangeEvent) -> object:
    return "" if event.kind in _UNEVEN else shapes(event)


def _odd(texts: Mapping[int, str]) -> int:
    """The last rank of those that are fewest."""
    counts = Counter(texts.values())
    return min(sorted(texts, reverse=True), key=lambda rank: counts[texts[rank]])


@ranks_law
class ResultsFollowFromWhatWentIn(RanksLaw):
    """A sum is the sum of what the ranks gave; a part that arrives is the part that was sent."""

    hears = (ExchangeEvent,)

    def __init__(self, run: Run, lines: Mapping[int, Lines]) -> None:
        super().__init__(run, lines)
        self._calls = Calls()

    def hear(self, rank: int, event: Event, /) -> Iterator[Breach]:
        assert isinstance(event, ExchangeEvent)
        call = self._calls.add(rank, event) if event.group else None
        if call is None:
            return
        found = difference(call)
        if found is None:
            return
        self.looked += 1
        if isinstance(found, Difference):
            # What was sent is where it can be put right.
            at = found.sender if found.sender is not None else found.rank
            yield Breach(
                f"tr_32.{found.said}",
                self.at(at, call[at]),
                measured=found.measured,
                limit=found.limit,
                evidence=[
                    {"rank": found.rank, "sender": found.sender, "piece": found.piece, "call": call[found.rank].kind}
                ],
                params={"kind": call[at].kind, "rank": found.rank, "other": found.sender},
            )


@ranks_law
class ResultsAreWaitedFor(RanksLaw):
    """What is being reduced when an optimizer updates is not part of that update."""

    hears = (ExchangeEvent, StepEvent)

    def __init__(self, run: Run, lines: Mapping[int, Lines]) -> None:
        super().__init__(run, lines)
        self._pending: dict[int, list[tuple[int, ExchangeEvent]]] = {}
        self._norms: dict[int, dict[int, list[float | None]]] = {}
        self._joined = False

    def hear(self, rank: int, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, StepEvent):
            self._norms.setdefault(event.step, {}).setdefault(rank, []).append(event.grad_norm)
            self._norms.pop(event.step - 64, None)
        elif isinstance(event, ExchangeEvent) and event.kind == JOIN:
            self._joined = True
        elif isinstance(event, ExchangeEvent) and event.deferred and not self._joined:
            self.looked += 1
            if event.pending and len(self._pending) < 4:
                self._pending.setdefault(event.step, []).append((rank, event))
        yield from ()

    def ended(self) -> Iterator[Breach]:
        trained = sum(prod(param.shape) for param in self.run.rank(self.run.ranks[0]).params if param.trainable)
        for step, pending in sorted(self._pending.items())[:1]:
            rank, event = pending[0]
            norms = self._norms.get(step, {})
            apart = len({str(of) for of in norms.values()}) > 1
            elements = sum(prod(part.shape) for number, call in pending if number == rank for part in call.sent)
            yield Breach(
                "tr_32.not_waited",
                self.at(rank, event),
                sure=apart and elements >= _GRADIENTS * trained > 0,
                evidence=[{"step": step, "calls": len(pending), "elements": elements}],
                params={"kind": event.kind, "step": step},
            )


@check("tr.32", "what ranks send one another does not match")
def from_laws(run: Run) -> Iterator[Finding]:
    """All calls between ranks."""
    if len(run.ranks) < 2:
        yield na("tr_32.one_rank")
        return
    laws = (SameCallsInTheSameOrder, ResultsFollowFromWhatWentIn, ResultsAreWaitedFor)
    told = judged(run, *laws, kept="tr_32.kept", unseen="tr_32.unseen")
    problems = [finding for finding in told if finding.conclusion in (Conclusion.FOUND, Conclusion.SUSPECT)]
    yield from problems
    looked = {law.__name__: heard_of_all(run)[law].looked for law in laws}
    if not problems and looked[ResultsFollowFromWhatWentIn.__name__]:
        yield none("tr_32.kept", evidence=[dict(looked)], looked=sum(looked.values()))
    elif not problems:
        yield undecided("tr_32.unseen")
