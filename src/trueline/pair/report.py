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
        "inputs": [{"shape": list(one.shape), "dtype": one.dtype.name} for one in paired.inputs],
        "stages": [_stage_json(one) for one in paired.stages],
        "modules": paired.forward.modules,
        "checks": paired.forward.checks,
        "tests": written.to_json() if written is not None else None,
    }
    return Result("pair", _conclusion(paired, found), _exit(found), found, fields)


def report(paired: Paired, written: WrittenTests | None = None) -> Report:
    """What a reader wants to see: causes first, each with its lines, then the stages."""
    found = findings(paired)
    title = message("pair.title", bench=paired.bench, port=paired.port)
    tests = [Text(written.said())] if written is not None else []
    blocks = [*_sources(paired), _stages(paired), *tests, *_more(paired)]
    return Report(title, _conclusion(paired, found), found, blocks)


def findings(paired: Paired) -> list[Finding]:
    """Every blame as a Finding: confirmed ones first, and what moves the loss; what follows from another says so."""
    blames = sorted(paired.blames, key=lambda one: (not one.confirmed, one.latent, not moves_curve(one)))
    real = [one for one in blames if _counts(one)]
    return [_finding(one, _because(one, real, blames)) for one in blames]


def _counts(one: Blame) -> bool:
    return (one.confirmed or one.cause is Cause.UNKNOWN) and one.stage is not Stage.CURVE


def _because(one: Blame, real: Sequence[Blame], blames: Sequence[Blame]) -> str | None:
    """The code of what a blame follows from.

    A curve follows from a cause that moves it, a suspected one too; a parameter that lacks from its layer's.
    """
    others = [each for each in real if each is not one and not each.latent]
    if one.stage is Stage.CURVE:
        return next((CODES[each.stage] for each in blames if moves_curve(each)), None)
    if one.stage is Stage.PARAMETERS and one.cause in _OF_PARAMETERS:
        near = [each for each in others if each.stage is Stage.FORWARD and _near(each.module, one.module)]
        return CODES[Stage.FORWARD] if near else None
    return None


def _near(a: str, b: str) -> bool:
    return a == b or (bool(a) and b.startswith(f"{a}.")) or (bool(b) and a.startswith(f"{b}."))


def _finding(one: Blame, because: str | None) -> Finding:
    sure = one.confirmed or one.cause is Cause.UNKNOWN
    also = also_in(one)
    text = one.message
    if also:
        text = message("pair.also", sentence=text, count=len(also), first=module_name(also[0]))
    return Finding(
        CODES[one.stage],
        Conclusion.FOUND if sure else Conclusion.SUSPECT,
        message("pair.latent", sentence=text) if one.latent else text,
        Certainty.CERTAIN if one.confirmed else Certainty.POSSIBLE,
        one.edit,
        because,
        replace(one.line or Location(), module=one.module or None, side="port"),
        one.measured,
        one.limit,
        one.evidence,
        extra={
            "stage": one.stage.value,
            "cause": one.cause.value,
            "values": {"bench": _plain(one.bench), "port": _plain(one.port)},
            "confirmed": one.confirmed,
            "latent": one.latent,
            "module": one.module,
            "other_module": one.other_module,
            "other_line": one.other_line.line_json() if one.other_line is not None else None,
            "left": one.left,
        },
    )


def _plain(value: Setting) -> Json:
    return value.text() if isinstance(value, Message) else value


def _exit(found: Sequence[Finding]) -> Exit:
    return Exit.PROBLEM if roots(found) else Exit.FINE


def _conclusion(paired: Paired, found: Sequence[Finding]) -> Message:
    real = roots(found)
    names = {"bench": paired.bench, "port": paired.port}
    if not real:
        if any(one.conclusion is Conclusion.SUSPECT for one in found):
            return message("pair.suspects", count=len(found), **names)
        return message("pair.same", modules=paired.forward.modules, checks=paired.forward.checks, **names)
    confirmed = [one for one in real if one.certainty is Certainty.CERTAIN]
    if len(real) == 1:
        return message("pair.one_cause", sentence=real[0].message, **names)
    if len(confirmed) == len(real):
        return message("pair.all_confirmed", count=len(real), **names)
    return message("pair.causes", count=len(real), confirmed=len(confirmed), **names)


def _stage_json(one: StageResult) -> JsonObject:
    return {
        "name": one.stage.value,
        "verdict": one.verdict.value,
        "message": one.message.text(),
        "rules_out": one.rules_out.text() if one.rules_out is not None and one.verdict is StageVerdict.PASSED else None,
        "causes": len(one.blames),
    }


def _stages(paired: Paired) -> Table:
    columns = [message(f"pair.column_{name}") for name in ("stage", "verdict", "seen")]
    rows = [
        [message(f"pair.stage_{one.stage.value}"), message(f"pair.verdict_{one.verdict.value}"), one.message]
        for one in paired.stages
    ]
    marked = frozenset(place for place, one in enumerate(paired.stages) if one.blames)
    return Table(message("pair.stages"), columns, rows, marked)


def _sources(paired: Paired) -> Iterator[Block]:
    """The lines of the first causes, the port's and the benchmark's."""
    shown: set[Location] = set()
    for one in [blame for blame in paired.blames if blame.confirmed and blame.line is not None][:_SHOWN]:
        for line, side in ((one.line, paired.port), (one.other_line, paired.bench)):
            if line is not None and line not in shown:
                shown.add(line)
                yield from source_around(line, side)


def _more(paired: Paired) -> Iterator[Block]:
    passed = [one for one in paired.stages if one.verdict is StageVerdict.PASSED]
    ruled = [one.rules_out for one in passed if one.rules_out is not None]
    yield from (Text(one) for one in ruled)
    for stage in paired.stages:
        for block in stage.blocks:
            if isinstance(block, Curves):
                yield block
            else:
                yield Folded(block.title, [block])
