"""What the stages found, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trueline.model.finding import Certainty, Conclusion, Finding, roots
from trueline.model.json_value import Json, JsonObject
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Folded, Report, Table, Text
from trueline.model.result import Exit, Result
from trueline.pair.answers import CODES, answers
from trueline.pair.blame import Blame, Cause, Setting, StageResult, StageVerdict, also_in, module_name
from trueline.pair.forward.judging import is_below
from trueline.pair.graft.report import graft_blocks
from trueline.pair.grouping import Grouped, grouped
from trueline.pair.pairing import Paired
from trueline.pair.written_tests import WrittenTests


def result(paired: Paired, written: WrittenTests | None = None) -> Result:
    """The JSON shape; ``written`` are the tests that were asked for."""
    causes = grouped(paired.blames)
    found = _findings(causes)
    fields = {
        "bench": paired.bench,
        "port": paired.port,
        "inputs": [{"shape": list(array.shape), "dtype": array.dtype.name} for array in paired.inputs],
        "stages": [_stage_json(stage) for stage in paired.stages],
        "modules": paired.forward.modules,
        "checks": paired.forward.checks,
        "notes": [note.text() for note in paired.notes],
        "tests": written.to_json() if written is not None else None,
        "graft": [graft.to_json() for graft in paired.grafts],
    }
    return Result("pair", _conclusion(paired, causes), _exit(found), found, fields)


def report(paired: Paired, written: WrittenTests | None = None) -> Report:
    """What a reader wants to see: causes on a few lines each, then the stages; the rest is folded."""
    causes = grouped(paired.blames)
    title = message("pair.title", bench=paired.bench, port=paired.port)
    # On stderr they were already said.
    notes = [Folded(message("pair.not_run"), [Text(note) for note in paired.notes])] if paired.notes else []
    return Report(
        title,
        _conclusion(paired, causes),
        _findings(causes),
        [
            *graft_blocks(paired.grafts),
            _stages(paired, causes),
            *notes,
            *([Text(written.said())] if written is not None else []),
            *_more(paired),
        ],
        answers=answers(causes, (paired.bench, paired.port)),
        more=message("pair.more"),
    )


def findings(paired: Paired) -> list[Finding]:
    """Every blame as a Finding: confirmed ones first, and what moves the loss; what follows from another says so."""
    return _findings(grouped(paired.blames))


def _findings(causes: Grouped) -> list[Finding]:
    return [
        _finding(blame, CODES[roots[0].stage] if roots else None, number, is_found)
        for blame, roots, number, is_found in zip(
            causes.blames, causes.roots, causes.numbers, causes.found, strict=True
        )
    ]


def _finding(blame: Blame, because: str | None, group: int | None, is_found: bool) -> Finding:
    also = also_in(blame)
    text = blame.message
    if also:
        text = message("pair.also", sentence=text, count=len(also), first=module_name(also[0]))
    return Finding(
        CODES[blame.stage],
        Conclusion.FOUND if is_found else Conclusion.SUSPECT,
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
            "group": group,
        },
    )


def _plain(value: Setting) -> Json:
    return value.text() if isinstance(value, Message) else value


def _exit(findings: Sequence[Finding]) -> Exit:
    return Exit.PROBLEM if roots(findings) else Exit.FINE


def _conclusion(paired: Paired, found: Grouped) -> Message:
    names = {"bench": paired.bench, "port": paired.port}
    causes, suspects = len(found.causes), len(found.suspects)
    if not causes:
        words = {"modules": paired.forward.modules, "checks": paired.forward.checks, **names}
        short = paired.shorter
        if short is not None and all(group.first.cause is Cause.DTYPE for group in found.suspects):
            return message("pair.same_in_format", format=short.port, other=short.bench, **words)
        if suspects:
            return message("pair.suspects", count=suspects, **names)
        if paired.forward.left_out is not None:
            return message("pair.same_but", left_out=paired.forward.left_out, **words)
        if paired.module:
            own = [matched.port.path for matched in paired.forward.evaluated.reference.matched]
            words["modules"] = len({path for path in own if is_below(path, paired.module)})
            return message("pair.same_module", module=paired.module, **words)
        return message("pair.same", **words)
    confirmed = sum(group.first.confirmed for group in found.causes)
    if confirmed == causes:
        return message("pair.all_confirmed", count=causes, **names)
    return message("pair.causes", count=causes, confirmed=confirmed, **names)


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


def _stages(paired: Paired, causes: Grouped) -> Table:
    columns = [message(f"pair.column_{name}") for name in ("stage", "verdict", "seen")]
    rows = [
        [message(f"pair.stage_{stage.stage.value}"), message(f"pair.verdict_{stage.verdict.value}"), stage.message]
        for stage in paired.stages
    ]
    marked = frozenset(place for place, stage in enumerate(paired.stages) if stage.blames)
    instead = _by_verdict(paired, causes) if causes.causes else None
    return Table(message("pair.stages"), columns, rows, marked, brief=True, instead=instead)


def _by_verdict(paired: Paired, causes: Grouped) -> Table:
    """The stages under the causes that they found, in few lines; what only follows from these is apart."""
    own = {blame.stage for blame, roots in zip(causes.blames, causes.roots, strict=True) if not roots}
    by_verdict: dict[str, list[Message]] = {"found": [], "follows": [], "passed": [], "skipped": []}
    for stage in paired.stages:
        follows = bool(stage.blames) and not own & {blame.stage for blame in stage.blames}
        by_verdict["follows" if follows else stage.verdict.value].append(message(f"pair.stage_{stage.stage.value}"))
    rows = [[message(f"pair.verdict_{verdict}"), _listed(stages)] for verdict, stages in by_verdict.items() if stages]
    marked = frozenset({0} if by_verdict["found"] else ())
    return Table(message("pair.stages"), [message("pair.column_verdict"), message("pair.column_stages")], rows, marked)


def _listed(names: Sequence[Message]) -> Message:
    """Names in a row, in the language that they are shown in."""
    first, *rest = names
    return message("pair.listed", first=first, rest=_listed(rest)) if rest else first


def _more(paired: Paired) -> Iterator[Block]:
    passed = [stage_result for stage_result in paired.stages if stage_result.verdict is StageVerdict.PASSED]
    ruled = [stage_result.rules_out for stage_result in passed if stage_result.rules_out is not None]
    if ruled:
        yield Folded(message("pair.ruled_out"), [Text(text) for text in ruled])
    for stage in paired.stages:
        for block in stage.blocks:
            yield Folded(block.title, [block])
