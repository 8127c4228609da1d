"""What crosses to a side's process and back: the same dataclass, with its arrays."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from trueline.model.location import Location
from trueline.pair.child.host import _ANSWERED_IN
from trueline.pair.questions.blocks import BlockSpec, GradientsBetween, InnerSpec
from trueline.pair.questions.forced import ForcedCall, Measured, Reshaped
from trueline.pair.questions.model import CompiledRun, Compiler
from trueline.pair.questions.module_run import Change, Ran, RunModule
from trueline.pair.questions.parts import About, LossAnswers, LossValue, Refused
from trueline.pair.questions.question import answer_type, pack, unpack
from trueline.pair.questions.recording import Call, Recording

FIRST, SECOND = np.arange(6, dtype=np.float32).reshape(2, 3), np.arange(4)
LINE = Location("net.py", 7)
TRAVELLERS = [
    RunModule("features.1", [FIRST, SECOND], gout=[None, FIRST], change=Change({"eps": 1e-3, "size": [1, 2]})),
    RunModule("", [], dropout=[0.5, 0.1], lacking={"bias": SECOND}),
    GradientsBetween([BlockSpec("a", 0, [FIRST], [InnerSpec("a.b", "c", None, [0, 2])])], True, undo="all"),
    GradientsBetween([], False, undo=[1, 2], only=["out/0"]),
    LossAnswers([Refused("side.failed", {"n": 3}), LossValue(FIRST, [None])], About("nn.L", {"p": 2}, defined=LINE)),
    ForcedCall("a", 0, None, [Measured("in", "0", 0.1, 1.0, True, "float32")], unfit=([(2, 3)], [(3,)])),
    ForcedCall("a", 1, 0, shapes=[Reshaped(0, (1,), ())], counts=(1, 2), loose=True),
    Recording(True, [Call("a", 0, None, (0,), (1, 2))], [FIRST], [("float32", (2, 3))], {1: 2}, drops=[(None, 0.5)]),
    CompiledRun([FIRST], [SECOND], {"w": (FIRST, SECOND)}),
    Ran(failed="no such class"),
]


def _plain(value: object) -> object:
    """Arrays and sequences as what can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.name, value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value


@pytest.mark.parametrize("value", TRAVELLERS, ids=lambda value: type(value).__name__)
def test_what_is_packed_is_unpacked_the_same(value: object) -> None:
    content, arrays = pack(value)
    again = unpack(type(value), json.loads(json.dumps(content)), arrays)
    assert type(again) is type(value)
    assert _plain(dataclasses.asdict(again)) == _plain(dataclasses.asdict(value))


def test_every_question_can_be_read_and_answered() -> None:
    for question in _ANSWERED_IN:
        for kind in (question, answer_type(question)):
            with pytest.raises(ValueError):
                unpack(kind, {"nonsense": []}, [])


@pytest.mark.parametrize(
    "damaged",
    [
        None,
        [],
        {"plain": [0]},
        {"plain": [5], "compiled": [], "grads": {}, "failed": ""},
        {"plain": [0], "compiled": [], "grads": {"w": [0]}, "failed": ""},
        {"plain": [0], "compiled": [], "grads": {}, "failed": 3},
        {"plain": [True], "compiled": {}, "grads": {}, "failed": ""},
    ],
)
def test_a_damaged_answer_is_refused(damaged: object) -> None:
    with pytest.raises(ValueError):
        unpack(CompiledRun, damaged, [FIRST])


def test_a_question_names_the_type_of_its_answer() -> None:
    assert answer_type(Compiler) is str
    assert answer_type(RunModule) is Ran


def test_what_has_no_shape_does_not_travel() -> None:
    with pytest.raises(TypeError, match="object"):
        pack([object()])
