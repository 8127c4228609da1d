"""What the stages found, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from trueline.formats.source_lines import source_around
from trueline.model.finding import Certainty, Conclusion, Finding, roots
from trueline.model.json_value import Json, JsonObject
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Curves, Folded, Report, Table, Text
from trueline.model.result import Exit, Result
from trueline.pair.blame import (
    Blame,
    Cause,
    Setting,
    Stage,
    StageResult,
    StageVerdict,
    also_in,
    module_name,
    moves_curve,
)
from trueline.pair.graft.report import graft_blocks
from trueline.pair.pairing import Paired
from trueline.pair.written_tests import WrittenTests

CODES: Final = {
    Stage.DATA: "pr.02",
    Stage.PARAMETERS: "pr.03",
    Stage.WEIGHTS: "pr.04",
    Stage.FORWARD: "pr.05",
    Stage.INITIAL: "pr.06",
    Stage.LOSS: "pr.07",
    Stage.BACKWARD: "pr.08",
    Stage.UPDATE: "pr.09",
    Stage.CURVE: "pr.10",
    Stage.METRICS: "pr.11",
}
_SHOWN: Final = 4
# What a cause in a layer explains of the table of parameters.
_OF_PARAMETERS: Final = (Cause.MISSING_PARAMETER, Cause.EXTRA_PARAMETER, Cause.SHAPE)


def result(paired: Paired, written: WrittenTests | None = None) -> Result:
    """The JSON shape; ``written`` are the tests that were asked for."""
    found = findings(paired)
    fields = {
        "bench": paired.bench,
        "port": paired.port,
        "inputs": [{"shape": list(array.shape), "dtype": array.dtype.name} for array in paired.inputs],
        "stages": [_stage_json(stage) for stage in paired.stages],
        "modules": paired.forward.modules,
        "checks": paired.forward.checks,
        "tests": written.to_json() if written is not None else None,
        "graft": [graft.to_json() for graft in paired.grafts],
    }
    return Result("pair", _conclusion(paired, found), _exit(found), found, fields)


def report(paired: Paired, written: WrittenTests | None = None) -> Report:
    """What a reader wants to see: causes first, each with its lines, then the stages."""
    found = findings(paired)
    title = message("pair.title", bench=paired.bench, port=paired.port)
    tests = [Text(written.said())] if written is not None else []
    blocks = [*graft_blocks(paired.grafts), *_sources(paired), _stages(paired), *tests, *_more(paired)]
    return Report(title, _conclusion(paired, found), found, blocks)


def findings(paired: Paired) -> list[Finding]:
    """Every blame as a Finding: confirmed ones first, and what moves the loss; what follows from another says so."""
    blames = sorted(paired.blames, key=lambda blame: (not blame.confirmed, blame.latent, not moves_curve(blame)))
    real = [blame for blame in blames if _counts(blame)]
    return [_finding(blame, _because(blame, real, blames)) for blame in blames]


def _counts(blame: Blame) -> bool:
    return (blame.confirmed or blame.cause is Cause.UNKNOWN) and blame.stage is not Stage.CURVE


def _because(blame: Blame, real: Sequence[Blame], blames: Sequence[Blame]) -> str | None:
    """The code of what a blame follows from.

    A curve follows from a cause that moves it, a suspected one too; a parameter that lacks from its layer's.
    """
    others = [candidate for candidate in real if candidate is not blame and not candidate.latent]
    if blame.stage is Stage.CURVE:
        return next((CODES[candidate.stage] for candidate in blames if moves_curve(candidate)), None)
    if blame.stage is Stage.PARAMETERS and blame.cause in _OF_PARAMETERS:
        near = [
            candidate
            for candidate in others
            if candidate.stage is Stage.FORWARD
            and any(_near(path, blame.module) for path in (candidate.module, *also_in(candidate)))
        ]
        return CODES[Stage.FORWARD] if near else None
    return None


def _near(a: str, b: str) -> bool:
    return a == b or (bool(a) and b.startswith(f"{a}.")) or (bool(b) and a.startswith(f"{b}."))


def _finding(blame: Blame, because: str | None) -> Finding:
    sure = blame.confirmed or blame.cause is Cause.UNKNOWN
    also = also_in(blame)
    text = blame.message
    if also:
        text = message("pair.also", sentence=text, count=len(also), first=module_name(also[0]))
    return Finding(
        CODES[blame.stage],
        Conclusion.FOUND if sure else Conclusion.SUSPECT,
        message("pair.latent", sentence=text) if blame.latent else text,
        Certainty.CERTAIN if blame.confirmed else Certainty.POSSIBLE,
        blame.edit,
        because,
        replace(blame.line or Location(), module=blame.module or None, side="port"),
        blame.measured,
        blame.limit,
        blame.evidence,
        extra={
            "stage": blame.stage.value,
            "cause": blame.cause.value,
            "values": {"bench": _plain(blame.bench), "port": _plain(blame.port)},
            "confirmed": blame.confirmed,
            "latent": blame.latent,
            "module": blame.module,
            "other_module": blame.other_module,
            "other_line": blame.other_line.line_json() if blame.other_line is not None else None,
            "left": blame.left,
        },
    )


def _plain(value: Setting) -> Json:
    return value.text() if isinstance(value, Message) else value


def _exit(findings: Sequence[Finding]) -> Exit:
    return Exit.PROBLEM if roots(findings) else Exit.FINE


def _conclusion(paired: Paired, findings: Sequence[Finding]) -> Message:
    real = roots(findings)
    names = {"bench": paired.bench, "port": paired.port}
    if not real:
        suspects = [finding for finding in findings if finding.because is None]
        short = paired.shorter
        if short is not None and all(finding.extra["cause"] == Cause.DTYPE for finding in findings):
            formats = {"format": short.port, "other": short.bench}
            return message(
                "pair.same_in_format",
                modules=paired.forward.modules,
                checks=paired.forward.checks,
                **formats,
                **names,
            )
        if suspects:
            return message("pair.suspects", count=len(suspects), **names)
        return message("pair.same", modules=paired.forward.modules, checks=paired.forward.checks, **names)
    confirmed = [finding for finding in real if finding.certainty is Certainty.CERTAIN]
    if len(real) == 1:
        return message("pair.one_cause", sentence=real[0].message, **names)
    if len(confirmed) == len(real):
        return message("pair.all_confirmed", count=len(real), **names)
    return message("pair.causes", count=len(real), confirmed=len(confirmed), **names)


def _stage_json(stage: StageResult) -> JsonObject:
    return {
        "name": stage.stage.value,
        "verdict": stage.verdict.value,
        "message": stage.message.text(),
        "rules_out": stage.rules_out.text()
        if stage.rules_out is not None and stage.verdict is StageVerdict.PASSED
        else None,
        "causes": len(stage.blames),
    }


def _stages(paired: Paired) -> Table:
    columns = [message(f"pair.column_{name}") for name in ("stage", "verdict", "seen")]
    rows = [
        [message(f"pair.stage_{stage.stage.value}"), message(f"pair.verdict_{stage.verdict.value}"), stage.message]
        for stage in paired.stages
    ]
    marked = frozenset(place for place, stage in enumerate(paired.stages) if stage.blames)
    return Table(message("pair.stages"), columns, rows, marked)


def _sources(paired: Paired) -> Iterator[Block]:
    """The lines of the first causes, the port's and the benchmark's."""
    shown: set[Location] = set()
    for candidate in [blame for blame in paired.blames if blame.confirmed and blame.line is not None][:_SHOWN]:
        for line, side in ((candidate.line, paired.port), (candidate.other_line, paired.bench)):
            if line is not None and line not in shown:
                shown.add(line)
                yield from source_around(line, side)


def _more(paired: Paired) -> Iterator[Block]:
    passed = [stage_result for stage_result in paired.stages if stage_result.verdict is StageVerdict.PASSED]
    ruled = [stage_result.rules_out for stage_result in passed if stage_result.rules_out is not None]
    yield from (Text(text) for text in ruled)
    for stage in paired.stages:
        for block in stage.blocks:
            if isinstance(block, Curves):
                yield block
            else:
                yield Folded(block.title, [block])
