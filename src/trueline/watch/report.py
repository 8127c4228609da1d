"""A hit, and all else that a watch has seen, as findings and as a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trueline.formats.source_lines import source_around
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table
from trueline.model.result import Exit, Result
from trueline.watch.coverage import Coverage
from trueline.watch.hit import Hit, Tensor
from trueline.watch.points import finding as point_finding
from trueline.watch.state import Watch

if TYPE_CHECKING:
    from trueline.watch.dump import DumpWatch
    from trueline.watch.running import Watched

NON_FINITE: Final = "nf.01"
SKIPPED: Final = "nf.02"


_ALL: Final = Coverage()


def findings(watch: Watch, hit: Hit | None, coverage: Coverage = _ALL) -> list[Finding]:
    """What is wrong, and what was not watched; that nothing is wrong only where all was watched."""
    found = [_hit(hit)] if hit is not None else []
    if hit is None and watch.wrong_at is not None:
        found.append(_unfound(watch))
    if hit is None and watch.left:
        text = message("watch.left", tensor=watch.left[0], count=len(watch.left), steps=watch.steps)
        found.append(Finding(NON_FINITE, Conclusion.FOUND, text, advice=message("watch.advice_left")))
    if watch.too_often_skipped:
        found.append(
            Finding(
                SKIPPED,
                Conclusion.FOUND,
                message("watch.skipped", skipped=watch.skipped, steps=watch.steps),
                advice=message("watch.advice_skipped"),
                measured=watch.skipped / watch.steps,
            )
        )
    found += [point_finding(one) for one in watch.point_hits]
    gap = coverage.gap(watch.steps)
    if gap is not None and (not found or coverage.off is not None):
        found.append(Finding(NON_FINITE, Conclusion.OPEN, gap, advice=_advice(coverage)))
    return found or [Finding(NON_FINITE, Conclusion.NONE, _fine(watch))]


def _fine(watch: Watch) -> Message:
    if watch.skipped:
        return message("watch.skipped_few", skipped=watch.skipped, steps=watch.steps)
    if watch.thrown_away:
        return message("watch.thrown_away_few", count=watch.thrown_away, steps=watch.steps + watch.never_back)
    return message("watch.fine", steps=watch.steps)


def _advice(coverage: Coverage) -> Message | None:
    return message("watch.advice_cut_off") if coverage.off is not None else None


def without_framework() -> Finding:
    """Of a script that has imported none."""
    return Finding(NON_FINITE, Conclusion.OPEN, message("watch.no_framework"))


def _hit(hit: Hit) -> Finding:
    return Finding(
        NON_FINITE,
        Conclusion.FOUND,
        sentence(hit),
        Certainty.CERTAIN,
        hit.advice,
        where=replace(
            hit.line or Location(),
            module=hit.module or None,
            step=hit.step,
            rank=hit.rank,
            sample=hit.samples[0] if hit.samples else None,
        ),
        evidence=[tensor.to_json() for tensor in (*hit.inputs, *hit.outputs)],
        extra={"cause": hit.cause, "phase": hit.part, "op": hit.op, "way": hit.way},
    )


def sentence(hit: Hit) -> Message:
    """What happened, in one sentence."""
    kind = {"nan": "NaN", "inf": "Inf"}.get(hit.kind) or message("watch.beyond")
    why = hit.why if hit.why is not None else message("watch.cause_unknown")
    return message(f"watch.first_{hit.part}", step=hit.step, op=hit.op, kind=kind, why=why)


def _unfound(watch: Watch) -> Finding:
    names = [*watch.signs.gradients, *watch.signs.weights]
    text = message("watch.unfound", step=watch.wrong_at, tensor=names[0] if names else message("watch.the_loss"))
    return Finding(
        NON_FINITE,
        Conclusion.FOUND,
        text,
        Certainty.LIKELY,
        message("watch.advice_unfound"),
        where=Location(step=watch.wrong_at),
    )


def result(watched: Watched) -> Result:
    """The answer of the verb: the first hit, and how much was watched."""
    coverage, seen = watched.coverage, watched.watch or Watch()
    untouched = watched.watch is None and coverage.off is None and not coverage.unseen
    found = [without_framework()] if untouched else findings(seen, watched.hit, coverage)
    fields = {
        "first": watched.hit.to_json() if watched.hit is not None else None,
        "script_exit": watched.code,
        "steps": seen.steps,
        "skipped": seen.skipped,
        "thrown_away": seen.thrown_away,
        "kept_bytes": seen.kept_bytes,
        **coverage.to_json(),
    }
    return Result("watch", conclusion(found), coverage.exit(found), found, fields)


def dump_result(dump: DumpWatch) -> Result:
    """The answer of the verb on a dump folder."""
    first = dump.first.to_json() if dump.first is not None else None
    code = Exit.FINE if dump.first is None else Exit.PROBLEM
    return Result("watch", dump.sentence(), code, [dump.finding()], {"first": first})


def dump_report(dump: DumpWatch) -> Report:
    """The same for people."""
    return Report(message("watch.title", script=str(dump.path)), dump.sentence(), [dump.finding()])


def report(script: str, found: list[Finding], hit: Hit | None) -> Report:
    """For people to read."""
    return Report(message("watch.title", script=script), conclusion(found), found, list(blocks_of(hit)))


def conclusion(found: list[Finding]) -> Message:
    """The first finding's own sentence."""
    return found[0].message


def blocks_of(hit: Hit | None) -> Iterator[Block]:
    """What belongs to a hit: the lines, its numbers, the chain, the stack."""
    if hit is None:
        return
    for line in dict.fromkeys((hit.line, hit.forward_line)):
        if line is not None:
            yield from source_around(line)
    tensors = [(message("watch.took"), tensor) for tensor in hit.inputs] + [
        (message("watch.gave"), output) for output in hit.outputs
    ]
    columns = ("name", "dtype", "nan", "inf", "smallest", "largest", "zeros")
    headings = [message("watch.column_what"), *(message(f"watch.column_{name}") for name in columns)]
    rows = [[what, *_numbers(tensor)] for what, tensor in tensors]
    if rows:
        yield Table(message("watch.table_numbers", op=hit.op), headings, rows)
    if hit.chain:
        rows = [[link.op, link.module, place(link.line), link.largest] for link in hit.chain]
        names = ("op", "module", "line", "largest")
        yield Table(message("watch.table_chain"), [message(f"watch.column_{name}") for name in names], rows)
    if len(hit.stack) > 1:
        rows = [[place(location)] for location in hit.stack]
        yield Table(message("watch.table_stack"), [message("watch.column_line")], rows)


def _numbers(tensor: Tensor) -> list[object]:
    if tensor.summary is None:
        return [tensor.name, tensor.dtype, "", "", "", "", ""]
    summary = tensor.summary
    infinite = summary.pos_inf + summary.neg_inf
    return [tensor.name, tensor.dtype, summary.nan, infinite, summary.minimum, summary.maximum, summary.zeros]


def place(line: Location | None) -> str:
    """A line as file:line."""
    return f"{Path(line.file).name}:{line.line}" if line is not None else ""
