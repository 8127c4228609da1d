"""What in a forward pass MindSpore's graph mode refuses, or compiles to something else.

The levels are what MindSpore 2.10 does on CPU; ``tests/migrate/scan/test_graph_mode.py`` asks it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trueline.script.uses.found import FileUses
from trueline.script.uses.use import UseKind


class Level(StrEnum):
    """What graph mode does with it."""

    REFUSED = "refused"  # it does not compile
    DIFFERS = "differs"  # it compiles, and does something else than PyNative mode
    STRICT = "strict"  # it is interpreted by Python; refused at the strict syntax level
    LIMITED = "limited"  # it compiles here; earlier versions refuse it, or it makes shapes dynamic


LEVELS: Final = {
    "try": Level.REFUSED,
    "yield": Level.REFUSED,
    "walrus": Level.REFUSED,
    "nonlocal": Level.REFUSED,
    "with": Level.REFUSED,
    "global": Level.DIFFERS,
    "inplace": Level.DIFFERS,
    "attribute_change": Level.STRICT,
    "host": Level.STRICT,
    "numpy": Level.LIMITED,
    "truth": Level.LIMITED,
    "item": Level.LIMITED,
    "dynamic_shape": Level.LIMITED,
    "slice_assign": Level.LIMITED,
    "dict_change": Level.LIMITED,
    "isinstance": Level.LIMITED,
    "print": Level.LIMITED,
    "lambda": Level.LIMITED,
    "closure": Level.LIMITED,
}
# By the last word of an API's name.
_WORDS: Final = {
    "item": "item",
    "numpy": "host",
    "asnumpy": "host",
    "tolist": "host",
    "nonzero": "dynamic_shape",
    "argwhere": "dynamic_shape",
    "masked_select": "dynamic_shape",
    "unique": "dynamic_shape",
    "unique_consecutive": "dynamic_shape",
}


@dataclass(frozen=True, slots=True)
class Limit:
    """One place in a forward pass."""

    kind: str
    level: Level
    file: str
    line: int
    what: str
    scope: str


def limits_of(file: FileUses) -> list[Limit]:
    """All places of a file, in the order of its lines."""
    found = dict.fromkeys((*_remarked(file), *_used(file)))
    return sorted(found, key=lambda limit: (limit.line, limit.kind))


def _remarked(file: FileUses) -> Iterator[Limit]:
    for remark in file.remarks:
        what = " ".join(remark.what.split())
        yield Limit(remark.kind, LEVELS[remark.kind], file.file, remark.line, what, remark.scope)


def _used(file: FileUses) -> Iterator[Limit]:
    for use in file.uses:
        if use.scope not in file.reached or use.call is None or use.kind is UseKind.UNDECIDED:
            continue
        word = use.name.rpartition(".")[2]
        kind = _WORDS.get(word, "dynamic_shape" if word == "where" and len(use.call.arguments) == 1 else "")
        if kind:
            yield Limit(kind, LEVELS[kind], file.file, use.line, use.name, use.scope)
