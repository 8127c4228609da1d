"""The case of a number: which seed, which of its files, and what is done to them; the same for the same number."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from random import Random

from fuzz.case import Files, Odd, Target
from fuzz.mutators.raw import LONGEST, pick, raw

_MOST_FILE = 2 * LONGEST
# A mutator that follows a structure meets what an earlier one has made of it.
_NOT_FOLLOWED = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError, struct.error)


def case_of(target: Target, seeds: Sequence[Files], seed: int, number: int) -> Files:
    """The files of one case."""
    chance = Random(f"{target.name}:{seed}:{number}")
    files = dict(chance.choice(seeds))
    names = [name for name in files if name not in target.fixed]
    for _ in range(chance.choice((1, 1, 1, 1, 2, 3))):
        name = chance.choice(names)
        content = files.get(name)
        if not isinstance(content, bytes):
            continue
        if chance.random() < 0.01:
            _misplace(files, name, names, chance)
            continue
        mutators = target.mutators(name)
        others = [one for one in chance.choice(seeds).values() if isinstance(one, bytes)]
        for _n in range(chance.choice((1, 1, 1, 2, 2, 4, 8))):
            try:
                content = pick(mutators, chance)(content, chance, others)[:_MOST_FILE]
            except _NOT_FOLLOWED:
                content = raw(content, chance, others)[:_MOST_FILE]
        files[name] = content
    return files


def _misplace(files: Files, name: str, names: Sequence[str], chance: Random) -> None:
    """Something else where the file was, or the file elsewhere."""
    match chance.randrange(5):
        case 0:
            del files[name]
        case 1:
            files[name] = b""
        case 2:
            other = chance.choice(names)
            if other in files:
                files[name], files[other] = files[other], files[name]
        case _:
            files[name] = chance.choice(list(Odd))
