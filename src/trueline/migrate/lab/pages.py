"""The measured table as pages of the documentation: one for each kind of API, and one with the counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from trueline.apitable.pairs import (
    Difference,
    Documented,
    Kind,
    Machine,
    Measured,
    Outcome,
    documented,
    measured,
    row_of,
)
from trueline.migrate.lab.report import outcome_words, when_words
from trueline.model.message import message

Row = tuple[Documented, Measured]


def rows_of(kind: Kind) -> list[Row]:
    """The pairs of a kind with what was measured."""
    return [(pair, row_of(pair)) for pair in documented() if pair.kind is kind]


def kinds() -> list[Kind]:
    """The kinds that have a page, in their order."""
    present = {pair.kind for pair in documented()}
    return [kind for kind in Kind if kind in present]


def index_page(lang: str, ending: str) -> str:
    """How many pairs of each kind have which outcome."""
    machine = measured().machine
    lines = [f"# {_said('api.title', lang)}", "", _on(machine, lang), ""]
    lines += _counts_table([(kind, rows_of(kind)) for kind in kinds()], lang, ending)
    consistent = [row for kind in kinds() for row in rows_of(kind) if row[0].documented == "consistent"]
    differing = [(pair, row) for pair, row in consistent if _told(row)]
    lines += ["", f"## {_said('api.page_consistent', lang)}", ""]
    lines += [_said("api.page_consistent_text", lang, count=len(differing), all=len(consistent)), ""]
    for pair, row in differing:
        lines += _examples(pair, row, lang, every=False)
    return "\n".join(lines) + "\n"


def kind_page(kind: Kind, lang: str) -> str:
    """All pairs of a kind: a table, then what differs with the smallest example."""
    rows = rows_of(kind)
    lines = [f"# {_said(f'api.kind_{kind.value}', lang)}", "", _on(measured().machine, lang), ""]
    columns = ("torch", "mindspore", "documented", "outcome", "write", "when", "cases")
    lines += _table([_said(f"api.column_{name}", lang) for name in columns], (_cells(row, lang) for row in rows))
    lines += ["", f"## {_said('api.page_differences', lang)}", ""]
    for pair, row in rows:
        lines += _examples(pair, row, lang, every=True)
    return "\n".join(lines) + "\n"


def _cells(row: Row, lang: str) -> list[str]:
    pair, found = row
    whens = dict.fromkeys(when_words(d).text(lang) for d in found.differences if d.what not in ("precision", "kernel"))
    return [
        f"`{pair.torch}`",
        f"`{pair.mindspore}`",
        _said(f"api.documented_{pair.documented}", lang),
        outcome_words(found.outcome).text(lang),
        ", ".join(f"`{need.for_torch}`" for need in found.needs),
        "; ".join(whens),
        str(found.cases),
    ]


def _told(row: Measured) -> list[Difference]:
    """The differences that a user of a pair must know of: those that show with ordinary inputs."""
    if row.outcome in (Outcome.NO_KERNEL, Outcome.MISSING):
        return []
    return [
        d
        for d in row.differences
        if d.what in ("values", "gradient", "shape")
        and (d.is_ordinary or any(w.startswith("default:") for w in d.when))
    ]


def _examples(pair: Documented, row: Measured, lang: str, *, every: bool) -> Iterable[str]:
    left_out = ("precision", "width", "kernel", "raises")
    told = [d for d in row.differences if d.what not in left_out] if every else _told(row)
    if not told:
        return
    yield f"### {pair.torch} · {pair.mindspore}"
    for difference in told:
        example = difference.example
        what = _said(f"api.what_{difference.what}", lang)
        yield f"- {what} ({when_words(difference).text(lang)})"
        yield f"  - `{_code(example.torch)}` → `{_code(example.torch_gives)}`"
        yield f"  - `{_code(example.mindspore)}` → `{_code(example.mindspore_gives)}`"
    yield ""


def _code(text: str) -> str:
    return " ".join(text.replace("`", "'").split())


def _counts_table(kinds_rows: Sequence[tuple[Kind, list[Row]]], lang: str, ending: str) -> list[str]:
    head = [_said("api.column_kind", lang), *(outcome_words(o).text(lang) for o in Outcome)]
    head += [_said("api.column_count", lang), _said("api.column_cases", lang)]
    body = []
    for kind, rows in kinds_rows:
        counts = [sum(row.outcome is outcome for _, row in rows) for outcome in Outcome]
        name = f"[{_said(f'api.kind_{kind.value}', lang)}]({kind.value}{ending})"
        body.append([name, *map(str, counts), str(len(rows)), str(sum(row.cases for _, row in rows))])
    every = [row for _, rows in kinds_rows for _, row in rows]
    totals = [sum(row.outcome is outcome for row in every) for outcome in Outcome]
    body.append([_said("api.all", lang), *map(str, totals), str(len(every)), str(sum(row.cases for row in every))])
    return _table(head, body)


def _table(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return lines + ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in body]


def _on(machine: Machine, lang: str) -> str:
    return _said(
        "api.page_measured_on",
        lang,
        torch=machine.torch_version,
        mindspore=machine.mindspore_version,
        device=machine.device,
        cases=machine.cases,
    )


def _said(id: str, lang: str, **params: object) -> str:
    return message(id, **params).text(lang)
