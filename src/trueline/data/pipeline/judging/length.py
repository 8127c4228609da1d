"""Whether ``__len__`` is true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.data.pipeline.evidence import Evidence, Failure, read_line
from trueline.data.pipeline.judging.fault import fault
from trueline.model.finding import Certainty, Finding
from trueline.model.location import Location
from trueline.model.message import message

_AT_THE_END: Final = ("IndexError", "KeyError")


def lengths(evidence: Evidence) -> Iterator[Finding]:
    """Too many samples promised, too few, or none at all."""
    declared = evidence.facts.get("length")
    line = read_line(evidence.parts.get("length", {}).get("line")) or read_line(evidence.facts.get("line"))
    found = evidence.parts.get("length", {}).get("true")
    if found is not None and beyond_the_end(evidence) is not None:
        text = message("data_debug.length_too_large", declared=declared, true=found)
        yield fault("length_too_large", text, line=line, samples=[found], measured=found, limit=declared)
    elif found is not None and declared is not None and found > declared:
        text = message("data_debug.length_too_small", declared=declared, true=found)
        sure = Certainty.LIKELY
        yield fault(
            "length_too_small", text, line=line, samples=[declared], certainty=sure, measured=found, limit=declared
        )
    yield from _stream(evidence, line)
    yield from _zipped(evidence)
    yield from _nothing(evidence, line)


def beyond_the_end(evidence: Evidence) -> Failure | None:
    """The failure that only says that there are no more samples."""
    declared, found = evidence.facts.get("length"), evidence.parts.get("length", {}).get("true")
    if declared is None or found is None or not 0 < found < declared:
        return None
    for failure in evidence.failures:
        samples = {failure.sample, *failure.again}
        if failure.kind in _AT_THE_END and min(filter(None, samples), default=0) >= found and declared - 1 in samples:
            return failure
    return None


def _stream(evidence: Evidence, line: Location | None) -> Iterator[Finding]:
    """A stream that says how long it is."""
    declared, counts = evidence.facts.get("length"), evidence.parts.get("epochs", {}).get("counts")
    if declared is None or not counts or evidence.failures or counts[0] == declared or not counts[0]:
        return
    kind = "length_too_large" if counts[0] < declared else "length_too_small"
    numbers = {"declared": declared, "true": counts[0]}
    if kind == "length_too_large":
        text = message("data_debug.length_too_large", **numbers)
    else:
        text = message("data_debug.length_too_small", **numbers)
    yield fault(kind, text, line=line, samples=[min(declared, counts[0])], measured=counts[0], limit=declared)


def _zipped(evidence: Evidence) -> Iterator[Finding]:
    """Datasets side by side end with the shortest."""
    zipped = evidence.facts.get("zipped")
    if zipped is not None:
        shown = ", ".join(map(str, zipped["lengths"]))
        text = message("data_debug.zipped", lengths=shown, shortest=min(zipped["lengths"]))
        line, least = read_line(zipped["line"]), min(zipped["lengths"])
        yield fault("zipped", text, line=line, samples=[least], certainty=Certainty.LIKELY)


def _nothing(evidence: Evidence, line: Location | None) -> Iterator[Finding]:
    facts = evidence.facts
    if evidence.ended is not None or evidence.failures:
        return
    if not evidence.looked:
        yield fault("no_samples", message("data_debug.no_samples"), line=line)
        return
    run, counts = evidence.parts.get("run", {}), evidence.parts.get("epochs", {}).get("counts", [1])
    if facts.get("batches") and run.get("count") == 0 and "failure" not in run and all(counts):
        text = message("data_debug.no_batches", samples=evidence.looked, size=facts.get("batch_size") or 0)
        yield fault("no_batches", text, line=read_line(facts.get("batch_line")) or read_line(facts.get("line")))
