"""Rank against rank: the rank that differs speaks for all, and is named where the others agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trueline.compare.findings import findings, stopped_at
from trueline.compare.report.runs import report, result
from trueline.compare.report.tables import View, short
from trueline.compare.runs import RunComparison
from trueline.compare.stages import Stage
from trueline.compare.wording import RANK
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import message
from trueline.model.report import Report, Table, Text
from trueline.model.result import Result


def ranks_report(compared: Mapping[int, RunComparison], view: View) -> Report:
    """All ranks for people."""
    page = report(_main(compared), view)
    tables = [_table(compared)] if len(compared) > 1 else []
    blocks = (*tables, *_left(_main(compared)), *page.blocks)
    return replace(page, findings=[*page.findings, *_findings(compared)], blocks=blocks)


def _left(compared: RunComparison) -> list[Text]:
    """Ranks that only one of the runs has."""
    found = []
    for side, other in ((compared.a, compared.b), (compared.b, compared.a)):
        alone = [str(rank) for rank in side.run.ranks if rank not in other.run.ranks]
        if alone:
            found.append(Text(message("compare.ranks_left", side=side.name, ranks=", ".join(alone))))
    return found


def ranks_result(compared: Mapping[int, RunComparison], view: View) -> Result:
    """All ranks for programs."""
    answer = result(
        _main(compared), view, {"ranks": [_rank_json(rank, comparison) for rank, comparison in compared.items()]}
    )
    return replace(answer, findings=[*answer.findings, *_findings(compared)])


def _main(compared: Mapping[int, RunComparison]) -> RunComparison:
    """The rank that differs first: what it does reaches the others through their common gradients."""
    differing = [comparison for comparison in compared.values() if comparison.differs]
    return min(differing, key=_begins, default=next(iter(compared.values())))


def _begins(compared: RunComparison) -> tuple[int, int, int]:
    """How early in the procedure, and where in a step, a rank differs."""
    stage = stopped_at(compared, findings(compared))
    step = compared.differing
    place = (step.step, step.first or 0) if step is not None else (0, 0)
    return (list(Stage).index(stage) if stage is not None else len(Stage), *place)


def _findings(compared: Mapping[int, RunComparison]) -> list[Finding]:
    begins = {rank: _begins(comparison)[0] for rank, comparison in compared.items() if comparison.differs}
    apart = [rank for rank, begin in begins.items() if begin == min(begins.values())]
    if not apart or len(apart) == len(compared):
        return []
    said = message("compare.ranks", ranks=", ".join(str(one) for one in apart), count=len(compared))
    return [
        Finding(RANK, Conclusion.FOUND, said, advice=message("compare.ranks_advice"), where=Location(rank=apart[0]))
    ]


def _table(compared: Mapping[int, RunComparison]) -> Table:
    rows = []
    for rank, comparison in compared.items():
        parts, first, verdict = comparison.loss.parts, comparison.first, comparison.verdict
        word = message(f"compare.word_{verdict.value}") if verdict is not None else ""
        tensor = short(first.pair.b, first.b.name) if first is not None else ""
        rows.append([rank, word, parts.step if parts is not None else None, tensor])
    columns = [message(f"compare.column_{name}") for name in ("rank", "verdict", "loss", "first")]
    marked = frozenset(place for place, comparison in enumerate(compared.values()) if comparison.differs)
    return Table(message("compare.ranks_title"), columns, rows, marked)


def _rank_json(rank: int, comparison: RunComparison) -> dict[str, object]:
    first = comparison.first
    return {
        "rank": rank,
        "verdict": comparison.verdict,
        "parts_at": comparison.loss.parts.step if comparison.loss.parts is not None else None,
        "first": str(first.pair.a) if first is not None else None,
    }
