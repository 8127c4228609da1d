"""Tensors inside whatever a module takes or returns."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from dataclasses import dataclass
from typing import Any

import pytest

from trueline.adapters.tree import leaves


class Leaf:
    """Stands for a tensor."""


@dataclass
class Answer:
    """An output as large models return it."""

    logits: Any
    hidden: Any = None


Pair = namedtuple("Pair", "a b")
LEAF = Leaf()


def _names(value: Any) -> list[str]:
    return [at for at, one in leaves(value, lambda one: isinstance(one, Leaf)) if one is LEAF]


@pytest.mark.parametrize(
    ("value", "names"),
    [
        (LEAF, ["0"]),
        ((LEAF, LEAF), ["0", "1"]),
        ([LEAF, [LEAF, 3, LEAF]], ["0", "1.0", "1.2"]),
        ({"a": [LEAF, None], "b": LEAF}, ["a.0", "b"]),
        (OrderedDict(z=LEAF, a=LEAF), ["z", "a"]),
        (Pair(LEAF, (LEAF,)), ["0", "1.0"]),
        (Answer(LEAF, (LEAF, LEAF)), ["logits", "hidden.0", "hidden.1"]),
        (None, []),
        ("text", []),
        (Answer, []),
        ({3: LEAF}, ["3"]),
        ([], []),
    ],
)
def test_each_tensor_has_its_place_in_the_structure(value: Any, names: list[str]) -> None:
    assert _names(value) == names


def test_a_structure_that_holds_itself_ends() -> None:
    loop: list[Any] = [LEAF]
    loop.append(loop)
    found = _names(loop)
    assert found[0] == "0"
    assert len(found) < 20
