"""How the work of a regular expression grows with what it is given."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

_LITERAL = re.compile(r"[A-Za-z0-9_<>%:=|.\-/]+")
# All of these look for a place to begin at everywhere.
_METHODS = dict.fromkeys(("findall", "finditer", "sub", "subn", "split"), "search")
_ENDS = ("", "\n", "!", "\0")
_COMMON = (" ", "a", "0", "_", ".", "a.", ".1", "a_", "aB", "\t ", "1,", "/a", "-", '":', ": <", "'", "(")
# The work of sizes that are too small to be measured is called none.
_FLOOR = 0.004
_SIZES = (1 << 11, 1 << 12, 1 << 13)


@dataclass(frozen=True, slots=True)
class Used:
    """A pattern that a module keeps, and the methods that it is used by there."""

    name: str
    pattern: re.Pattern[str] | re.Pattern[bytes]
    methods: tuple[str, ...]


def patterns(package: str) -> Iterator[Used]:
    """Every compiled pattern that a module of a package keeps."""
    root = importlib.import_module(package)
    names = [package]
    if hasattr(root, "__path__"):
        names += [one.name for one in pkgutil.walk_packages(root.__path__, f"{package}.")]
    for name in names:
        module = importlib.import_module(name)
        for key, value in vars(module).items():
            if isinstance(value, re.Pattern):
                used = re.findall(rf"\b{key}\.(\w+)\(", inspect.getsource(module))
                yield Used(
                    f"{name}.{key}", value, tuple(sorted({_METHODS.get(one, one) for one in used} or {"search"}))
                )


def pieces(pattern: str) -> list[str]:
    """What a text that is hard for a pattern may be made of: its own words, alone and joined."""
    own = sorted(
        {one for found in _LITERAL.findall(pattern) for one in (found, *re.split(r"[^A-Za-z]+", found)) if one}
    )
    words = [one for one in own if len(one) < 24][:24]
    return [*dict.fromkeys([*words, *_COMMON, *(f"{one}_" for one in words), *(f"{one} " for one in words)])]


def starts(pattern: str) -> list[str]:
    """How a text may begin that gets past the first word of a pattern."""
    words = _LITERAL.findall(pattern)[:1]
    return ["", *(f"{one}1_a" for one in words), *words]


def slow_on(used: Used) -> str | None:
    """What a pattern takes more than in proportion to the length of; None where nothing was found."""
    pattern = used.pattern
    text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    is_text = isinstance(pattern.pattern, str)
    for piece in pieces(text):
        for end in _ENDS:
            for start, method in product(starts(text), used.methods):
                given = [f"{start}{piece * (size // len(piece))}{end}" for size in _SIZES]
                verb = getattr(pattern, method)
                if _grows(verb, [one if is_text else one.encode("latin-1", "replace") for one in given]):
                    return f"{method}: {start!r} {piece!r} … {end!r}"
    return None


def _grows(verb: Callable[..., object], given: list[str] | list[bytes]) -> bool:
    """Whether twice the length takes about four times the work, twice in a row and when asked again."""
    for _ in range(2):
        took = [max(_FLOOR / 4, _work(verb, one)) for one in given]
        if took[2] < _FLOOR or took[2] < 3 * took[1] or took[1] < 2.5 * took[0]:
            return False
    return True


def _work(verb: Callable[..., object], given: str | bytes) -> float:
    begin = time.process_time()
    verb(given)
    return time.process_time() - begin
