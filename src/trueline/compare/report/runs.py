"""A comparison of two runs as a Report for people and a Result for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from trueline.compare.findings import built_at, findings, stopped_at
from trueline.compare.report.curves import curve_blocks, loss_json
from trueline.compare.report.sources import built, source
from trueline.compare.report.strips import height
from trueline.compare.report.tables import (
    View,
    doubtful,
    floor_json,
    floor_sentence,
    folded_rows,
    leftover_json,
    leftovers,
    row_json,
    row_table,
    short,
)
from trueline.compare.rows import Row, Tensors
from trueline.compare.runs import RunComparison
from trueline.compare.stages import Stage, State, walk
from trueline.compare.verdict import Verdict
from trueline.compare.wording import few_digits
from trueline.model.finding import Conclusion, Finding
from trueline.model.key import Key, Kind, Phase
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Source, Strip, Table, Text
from trueline.model.result import Exit, Result

_ROWS_BEFORE: Final = 4
_ROWS_AFTER: Final = 3
_FURTHEST: Final = 5
# What the optimizer writes: the line that built the module has no part in it.
_UPDATED: Final = frozenset({Kind.PARAM, Kind.OPT})
# Questions that are shown although nothing was recorded to answer them: what to record next.
_ALWAYS: Final = (Stage.FIRST_LOSS, Stage.FORWARD, Stage.GRADIENTS, Stage.UPDATE)


def report(compared: RunComparison, view: View | None = None) -> Report:
    """The comparison for people: conclusion, procedure, curves, the strip of layers, numbers and both sources."""
    return Report(
        message("compare.title", a=compared.a.name, b=compared.b.name),
        conclusion(compared),
        findings(compared),
        tuple(_blocks(compared, view or View())),
    )


def result(compared: RunComparison, view: View | None = None, more: Mapping[str, object] | None = None) -> Result:
    """The comparison for programs: the contract's fields of ``compare``."""
    first, step = compared.first, compared.differing
    found = findings(compared)
    stopped = stopped_at(compared, found)
    rows = [row for tensors in compared.steps for row in tensors.rows]
    fields: dict[str, object] = {
        "kind": "run",
        "verdict": compared.verdict,
        "floor": floor_json(rows, compared.floors, first),
        "first": _first_json(first, step),
        "stopped_at": stopped.value if stopped is not None else None,
        "procedure": [
            {"stage": answer.stage.value, "state": answer.state.value, "says": answer.says.text()}
            for answer in walk(compared)
        ],
        "loss": loss_json(compared.loss),
        "tensors": [
            {"step": tensors.step, **row_json(row)}
            for tensors in compared.steps
            for row in (view or View()).rows(tensors.rows)
        ],
        "only_a": leftover_json(compared.weights.alignment.only_a, _parameter, _parameter),
        "only_b": leftover_json(compared.weights.alignment.only_b, _parameter, _parameter),
    }
    return Result("compare", conclusion(compared), _exit(compared, found), found, {**fields, **(more or {})})


def _exit(compared: RunComparison, found: Sequence[Finding]) -> Exit:
    problem = compared.differs or any(finding.conclusion is Conclusion.FOUND for finding in found)
    return Exit.PROBLEM if problem else Exit.FINE


def conclusion(compared: RunComparison) -> Message:
    """The whole comparison in one sentence."""
    found = findings(compared)
    first = compared.first
    if found and found[0].conclusion is Conclusion.FOUND:
        at_tensor = first is not None and found[0].measured == first.level and found[0].limit == first.floor.value
        return _parts_at(compared, first) if at_tensor and first is not None else found[0].message
    if compared.verdict is None:
        return message("compare.nothing")
    if found:
        return found[0].message
    id = "compare.equal" if compared.verdict is Verdict.EQUAL else "compare.noise"
    if compared.verdict is Verdict.NOISE and compared.floors.given:
        id = "compare.within"
    return message(
        id,
        a=compared.a.name,
        b=compared.b.name,
        steps=len(compared.loss.common),
        tensors=sum(len(step.rows) for step in compared.steps),
        largest=few_digits(compared.loss.largest),
    )


def _parts_at(compared: RunComparison, first: Row) -> Message:
    here, there = built_at(compared.a, first.pair.a.module), built_at(compared.b, first.pair.b.module)
    params = {
        "a": compared.a.name,
        "b": compared.b.name,
        "tensor": _tensor(first.pair.a),
        "module": first.pair.a.module or "-",
        "step": compared.steps[-1].step,
    }
    if here is None or there is None or first.pair.b.kind in _UPDATED:
        return message("compare.parts_at", **params)
    places = {"here": f"{here.file}:{here.line}", "there": f"{there.file}:{there.line}"}
    return message("compare.parts_at_line", **params, **places)


def _first_json(first: Row | None, step: Tensors | None) -> dict[str, object] | None:
    if first is None or step is None:
        return None
    return {
        "key": str(first.pair.a),
        "other_key": str(first.pair.b),
        "step": step.step,
        "kind": first.pair.b.kind.value,
        "inputs_agree": step.inputs_agree,
    }


def _blocks(compared: RunComparison, view: View) -> Iterator[Block]:
    yield _procedure(compared)
    yield from curve_blocks(compared.loss, (compared.a.name, compared.b.name))
    finished = [side.rank.finished for side in (compared.a, compared.b)]
    if finished[0] != finished[1]:
        sides = {"a": compared.a.name, "b": compared.b.name, "common": len(compared.loss.common)}
        yield Text(message("compare.steps_left", steps_a=finished[0], steps_b=finished[1], **sides))
    training = [tensors for tensors in compared.steps if tensors.rows[0].pair.b.phase is Phase.TRAIN]
    step = compared.differing or next(iter([*reversed(training), *compared.steps]), None)
    if step is not None:
        yield _strip(compared, step)
        yield _table(compared, step, view)
        yield Text(floor_sentence((row for tensors in compared.steps for row in tensors.rows), compared.floors))
    first = compared.first
    if first is not None and first.pair.b.kind not in _UPDATED:
        yield from built((compared.b, first.pair.b.module), (compared.a, first.pair.a.module))
        yield from source(compared.b, first.pair.b.module)
        yield from source(compared.a, first.pair.a.module)
    if compared.weights.other_structure:
        yield from leftovers(compared.weights.alignment, (compared.a.name, compared.b.name), (_parameter, _parameter))
    for tensors in compared.steps:
        trained = tensors.rows[0].pair.b.phase is Phase.TRAIN
        title = message("compare.rows_of_step" if trained else "compare.rows_of_eval_step", step=tensors.step)
        yield from folded_rows(title, tensors.rows, view, _name)
    yield from doubtful(compared.weights.alignment)


def _parameter(key: Key) -> str:
    return key.parameter


def _procedure(compared: RunComparison) -> Table:
    stopped = stopped_at(compared, findings(compared))
    shown = [answer for answer in walk(compared) if answer.state is not State.UNKNOWN or answer.stage in _ALWAYS]
    rows = [
        [message(f"stage.ask_{answer.stage.value}"), message(f"stage.is_{answer.state.value}"), answer.says]
        for answer in shown
    ]
    marked = frozenset(place for place, answer in enumerate(shown) if answer.stage is stopped)
    columns = [message("stage.column_question"), message("stage.column_answer"), message("stage.column_says")]
    return Table(message("stage.title"), columns, rows, marked)


def _strip(compared: RunComparison, step: Tensors) -> Strip:
    shown = [row for row in step.rows if row.pair.b.kind is Kind.OUT] or list(step.rows)
    mark = next((place for place, row in enumerate(shown) if row.differs), None)
    of_module: dict[tuple[str, int], list[Row]] = {}
    for row in step.rows:
        of_module.setdefault((row.pair.b.module, row.pair.b.call), []).append(row)
    return Strip(
        message("compare.strip", step=step.step),
        [_short(row) for row in shown],
        [height(row) for row in shown],
        mark,
        [_details(compared, row, of_module[row.pair.b.module, row.pair.b.call]) for row in shown],
    )


def _details(compared: RunComparison, row: Row, rows: Sequence[Row]) -> list[Text | Table | Source]:
    table = row_table(message("compare.rows_of_module", module=row.pair.b.module or "-"), rows, _name)
    paths = ((compared.b, row.pair.b.module), (compared.a, row.pair.a.module))
    return [table, *(block for side, path in paths for block in source(side, path))]


def _short(row: Row) -> str:
    key = row.pair.b
    name = key.module or "-"
    return f"{name}#{key.call}" if key.call else name


def _table(compared: RunComparison, step: Tensors, view: View) -> Table:
    """The rows around the first that differs, or the furthest apart where none does."""
    if step.first is not None:
        before, after = (_ROWS_BEFORE, _ROWS_AFTER) if view.top is None else (_ROWS_BEFORE, max(0, view.top - 1))
        rows = list(step.rows[max(0, step.first - before) : step.first + after + 1])
        if view.only_differing:
            rows = step.differing[: view.top or _ROWS_AFTER + 1]  # type: ignore[assignment]
    else:
        rows = sorted(step.rows, key=lambda row: -row.level)[: view.top or _FURTHEST]
    first = step.first_row
    return row_table(
        message(
            "compare.table" if first is not None else "compare.table_furthest",
            step=step.step,
            a=compared.a.name,
            b=compared.b.name,
        ),
        rows,
        _name,
        [first] if first is not None else [],
    )


def _name(row: Row) -> str:
    return short(row.pair.a, row.a.name)


def _tensor(key: Key) -> str:
    """A key without its phase, which the title's step implies."""
    return str(key).partition("/")[2]
