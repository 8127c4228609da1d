"""What was raised, as evidence: the error in one line, the user's line, the sample and the operator."""

from __future__ import annotations

import linecache
import re
import traceback
from collections.abc import Sequence
from typing import Final

from trueline.adapters.guest.faults import Place, first_line, is_users, nearest, words
from trueline.adapters.pipeline import Nothing, Unfit
from trueline.data.pipeline.answers import ColumnsJson, FailureJson
from trueline.data.pipeline.child.meter import blamed
from trueline.model.location import Location

_FRAME: Final = re.compile(r'^\s*File "([^"]+)", line (\d+), in ', re.MULTILINE)
_NAMED: Final = re.compile(r'^\s*File "([^"]+)", line (\d+), in (\S+)', re.MULTILINE)
_LOOPS: Final = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")
# The last line of a traceback inside of a longer text.
_RAISED: Final = re.compile(r"^([A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning)): ?(.*)$", re.MULTILINE)

# What MindSpore's engine has to say, in the middle of a page.
_ENGINE: Final = re.compile(r"^\[ERROR\] (.+)$", re.MULTILINE)


def failure(error: BaseException, doing: str, sample: int | None, operator: int | None = None) -> FailureJson:
    """The JSON of an evidence.Failure."""
    places: Sequence[Place] = [
        (frame[0].f_code.co_filename, frame[1]) for frame in traceback.walk_tb(error.__traceback__)
    ]
    kind, text = type(error).__name__, first_line(error)
    inner = _FRAME.findall(words(error))
    if inner:
        # A traceback of another process or of an engine's thread, told as text.
        places = [(file, int(line)) for file, line in inner]
        raised = _RAISED.findall(words(error))
        if raised:
            kind, text = raised[-1][0].rpartition(".")[2], raised[-1][1] or text
    found = blamed(error)
    operator = found if found is not None else operator
    engine = _ENGINE.search(words(error))
    if engine and not inner:
        text = engine[1].strip()
    inside = error.__cause__
    if isinstance(inside, StopIteration):
        # A generator may not end in the middle of another; where it did is what matters.
        places = [(frame[0].f_code.co_filename, frame[1]) for frame in traceback.walk_tb(inside.__traceback__)]
    place = nearest(places)
    # Where nothing else is known, a line of a package is better than none; of a batch the samples are known.
    nothing_else = operator is None and doing != "batching"
    line = Location(*place) if place is not None and (is_users(place[0]) or nothing_else) else None
    columns: ColumnsJson | None = None
    if isinstance(error, Nothing):
        operator, line = error.place, None
    if isinstance(error, Unfit):
        operator, line = error.place, error.line
        columns = ColumnsJson(wanted=error.wanted, given=error.given, missing=error.missing, twice=error.twice)
    return {
        "kind": kind,
        "error": text,
        "line": line.line_json() if line is not None else None,
        "code": linecache.getline(line.file, line.line).strip() if line is not None else "",
        "doing": doing,
        "sample": sample,
        "operator": operator,
        "columns": columns,
        "function": _function(error, line),
    }


def _function(error: BaseException, line: Location | None) -> str:
    """The name of the user's function that a line is in; the loops in brackets of Python have none of their own."""
    frames = [
        (frame.f_code.co_filename, at, frame.f_code.co_name) for frame, at in traceback.walk_tb(error.__traceback__)
    ]
    frames += [(file, int(at), name) for file, at, name in _NAMED.findall(words(error))]
    place = max((at for at, frame in enumerate(frames) if line and frame[:2] == (line.file, line.line)), default=-1)
    while place > 0 and frames[place][2] in _LOOPS and frames[place - 1][0] == frames[place][0]:
        place -= 1
    return frames[place][2] if place >= 0 else ""
