"""Randomness that nothing tells of, found by reading: in the lines between two calls, in a function, in a file."""

from __future__ import annotations

import linecache
import re
from typing import Final

from trueline.model.location import Location
from trueline.repro.trials import Trial

_DROPS: Final = re.compile(r"drop(out|_?path|_?block|_?connect)?\w*\(|stochastic_depth\(", re.I)
_DRAWS: Final = re.compile(
    r"rand\w*\(|bernoulli\w*\(|multinomial\(|normal_?\(|uniform_?\(|exponential_\(|rrelu\(|gumbel\w*\(|\.sample\(|random\w*\("
)
_ORDERS: Final = re.compile(r"randperm\(|randint\(|multinomial\(|random_split\(|Shuffle\(")
_FURTHEST: Final = 40


def random_line(trial: Trial, module: str | None) -> tuple[Location, bool] | None:
    """The line that draws before a module is called, or after the last call, and whether it drops values."""
    if trial.rank is None or module is None:
        return None
    calls = [call for call in trial.rank.calls if call.phase == "train" and call.called_at is not None]
    place = next((at for at, call in enumerate(calls) if call.path == module), None)
    if place is None:
        return None
    own, before = calls[place].called_at, calls[place - 1].called_at if place else None
    if module == "" or own is None:
        # The network's own output: what comes after the last of its calls.
        own, before = None, calls[-1].called_at
    return _between(trial, before, own)


def _between(trial: Trial, before: Location | None, own: Location | None) -> tuple[Location, bool] | None:
    known = own or before
    if known is None:
        return None
    file = next((str(entry["path"]) for entry in trial.log.of("source") if _is(str(entry["path"]), known.file)), None)
    if file is None:
        return None
    start = before.line if before is not None and before.file == known.file else known.line - _FURTHEST
    end = own.line if own is not None else start + _FURTHEST
    if start > end:
        start = end
    lines = {at: linecache.getline(file, at) for at in range(max(start, 1), end + 1)}
    for pattern in (_DROPS, _DRAWS):
        for at in reversed(lines):
            if pattern.search(lines[at].partition("#")[0]):
                return Location(file, at), pattern is _DROPS
    return None


def line_in_function(definition: Location) -> Location | None:
    """The first line of a function that draws."""
    first = linecache.getline(definition.file, definition.line)
    indent = len(first) - len(first.lstrip())
    for at in range(definition.line + 1, definition.line + _FURTHEST):
        text = linecache.getline(definition.file, at)
        if not text or (text.strip() and len(text) - len(text.lstrip()) <= indent):
            return None
        if _DRAWS.search(text.partition("#")[0]):
            return Location(definition.file, at)
    return None


def line_in_sources(trial: Trial) -> Location | None:
    """The first line of the script that draws an order."""
    for entry in trial.log.of("source"):
        for at, text in enumerate(linecache.getlines(str(entry["path"])), 1):
            if _ORDERS.search(text.partition("#")[0]):
                return Location(str(entry["path"]), at)
    return None


def _is(path: str, name: str) -> bool:
    return path == name or path.endswith("/" + name)
