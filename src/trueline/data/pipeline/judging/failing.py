"""Samples that raise, hang or kill the process, and pipelines that cannot be built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.data.pipeline.answers import Pickled
from trueline.data.pipeline.evidence import Evidence, Failure, Operator, read_line
from trueline.data.pipeline.judging.batching import unfit
from trueline.data.pipeline.judging.fault import fault, listed
from trueline.data.pipeline.judging.length import beyond_the_end, lengths
from trueline.model.finding import Finding
from trueline.model.message import Message, message

_NOTHING: Final = "Nothing"
# What a first look at each sample does not show.
_LATER: Final = ("repeating", "epochs", "workers", "running")


def failing(evidence: Evidence) -> Iterator[Finding]:
    """What was raised while building, for samples one by one, and by the pipeline as it stands."""
    if evidence.ended is not None:
        yield _ended(evidence, evidence.ended)
    ended = beyond_the_end(evidence)
    for failure in evidence.failures:
        if failure.doing == "walking" and failure is not ended:
            yield _raises(evidence, failure)
    if evidence.failures or evidence.ended is not None or next(lengths(evidence), None) is not None:
        return
    parts = evidence.parts
    order, run = parts.get("order", {}), parts.get("run", {})
    for answer in (parts.get("repeat", {}), order, parts.get("epochs", {}), parts.get("workers", {}), run):
        raised = answer.get("failure")
        if raised is None:
            continue
        if answer is order and order.get("outside"):
            # The question of the order says it.
            return
        if answer is run and "pickled" in run:
            yield _not_pickled(run["pickled"], Failure.from_json(raised))
        else:
            yield _raises(evidence, Failure.from_json(raised))
        return


def _not_pickled(pickled: Pickled, failed: Failure) -> Finding:
    text = message("data_debug.cannot_pickle", name=pickled["name"] or "?", error=failed.error)
    return fault("cannot_pickle", text, line=read_line(pickled["line"]) or failed.line)


def _raises(evidence: Evidence, failure: Failure) -> Finding:
    operator = evidence.operator(failure.operator)
    samples = [*([failure.sample] if failure.sample is not None else []), *failure.again]
    if failure.columns is not None:
        return unfit(evidence, failure, samples)
    if failure.kind == _NOTHING:
        text = message("data_debug.no_sample", sample=samples[0], count=len(samples), samples=listed(samples))
        return fault("no_sample", text, operator=operator, samples=samples)
    if operator is None:
        operator = _by_line(evidence, failure)
    # Plain code of a dataset has no operators but its functions.
    own = operator is None or operator.kind in ("dataset", "source")
    name = failure.function if own and failure.function and not failure.function.startswith(("_", "<")) else None
    shown = name or (operator.name if operator is not None else None)
    raised = {"kind": failure.kind, "error": failure.error}
    if shown is not None and samples:
        text = message("data_debug.raises", operator=shown, sample=samples[0], **raised)
    elif samples:
        text = message("data_debug.raises_for", sample=samples[0], **raised)
    else:
        text = message("data_debug.raises_running", doing=_doing(failure), **raised)
    if failure.doing in _LATER:
        text = message("data_debug.only_later", what=text, doing=_doing(failure))
    if len(samples) > 1:
        text = message("data_debug.and_others", what=text, count=len(samples) - 1, samples=listed(samples[1:]))
    return fault("raises", text, operator=operator, line=failure.line, samples=samples, name=name)


def _by_line(evidence: Evidence, failure: Failure) -> Operator | None:
    """The operator whose function an error comes from, where it was raised in another thread or process."""
    for operator in evidence.operators:
        here = operator.line is not None and failure.line is not None and operator.line.file == failure.line.file
        if here and failure.function and operator.name.split(".")[-1] == failure.function:
            return operator
    return None


def _ended(evidence: Evidence, failure: Failure) -> Finding:
    operator = evidence.operator(failure.operator)
    samples = [failure.sample] if failure.sample is not None else []
    where: Message | str = message("data_debug.sample", sample=failure.sample) if samples else _doing(failure)
    if failure.kind == "hangs":
        text = message("data_debug.hangs", where=where, seconds=float(failure.error))
        return fault("hangs", text, operator=operator, line=failure.line, samples=samples)
    if failure.kind == "dies":
        text = message("data_debug.dies", where=where, said=failure.error)
        return fault("dies", text, operator=operator, line=failure.line, samples=samples)
    if all(word in failure.error for word in ("IterableDataset", "shuffle")):
        advice = message("data_debug.advice_iterable")
        return fault("cannot_shuffle", message("data_debug.cannot_shuffle"), line=failure.line, advice=advice)
    return fault(
        "not_built", message("data_debug.not_built", kind=failure.kind, error=failure.error), line=failure.line
    )


def _doing(failure: Failure) -> Message:
    return message(f"data_debug.doing_{failure.doing}")
