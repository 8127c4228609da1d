"""The order of samples, epoch after epoch, and the random numbers of workers."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.data.pipeline.answers import Facts
from trueline.data.pipeline.evidence import Evidence, read_line
from trueline.data.pipeline.judging.fault import fault, listed
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import message


def order(evidence: Evidence) -> Iterator[Finding]:
    """Not shuffled, shuffled once and for all, at its end after one epoch, alike in every worker."""
    yield from _indexes(evidence)
    yield from _stream(evidence)
    yield from _workers(evidence)
    yield from _changed(evidence)


def _indexes(evidence: Evidence) -> Iterator[Finding]:
    order = evidence.parts.get("order", {})
    facts = evidence.facts
    line = read_line(order.get("line")) or _line(facts)
    if order.get("outside"):
        text = message("data_debug.outside", index=order["outside"][0], length=facts["length"])
        yield fault("order", text, line=read_line(order.get("outside_line")) or line, samples=order["outside"])
    if not order.get("known") or order["count"][0] < 2:
        return
    if order["same"] and order.get("told"):
        text = message("data_debug.set_epoch", sampler=facts["sampler"])
        yield fault("same_order", text, line=line, conclusion=Conclusion.SUSPECT)
    elif order["same"] and not order["sorted"]:
        text = message("data_debug.same_order", sampler=facts["sampler"], first=listed(order["first"], 99))
        # An order of the user's own may be meant to be the same: windows, lengths, pairs.
        sure = Conclusion.FOUND if order["stirs"] or facts["shuffles"] else Conclusion.SUSPECT
        advice = message("data_debug.advice_same_order")
        yield fault("same_order", text, line=line, advice=advice, conclusion=sure)
    elif order["same"] and facts["shuffles"] is not True:
        text = message("data_debug.sequential", sampler=facts["sampler"])
        yield fault("not_shuffled", text, line=_line(facts), conclusion=Conclusion.SUSPECT)


def _stream(evidence: Evidence) -> Iterator[Finding]:
    epochs = evidence.parts.get("epochs", {})
    counts = epochs.get("counts", ())
    if len(counts) < 2 or not counts[0]:
        return
    line = _source_line(evidence)
    short = next((epoch for epoch, count in enumerate(counts) if count < counts[0]), None)
    if short is not None and "failure" not in epochs:
        text = message("data_debug.exhausted", first=counts[0], epoch=short + 1, count=counts[short])
        line = read_line(epochs.get("used_up")) or line
        yield fault("exhausted", text, line=line, advice=message("data_debug.advice_exhausted"), measured=counts)
    elif evidence.facts.get("asked_to_shuffle"):
        advice = message("data_debug.advice_iterable")
        yield fault("cannot_shuffle", message("data_debug.cannot_shuffle"), line=_line(evidence.facts), advice=advice)
    elif epochs.get("same"):
        if epochs.get("stirs"):
            text = message("data_debug.same_order_stream")
            line = read_line(epochs.get("line")) or line
            yield fault("same_order", text, line=line, advice=message("data_debug.advice_same_order"))
        else:
            text = message("data_debug.sequential_stream")
            yield fault("not_shuffled", text, line=line, conclusion=Conclusion.SUSPECT)


def _workers(evidence: Evidence) -> Iterator[Finding]:
    workers = evidence.parts.get("workers", {})
    asked = evidence.facts.get("workers") or 0
    if workers.get("same") or workers.get("again"):
        samples = workers["samples"]
        place = evidence.parts.get("repeat", {}).get("operator")
        operator = evidence.operator(place)
        name = workers.get("holder") if operator is None else None
        drawn = evidence.parts.get("lines", {}).get("draws")
        enough = asked > 1 if workers["same"] else asked > 0
        text = (
            message("data_debug.same_random", samples=listed(samples))
            if workers["same"]
            else message("data_debug.same_random_epochs", samples=listed(samples))
        )
        yield fault(
            "same_random",
            text,
            operator=operator,
            name=name,
            line=read_line(workers.get("line")) or read_line(drawn) or _line(evidence.facts),
            samples=samples,
            conclusion=Conclusion.FOUND if enough else Conclusion.SUSPECT,
            advice=message("data_debug.advice_same_random"),
        )
    counted, counts = workers.get("counted"), evidence.parts.get("epochs", {}).get("counts")
    if counted is not None and counts and asked > 1 and counted == counts[0] * asked:
        yield fault(
            "duplicated",
            message("data_debug.duplicated", workers=asked, count=counts[0], counted=counted),
            line=read_line(evidence.parts.get("epochs", {}).get("begins")) or _source_line(evidence),
            advice=message("data_debug.advice_duplicated"),
            measured=counted,
            limit=counts[0],
        )


def _changed(evidence: Evidence) -> Iterator[Finding]:
    """What is stored is not to change by being read; and what is random is not to be the same for every sample."""
    names = evidence.parts.get("walk", {}).get("changed", ())
    if names:
        text = message("data_debug.changes_data", names=", ".join(names))
        steps = [
            operator for operator in evidence.operators if any(change.kind == "in_place" for change in operator.changes)
        ]
        operator = steps[0] if steps else evidence.source
        yield fault("changes_data", text, operator=operator, samples=[0], certainty=Certainty.LIKELY)
    for operator in evidence.operators:
        if any(change.kind == "reseeded" for change in operator.changes):
            text = message("data_debug.reseeded", operator=operator.name)
            yield fault("reseeded", text, operator=operator, samples=[0])
            return


def _source_line(evidence: Evidence) -> Location | None:
    return evidence.source.line if evidence.source is not None else None


def _line(facts: Facts) -> Location | None:
    return read_line(facts.get("line"))
