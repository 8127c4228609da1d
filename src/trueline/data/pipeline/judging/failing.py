"""Samples that raise, hang or kill the process, and pipelines that cannot be built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from trueline.data.pipeline.evidence import Evidence, Failure
from trueline.data.pipeline.judging.fault import fault, listed
from trueline.data.pipeline.judging.length import beyond_the_end
from trueline.model.finding import Finding
from trueline.model.message import Message, message

_CANNOT_SHUFFLE: Final = ("expected unspecified shuffle", "shuffle", "sampler")


def failing(evidence: Evidence) -> Iterator[Finding]:
    """What was raised while building, for samples one by one, and by the pipeline as it stands."""
    if evidence.ended is not None:
        yield _ended(evidence, evidence.ended)
    ended = beyond_the_end(evidence)
    for one in evidence.failures:
        if one.doing == "walking" and one is not ended:
            yield _raises(evidence, one)
    if evidence.failures or evidence.ended is not None:
        return
    for name in ("order", "epochs", "workers", "run"):
        told: Any = evidence.parts.get(name, {})
        if told.get("failure") is not None:
            yield _raises(evidence, Failure.from_json(told["failure"]))
            return


def _raises(evidence: Evidence, one: Failure) -> Finding:
    operator = evidence.operator(one.operator)
    samples = [*([one.sample] if one.sample is not None else []), *one.again]
    if one.columns is not None:
        return _unfit(evidence, one, samples)
    raised: dict[str, Any] = {"kind": one.kind, "error": one.error}
    if operator is not None and samples:
        text = message("data_debug.raises", operator=operator.name, sample=samples[0], **raised)
    elif samples:
        text = message("data_debug.raises_for", sample=samples[0], **raised)
    else:
        text = message("data_debug.raises_running", doing=_doing(one), **raised)
    if len(samples) > 1:
        text = message("data_debug.and_others", what=text, count=len(samples) - 1, samples=listed(samples[1:]))
    return fault("raises", text, operator=operator, line=one.line, samples=samples)


def _unfit(evidence: Evidence, one: Failure, samples: list[int]) -> Finding:
    """Columns that do not match: how many values there are, or a name that is not there."""
    told = one.columns or {}
    operator = evidence.operator(one.operator)
    names = ", ".join(told["wanted"])
    if told["missing"] is not None:
        text = message("data_debug.missing_column", column=told["missing"], names=names)
    else:
        text = message("data_debug.columns", given=told["given"], wanted=len(told["wanted"]), names=names)
    return fault("columns", text, operator=operator, samples=samples, line=one.line)


def _ended(evidence: Evidence, one: Failure) -> Finding:
    operator = evidence.operator(one.operator)
    samples = [one.sample] if one.sample is not None else []
    where: Message | str = message("data_debug.sample", sample=one.sample) if samples else _doing(one)
    if one.kind == "hangs":
        text = message("data_debug.hangs", where=where, seconds=float(one.error))
        return fault("hangs", text, operator=operator, line=one.line, samples=samples)
    if one.kind == "dies":
        text = message("data_debug.dies", where=where, said=one.error)
        return fault("dies", text, operator=operator, line=one.line, samples=samples)
    if all(word in one.error for word in ("IterableDataset", "shuffle")):
        advice = message("data_debug.advice_iterable")
        return fault("cannot_shuffle", message("data_debug.cannot_shuffle"), line=one.line, advice=advice)
    return fault("not_built", message("data_debug.not_built", kind=one.kind, error=one.error), line=one.line)


def _doing(one: Failure) -> Message:
    return message(f"data_debug.doing_{one.doing}")
