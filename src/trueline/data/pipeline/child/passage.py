"""Samples through a pipeline with all that each operator makes of them, to be put beside another pipeline's."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from trueline.adapters.guest.wire import Content
from trueline.adapters.nouns import Value
from trueline.data.pipeline.answers import StepJson
from trueline.data.pipeline.child.host import Answer, Host
from trueline.data.pipeline.child.meter import State
from trueline.kernel.array import Array
from trueline.model.numbers import plain


def answer_passage(host: Host, content: Content, _: list[Array]) -> Answer:
    """The samples ``wanted``, with randomness fixed by ``seed`` before each of them.

    ``indexes`` are those of the samples that did not fail; ``steps`` are the operators that the first value of a
    sample has gone through; ``samples`` has for each sample how many arrays there are of it: what was there before the
    first step and after each, and then all of its values.
    """
    host.journal.doing("passage")
    taken: list[tuple[list[State], list[Array]]] = []
    indexes: list[int] = []
    host.meter.states = []
    with host.meter.listening():
        _seed(host, content["seed"])
        for row in host.opened.rows(host.meter, content["wanted"]):
            states, host.meter.states = host.meter.states, []
            _seed(host, content["seed"])
            fields = host.reader.arrays(row.value, copy=True) if row.error is None else []
            if fields:
                taken.append((_path(host, states, fields[0]), fields))
                indexes.append(row.index)
    host.meter.states = None
    path = [state.place for state in taken[0][0]] if taken else []
    if any([step.place for step in steps] != path for steps, _ in taken):
        # What the steps made of samples that went other ways cannot be put side by side.
        path, taken = [], [([], fields) for _, fields in taken]
    host.kept.path = taken[0][0] if taken else []
    samples, arrays = [], []
    for steps, fields in taken:
        passed = [steps[0].before[0], *(step.after[0] for step in steps)] if steps else [fields[0]]
        samples.append([len(passed), len(fields)])
        arrays += [*passed, *fields]
    return {"steps": [_told(host, place) for place in path], "samples": samples, "indexes": indexes}, arrays


def answer_onward(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """These arrays through the steps from ``first`` on; ``failed`` where that cannot be done."""
    host.journal.doing("passage")
    found: list[Array] = []
    for array in arrays:
        current: Value = array
        for step in host.kept.path[content["first"] :]:
            call = host.opened.call(step.place)
            if call is None or not isinstance(step.given, tuple) or len(step.given) != 1:
                return {"failed": True}, []
            try:
                current = call(_like(host, current, step.given[0]))
            except Exception:  # noqa: BLE001 - a step of the user's may refuse values of another pipeline
                return {"failed": True}, []
        made = host.reader.arrays(current, copy=True)
        if not made:
            return {"failed": True}, []
        found.append(made[0])
    return {"failed": False}, found


def _path(host: Host, states: Sequence[State], last: Array) -> list[State]:
    """The operators that a value has gone through, found backward from its end."""
    found: list[State] = []
    current, at = last, len(states) - 1
    while at >= 0:
        state = states[at]
        step = host.meter.of(state.place).kind in ("step", "map", "group")
        if step and state.before and state.after and _same(state.after[0], current):
            inner = _path(host, states[at - state.inside : at], current) if state.inside else []
            # What does its work by calling others is known better by those.
            whole = bool(inner) and _same(inner[0].before[0], state.before[0])
            found[:0] = inner if whole else [state]
            current, at = state.before[0], at - state.inside
        at -= 1
    return found


def _same(array: Array, other: Array) -> bool:
    floats = array.dtype.kind in "fc" and other.dtype.kind in "fc"
    return array.shape == other.shape and bool(np.array_equal(array, other, equal_nan=floats))


def _told(host: Host, place: int) -> StepJson:
    operator = host.meter.of(place)
    line = operator.line.line_json() if operator.line is not None else None
    return {"name": operator.name, "settings": plain(dict(operator.settings)), "line": line}


def _like(host: Host, value: object, example: object) -> object:
    """An array as what a step was given: a tensor, an image or an array."""
    array = host.reader.array(value)
    if array is None or isinstance(example, np.ndarray):
        return value if array is None else array
    if host.adapter.values.is_tensor(example):
        return host.adapter.values.from_numpy(array)
    from PIL import Image

    return Image.fromarray(array) if isinstance(example, Image.Image) else array


def _seed(host: Host, seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    host.adapter.state.seed(seed, deterministic=False)
