"""A comparison of two runs as a Report for people and a Result for programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from trueline.compare.align import Pair
from trueline.compare.findings import built_at, few_digits, findings, loss_parts
from trueline.compare.runs import RunComparison, Side
from trueline.compare.tensors import Row, StepComparison
from trueline.compare.verdict import Verdict
from trueline.model.curve import Curve
from trueline.model.key import Key, Kind
from trueline.model.message import Message, message
from trueline.model.report import Block, Curves, Report, Source, Strip, Table, Text
from trueline.model.result import Exit, Result
from trueline.model.run import Line

_AROUND: Final = 3
_ROWS_BEFORE: Final = 4
_ROWS_AFTER: Final = 3
_FURTHEST: Final = 5
_NUMBERS: Final = ("max_abs", "relative_max", "relative_l2", "cosine", "floor", "verdict")
# What the optimizer writes: the line that built the module has no part in it.
_UPDATED: Final = frozenset({Kind.PARAM, Kind.OPT})
# A distance of 1e-6 of a tensor's scale or less has the lowest level above noise, one of its whole scale the highest.
_DECADES: Final = 6


def report(compared: RunComparison) -> Report:
    """The comparison for people: conclusion, curves, the strip of layers, numbers and both sources."""
    return Report(
        message("compare.title", a=compared.a.name, b=compared.b.name),
        conclusion(compared),
        findings(compared),
        tuple(_blocks(compared)),
    )


def result(compared: RunComparison) -> Result:
    """The comparison for programs: the contract's fields of ``compare``."""
    first, step = compared.first, compared.differing
    return Result(
        "compare",
        conclusion(compared),
        Exit.PROBLEM if compared.differs else Exit.FINE,
        findings(compared),
        {
            "verdict": compared.verdict,
            "floor": {"estimated": True, "first": first.floor if first is not None else None},
            "first": _first_json(first, step),
            "stopped_at": step.step if step is not None else None,
            "loss": {
                "verdict": compared.loss.verdict,
                "common": compared.loss.common,
                "parts_at": compared.loss.parts.step if compared.loss.parts is not None else None,
                "largest": compared.loss.largest,
            },
        },
    )


def conclusion(compared: RunComparison) -> Message:
    """The whole comparison in one sentence."""
    if compared.first is not None and not compared.weights.apart:
        return _parts_at(compared, compared.first)
    found = findings(compared)
    if found:
        return found[0].message
    if compared.verdict is None:
        return message("compare.nothing")
    id = "compare.equal" if compared.verdict is Verdict.EQUAL else "compare.noise"
    return message(
        id,
        a=compared.a.name,
        b=compared.b.name,
        steps=compared.loss.common,
        tensors=sum(len(one.rows) for one in compared.steps),
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


def _first_json(first: Row | None, step: StepComparison | None) -> dict[str, Any] | None:
    if first is None or step is None:
        return None
    return {
        "key": str(first.pair.a),
        "other_key": str(first.pair.b),
        "step": step.step,
        "kind": first.pair.b.kind.value,
        "inputs_agree": step.inputs_agree,
    }


def _blocks(compared: RunComparison) -> Iterator[Block]:
    loss, parts = compared.loss, compared.loss.parts
    if loss.common:
        curves = [
            Curve(compared.b.name, loss.b.steps, loss.b.values),
            Curve(compared.a.name, loss.a.steps, loss.a.values),
        ]
        yield Curves(message("compare.curves"), curves, parts.step if parts is not None else None)
        yield Text(_loss_sentence(compared))
    step = compared.differing or (compared.steps[-1] if compared.steps else None)
    if step is not None:
        yield _strip(step)
        yield _table(compared, step)
    first = compared.first
    if first is not None and first.pair.b.kind not in _UPDATED:
        modules = ((compared.b, first.pair.b.module), (compared.a, first.pair.a.module))
        yield from _built(modules)
        for side, path in modules:
            yield from _source(side, path)


def _loss_sentence(compared: RunComparison) -> Message:
    parts = compared.loss.parts
    if parts is None:
        return message("compare.loss_together", steps=compared.loss.common, largest=few_digits(compared.loss.largest))
    return loss_parts(compared, parts)


def _strip(step: StepComparison) -> Strip:
    shown = [place for place, row in enumerate(step.rows) if row.pair.b.kind is Kind.OUT] or list(range(len(step.rows)))
    mark = next((place for place, row in enumerate(shown) if step.rows[row].differs), None)
    rows = [step.rows[place] for place in shown]
    return Strip(
        message("compare.strip", step=step.step),
        [_short(row) for row in rows],
        [_height(row) for row in rows],
        mark,
    )


def _short(row: Row) -> str:
    key = row.pair.b
    name = key.module or "-"
    return f"{name}#{key.call}" if key.call else name


def _height(row: Row) -> float:
    if not row.differs:
        return 0.0
    if not math.isfinite(row.level):
        return 1.0
    return min(1.0, max(0.1, 1.0 + math.log10(row.level) / _DECADES))


def _table(compared: RunComparison, step: StepComparison) -> Table:
    """The rows around the first that differs, or the furthest apart where none does."""
    if step.first is not None:
        shown = list(range(max(0, step.first - _ROWS_BEFORE), min(len(step.rows), step.first + _ROWS_AFTER + 1)))
    else:
        shown = sorted(sorted(range(len(step.rows)), key=lambda place: -step.rows[place].level)[:_FURTHEST])
    rows = [step.rows[place] for place in shown]
    renamed = any(row.pair.a != row.pair.b for row in rows)
    names = ["tensor", *(["other"] if renamed else []), *_NUMBERS]
    return Table(
        message(
            "compare.table" if step.first is not None else "compare.table_furthest",
            step=step.step,
            a=compared.a.name,
            b=compared.b.name,
        ),
        [message(f"compare.column_{name}") for name in names],
        [[_tensor(row.pair.b), *([_other(row.pair)] if renamed else []), *_numbers(row)] for row in rows],
        frozenset({shown.index(step.first)}) if step.first is not None else frozenset(),
    )


def _tensor(key: Key) -> str:
    """A key without its phase, which the title's step implies."""
    return str(key).partition("/")[2]


def _other(pair: Pair) -> str:
    return _tensor(pair.a) if pair.a != pair.b else ""


def _numbers(row: Row) -> list[Any]:
    found = row.distance
    verdict = Verdict.DIFFERS if row.differs else Verdict.EQUAL if found.identical else Verdict.NOISE
    word = message(f"compare.word_{verdict.value}")
    if not found.comparable:
        return [message("compare.shapes", a=list(found.shape_a), b=list(found.shape_b)), "", "", "", "", word]
    numbers = (found.max_abs, found.relative_max, found.relative_l2)
    return [*(f"{one:.1e}" for one in numbers), f"{found.cosine:.4f}", f"{row.floor:.1e}", word]


def _built(modules: Sequence[tuple[Side, str]]) -> Iterator[Table]:
    """How both sides built the module that differs, arguments of the same name in one row."""
    found = [(side, side.module(path)) for side, path in modules]
    arguments = [
        dict((module.arguments if module.arguments is not None else module.attributes) if module is not None else {})
        for _, module in found
    ]
    names = list(dict.fromkeys(name for one in arguments for name in one))
    if not names:
        return
    types = [module.type.rpartition(".")[2] if module is not None else "" for _, module in found]
    rows = [[name, *(_plain(one, name) for one in arguments)] for name in names]
    heads = [
        message("compare.column_side", side=side.name, type=type) for (side, _), type in zip(found, types, strict=True)
    ]
    apart = (place for place, row in enumerate(rows) if not {"", "None"} & set(row) and row[1] != row[2])
    yield Table(
        message("compare.built", module=modules[0][1] or "-"),
        [message("compare.column_argument"), *heads],
        rows,
        frozenset(apart),
    )


def _plain(arguments: dict[str, Any], name: str) -> str:
    return str(arguments[name]) if name in arguments else ""


def _source(side: Side, path: str) -> Iterator[Source]:
    module = side.module(path)
    line = module.built_at if module is not None else None
    lines = _lines(side, line) if line is not None else None
    if line is None or lines is None or not 0 < line.line <= len(lines):
        return
    begin = max(1, line.line - _AROUND)
    yield Source(line.file, line.line, lines[begin - 1 : line.line + _AROUND], begin, side.name)


def _lines(side: Side, line: Line) -> list[str] | None:
    kept = side.run.info.sources.get(line.file)
    return side.run.source(kept) if kept is not None else None
