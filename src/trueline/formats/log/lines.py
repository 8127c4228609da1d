"""Curves out of JSON: one object a line, or one document with a list of them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from trueline.formats.files import open_file
from trueline.formats.log.names import EVALUATION, Role, evaluated, meaning
from trueline.formats.log.rows import Rows, counter
from trueline.formats.log.running import NONE
from trueline.formats.log.stream import decoded, lines_of
from trueline.model.json_value import Json, JsonObject

_MAX_LINE: Final = 1 << 20
_MAX_DOCUMENT: Final = 1 << 28
_MOST_NAMES: Final = 1000
_MOST_PLANS: Final = 200
_PLAIN: Final = frozenset({int, float, str, bool})
_STAGES: Final = ("mode", "phase", "split", "stage")


class Plan:
    """What the names of a flat object stand for: most objects of a file have the same."""

    def __init__(self, names: tuple[str, ...]) -> None:
        meanings = [(name, meaning(name[:200])) for name in names]
        scalars = {meant.curve: name for name, meant in reversed(meanings) if meant.role is Role.SCALAR}
        self._scalars = list(scalars.items())
        steps = [(meant.doubt, place) for place, (_, meant) in enumerate(meanings) if meant.role is Role.STEP]
        self._step = names[min(steps)[1]] if steps else ""
        self._epoch = next((name for name, meant in meanings if meant.role is Role.EPOCH), "")
        self._usual = len(names) <= _MOST_NAMES and not any(stage in names for stage in _STAGES)

    def add(self, rows: Rows, logged: JsonObject) -> bool:
        """Keep an object that is as usual; False for one that must be looked at closely."""
        step = logged[self._step] if self._step else NONE
        epoch = logged[self._epoch] if self._epoch else NONE
        if not self._usual or type(step) is not int or type(epoch) is not int:
            return False
        scalars: list[tuple[str, float]] = []
        for curve, name in self._scalars:
            value = logged[name]
            if type(value) is not float:
                return False
            scalars.append((curve, value))
        if not scalars:
            return False
        rows.add(scalars, step=step if step >= 0 else NONE, epoch=epoch if epoch >= 0 else NONE)
        return True


def json_rows(path: Path) -> Rows | None:
    """What a file of JSON objects says; None for what is no such file."""
    with open_file(path) as file:
        start = file.read(1 << 16)
        size = os.fstat(file.fileno()).st_size
    first = start.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if first not in (b"{", b"[") and b"\0" not in start[:4]:
        return None
    rows = Rows()
    objects = 0
    plans: dict[tuple[str, ...], Plan] = {}
    for logged in _objects(path):
        names = tuple(logged)
        plan = plans.get(names)
        if plan is None or not plan.add(rows, logged):
            _add(rows, logged)
            if len(plans) < _MOST_PLANS and all(type(value) in _PLAIN for value in logged.values()):
                plans[names] = Plan(names)
        objects += 1
    if not objects and size <= _MAX_DOCUMENT:
        with open_file(path) as file:
            document = _decode(file.read(size).removeprefix(b"\xef\xbb\xbf"))
        # The Hugging Face trainer keeps its log as a list inside its state.
        history = document.get("log_history") if isinstance(document, dict) else document
        for entry in history if isinstance(history, list) else ():
            if isinstance(entry, dict):
                _add(rows, entry)
                objects += 1
    return rows if objects else None


def _objects(path: Path) -> Iterator[dict[str, Json]]:
    for lines in lines_of(path, _MAX_LINE):
        for line in lines:
            # A line that a killed writer left unfinished is no object, and is passed over.
            value = _decode(line) if line.lstrip()[:1] == b"{" else None
            if isinstance(value, dict):
                yield value


def _decode(data: bytes) -> object:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        # Python itself writes NaN and Infinity, which are no JSON.
        return json.loads(decoded(data)[0])
    except (ValueError, RecursionError):
        return None


def _add(rows: Rows, logged: JsonObject) -> None:
    scalars: dict[str, float] = {}
    step, doubt, epoch = NONE, 9, NONE
    stage = next(
        (EVALUATION.get(str(logged[key]).lower(), "") for key in _STAGES if isinstance(logged.get(key), str)), ""
    )
    for name, value in _flat(logged):
        what = meaning(name)
        if what.role is Role.SCALAR:
            number = _number(value)
            if number is not None:
                scalars.setdefault(evaluated(what.curve, stage) if stage else what.curve, number)
        elif what.role is Role.STEP and what.doubt < doubt and (counted := counter(_number(value))) != NONE:
            step, doubt = counted, what.doubt
        elif what.role is Role.EPOCH and epoch == NONE:
            epoch = counter(_number(value))
    if scalars:
        rows.add(scalars.items(), step=step, epoch=epoch)


def _flat(logged: JsonObject) -> Iterator[tuple[str, Json]]:
    """Names and values, those of a nested object too."""
    for number, (name, value) in enumerate(logged.items()):
        if number >= _MOST_NAMES:
            return
        if isinstance(value, dict):
            for place, (inner, held) in enumerate(value.items()):
                if place >= _MOST_NAMES:
                    break
                yield f"{name}/{inner}"[:200], held
        else:
            yield name[:200], value


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
