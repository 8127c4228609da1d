"""A setting of the port's operators that the benchmark's have otherwise, tried in the running block.

A number that only the port's code has is put in the place of one that only the benchmark's has: an eps in a
hand-written normalisation, a scale, an axis. What each operator computes with it need not be known.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.adapters.guest.trouble import SideTrouble
from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.model.message import message
from trueline.pair.blame import Cause
from trueline.pair.ops.explaining import Explanation
from trueline.pair.ops.op_graph import Graph, Op
from trueline.pair.ops.sink_levels import sink_levels
from trueline.pair.ops.value_words import at
from trueline.pair.questions.blocks import Alteration

Run = Callable[[Sequence[Alteration]], Graph]
Candidate = tuple["Constant", "Constant", Json]
# Each costs a run of the block: fewer are worth it where operators have explained it already, in other words.
_MOST_TRIES: Final = 24
_FEW_TRIES: Final = 6
# So many settings are also tried two at a time.
_IN_PAIRS: Final = 8
_SMALL: Final = 0.1
_SCALING: Final = ("mul", "div")
# A number with which an operator does nothing.
_NEUTRAL: Final[Mapping[str, float]] = {"mul": 1.0, "div": 1.0, "add": 0.0, "sub": 0.0}
# What a setting is called in either framework, and the cause that it stands for.
_CAUSES: Final[Mapping[str, Cause]] = {
    "eps": Cause.EPS,
    "epsilon": Cause.EPS,
    "dim": Cause.AXIS,
    "axis": Cause.AXIS,
    "align_corners": Cause.ALIGN_CORNERS,
    "count_include_pad": Cause.COUNT_PAD,
    "ceil_mode": Cause.CEIL_MODE,
    "approximate": Cause.GELU_FORM,
    "negative_slope": Cause.SLOPE,
    "padding": Cause.PADDING,
    "stride": Cause.STRIDE,
}


@dataclass(frozen=True, slots=True)
class Constant:
    """A setting of one operator."""

    op: Op
    setting: str
    value: Json


@dataclass(frozen=True, slots=True)
class Settled:
    """What a setting explains, and how the port's block is to be run with it put right."""

    explanations: Sequence[Explanation]
    alterations: Sequence[Alteration]


def explained_by_constant(
    bench: Graph, port: Graph, floor: float, run: Run, explained: Sequence[Explanation]
) -> Settled | None:
    """The setting that brings the port's block nearer to the benchmark's; None where there is none.

    ``run`` gives the port's graph with a setting altered; ``explained`` is what is known without.
    """
    before = sink_levels(bench, port)
    wrong = before.beyond(floor)
    if not wrong:
        return None
    known = any(explanation.confirmed for explanation in explained)
    candidates = list(itertools.islice(_candidates(bench, port), _FEW_TRIES if known else _MOST_TRIES))
    tries: list[tuple[Candidate, ...]] = [(candidate,) for candidate in candidates]
    if not known:
        pairs = itertools.combinations(candidates[:_IN_PAIRS], 2)
        tries += [pair for pair in pairs if pair[0][0] is not pair[1][0]]
    for tried in tries:
        try:
            after = sink_levels(bench, run([_alteration(mine, wanted) for mine, _, wanted in tried]))
        except SideTrouble:
            continue
        left = after.beyond(floor)
        if left < wrong:
            healed = wrong - left
            levels = [max(side.levels.get(sink, math.inf) for sink in healed) for side in (before, after)]
            found = [_explained(*candidate, (levels[0], levels[1])) for candidate in tried]
            return Settled(found, [_alteration(mine, wanted) for mine, _, wanted in tried])
    return None


def confirmed_by_holding(
    bench: Graph, port: Graph, floor: float, run: Callable[[Mapping[str, Array]], Graph], found: Sequence[Explanation]
) -> list[Explanation]:
    """The same, with tables tried that an operator takes which is not understood: the port's module holds the other."""
    before = sink_levels(bench, port)
    wrong = before.beyond(floor)

    def tried(explanation: Explanation) -> Explanation:
        if explanation.held is None or explanation.confirmed or not wrong:
            return explanation
        try:
            after = sink_levels(bench, run(dict([explanation.held])))
        except SideTrouble:
            return explanation
        healed = wrong - after.beyond(floor)
        if not healed or after.beyond(floor) - wrong:
            return explanation
        return replace(explanation, confirmed=True, left=max(after.levels[sink] for sink in healed))

    return [tried(explanation) for explanation in found]


def _alteration(mine: Constant, wanted: Json) -> Alteration:
    return Alteration(mine.op.name, mine.op.line, mine.setting, mine.value, wanted)


def _explained(mine: Constant, theirs: Constant, wanted: Json, levels: tuple[float, float]) -> Explanation:
    line = mine.op.set_at or mine.op.line
    params: dict[str, object] = {
        "kind": mine.op.kind,
        "port": _shown(mine.value),
        "bench": _shown(wanted),
    }
    said = message("pair_explain.constant_alike", **params)
    if mine.op.kind != theirs.op.kind:
        said = message("pair_explain.constant", other_kind=theirs.op.kind, **params)
    return Explanation(
        _cause(mine, theirs),
        said,
        message("pair_explain.constant_edit", line=at(line), other=at(theirs.op.line), **params),
        True,
        wanted,
        mine.value,
        levels[0],
        levels[1],
        line,
        theirs.op.line,
    )


def _shown(value: Json) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)


def _cause(mine: Constant, theirs: Constant) -> Cause:
    named = next((_CAUSES[each.setting] for each in (theirs, mine) if each.setting in _CAUSES), None)
    if named is not None:
        return named
    if mine.op.kind in _SCALING:
        return Cause.SCALE
    if mine.op.kind in ("add", "sub", "maximum", "clamp") and isinstance(mine.value, float):
        return Cause.EPS if max(abs(mine.value), abs(_number(theirs.value))) < _SMALL else Cause.OFFSET
    return Cause.ATTRIBUTE


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else math.inf


def _candidates(bench: Graph, port: Graph) -> Iterator[tuple[Constant, Constant, Json]]:
    """What to put where, the likeliest first: operators of one kind before others, near numbers before far ones."""
    here, there = _constants(port), _constants(bench)
    mine = [each for each in here if not any(_alike(each, other) for other in there)]
    theirs = [each for each in there if not any(_alike(other, each) for other in here)]
    seen: set[tuple[object, ...]] = set()
    found: list[tuple[float, int, Constant, Constant, Json]] = []
    # A factor or an offset of the port's alone may be one too many.
    idle = [
        (each, Constant(replace(each.op, line=None), each.setting, neutral))
        for each in mine
        if _is_real(each.value) and (neutral := _NEUTRAL.get(each.op.kind)) is not None
    ]
    for each, other in [*itertools.product(mine, theirs), *idle]:
        wanted = other.value if other.op.line is None else _wanted(each, other)
        key = (each.op.name, each.op.line, each.setting, repr(each.value), repr(wanted))
        # An operator that is to have no effect is one too many.
        if wanted is not None and key not in seen and not (_is_real(wanted) and wanted == _NEUTRAL.get(each.op.kind)):
            seen.add(key)
            found.append((_cost(each, wanted, other), len(found), each, other, wanted))
    for _, _, each, other, wanted in sorted(found, key=lambda candidate: candidate[:2]):
        yield each, other, wanted


def _constants(graph: Graph) -> list[Constant]:
    return [
        Constant(op, setting, value)
        for op in graph.ops
        if op.module is None and op.line is not None
        for setting, value in op.settings.items()
        if isinstance(value, bool | int | float | str)
    ]


def _alike(mine: Constant, theirs: Constant) -> bool:
    """Whether a setting of one side is one of the other's: a number anywhere, all else in operators of one kind."""
    a, b = mine.value, theirs.value
    if _is_real(a) and _is_real(b):
        first, second = _number(a), _number(b)
        scaling = mine.op.kind in _SCALING and theirs.op.kind in _SCALING and first != 0
        return math.isclose(first, second, rel_tol=1e-6) or (scaling and math.isclose(1 / first, second, rel_tol=1e-6))
    return type(a) is type(b) and a == b and mine.op.kind == theirs.op.kind


def _is_real(value: Json) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _wanted(mine: Constant, theirs: Constant) -> Json:
    """What the port would write for the benchmark's setting; None where the two are not of one kind."""
    a, b = mine.value, theirs.value
    same = mine.op.kind == theirs.op.kind
    if _is_real(a) and _is_real(b):
        turned = {mine.op.kind, theirs.op.kind} == set(_SCALING) and _number(b) != 0
        return 1 / _number(b) if turned else b
    if isinstance(a, bool) or isinstance(b, bool):
        return b if same and isinstance(a, bool) and isinstance(b, bool) else None
    if isinstance(a, int) and isinstance(b, int):
        return b if same else None
    return b if same and isinstance(a, str) and isinstance(b, str) and mine.setting == theirs.setting else None


def _cost(mine: Constant, wanted: Json, theirs: Constant) -> float:
    apart = 0.0 if mine.op.kind == theirs.op.kind else 2.0
    a, b = abs(_number(mine.value)), abs(_number(wanted))
    return apart + (abs(math.log10(a / b)) / 10 if a and b and math.isfinite(a + b) else 1.0)
