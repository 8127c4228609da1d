"""Initialisation: what both sides draw over several seeds; weights that are carried over would hide it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.json_value import JsonObject
from trueline.model.message import Message, message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.blame import Blame, Cause, Stage, StageResult, StageVerdict
from trueline.pair.parameters.initial_rules import (
    ENOUGH_FOR_SHAPE,
    Drawn,
    Rule,
    allowed,
    differ,
    log_ratio,
    pooled_differ,
    pooled_error,
    rules,
)
from trueline.pair.parameters.param_words import role_of
from trueline.pair.questions.described import Described
from trueline.pair.questions.model import BuiltWeights, DrawWeights
from trueline.pair.sides.side import Side

# Besides what was drawn as the model was built: one, and more where these tell more.
_FURTHER_SEEDS: Final = ((1,), (2, 3, 4))
# A model with more elements takes long to build, and has values enough as it was built.
_LARGE_ELEMENTS: Final = 10_000_000
# How many a parameter has, as BuiltWeights says.
_NUMBERS: Final = 7
_MOST_NAMES: Final = 3
_MOST_SHOWN: Final = 64
# Beyond this a parameter alone has too few numbers to tell its spread.
_COARSE: Final = 0.1
# The rule that always holds, and how much a pair of rules says that has it on no side, on one, on both.
_ANY: Final = "random"
_SAYS: Final = (1.0, 0.7, 0.5)


@dataclass(frozen=True, slots=True)
class _One:
    """A parameter of both sides, what it is in its layer, and what both draw."""

    pair: ParamPair
    kind: str
    role: str
    bench: Drawn
    port: Drawn
    fans: tuple[tuple[int, int] | None, tuple[int, int] | None]


@dataclass(frozen=True, slots=True)
class Built:
    """The numbers of every parameter of both sides as they were built, before they were given other values.

    A side that a factory has not built has None.
    """

    bench: Mapping[str, Array] | None
    port: Mapping[str, Array] | None


def built_weights(sides: tuple[Side, Side], described: tuple[Described, Described]) -> Built:
    """What both sides have drawn as they were built."""
    found: list[dict[str, Array] | None] = []
    for side, known in zip(sides, described, strict=True):
        names = [parameter.name for parameter in known.parameters if "float" in parameter.dtype]
        numbers = side.answer(BuiltWeights(names))
        found.append(dict(zip(names, numbers, strict=True)) if numbers is not None else None)
    return Built(*found)


def initial_stage(bench: Side, port: Side, aligned: Aligned, built: Built) -> StageResult:
    """Compare the distributions of what both sides draw: as built, and for seeds more while these tell more."""
    for side, drawn in ((bench, built.bench), (port, built.port)):
        if drawn is None:
            text = message("pair_update.initial_ready", side=str(side.entry))
            return StageResult(Stage.INITIAL, StageVerdict.SKIPPED, text)
    pairs = [pair for pair in aligned.pairs if _counts(pair)]
    names = [pair.bench.name for pair in pairs], [pair.port.name for pair in pairs]
    rows = _as_built(built.bench, names[0]), _as_built(built.port, names[1])
    all_of = list(_drawn(aligned, pairs, *rows))
    large = sum(math.prod(pair.bench.shape) for pair in pairs) >= _LARGE_ELEMENTS
    for seeds in () if large else _FURTHER_SEEDS:
        there, here = bench.answer(DrawWeights(names[0], seeds)), port.answer(DrawWeights(names[1], seeds))
        if there is None or here is None:
            break
        rows = np.concatenate([rows[0], there]), np.concatenate([rows[1], here])
        all_of = list(_drawn(aligned, pairs, *rows))
        if _told(all_of):
            break
    apart = _apart(all_of)
    blames = list(_blames(aligned, apart))
    numbers = {"count": len(all_of), "seeds": len(rows[0])}
    if not blames:
        text, out = message("pair_update.initial_passed", **numbers), message("pair_update.initial_rules_out")
        return StageResult(Stage.INITIAL, StageVerdict.PASSED, text, rules_out=out)
    text = message("pair_update.initial_found", apart=len(apart), **numbers)
    return StageResult(Stage.INITIAL, StageVerdict.FOUND, text, blames)


def _as_built(built: Mapping[str, Array] | None, names: Sequence[str]) -> Array:
    """What a side drew as it was built, like that of one seed."""
    missing = np.full(_NUMBERS, np.nan)
    return np.stack([[(built or {}).get(name, missing) for name in names]]).reshape(1, len(names), _NUMBERS)


def _told(all_of: Sequence[_One]) -> bool:
    """Whether further seeds would tell no more: of each kind a tenth shows, and its shape where it matters.

    Shapes tell rules apart: of what differs, and of weights, which one rule may draw in several shapes.
    """
    kinds: dict[tuple[str, str], list[_One]] = {}
    for weight in all_of:
        if not (weight.bench.constant and weight.port.constant):
            kinds.setdefault((weight.kind, weight.role), []).append(weight)
    for members in kinds.values():
        small = [(weight.bench, weight.port) for weight in members if _is_small(weight)]
        if small and pooled_error(small) > _COARSE:
            return False
        shaped = any(len(weight.pair.bench.shape) > 1 or differ(weight.bench, weight.port) for weight in members)
        if shaped and max(map(_drawn_count, members)) < ENOUGH_FOR_SHAPE:
            return False
    return True


def _drawn_count(weight: _One) -> float:
    """How many numbers there are of it, on the side that has fewer of those that draw them."""
    return min(drawn.count for drawn in (weight.bench, weight.port) if not drawn.constant)


def _is_small(weight: _One) -> bool:
    """Whether it has too few numbers to tell by itself, and nothing is told of it yet."""
    return (
        not weight.bench.constant
        and not differ(weight.bench, weight.port)
        and allowed(weight.bench, weight.port) > _COARSE
    )


def _counts(pair: ParamPair) -> bool:
    both = (pair.bench, pair.port)
    return all("float" in parameter.dtype and parameter.shared_with is None for parameter in both)


def _drawn(aligned: Aligned, pairs: Sequence[ParamPair], bench: Array, port: Array) -> Iterator[_One]:
    fans = (_Fans(aligned.bench), _Fans(aligned.port))
    for place, pair in enumerate(pairs):
        there, here = Drawn.of(bench[:, place]), Drawn.of(port[:, place])
        if there is not None and here is not None:
            both = (fans[0].of(pair.bench_path), fans[1].of(pair.port_path))
            yield _One(pair, *role_of(aligned.port, pair.port_path), there, here, both)


class _Fans:
    """How many numbers go into and come out of one element, as initialisers count; a bias has its weight's."""

    def __init__(self, described: Described) -> None:
        self._shapes = {
            described.paths.get(parameter.name, parameter.name): parameter.shape for parameter in described.parameters
        }
        self._weights: dict[str, tuple[int, ...]] = {}
        for path, shape in self._shapes.items():
            if len(shape) > 1:
                self._weights.setdefault(path.rpartition(".")[0], shape)

    def of(self, path: str) -> tuple[int, int] | None:
        """Of a parameter by its path; None where there is no weight to count by."""
        shape = self._shapes.get(path, ())
        if len(shape) < 2:
            shape = self._weights.get(path.rpartition(".")[0], ())
        if len(shape) < 2 or not math.prod(shape):
            return None
        field = math.prod(shape[2:])
        return shape[1] * field, shape[0] * field


def _apart(all_of: Sequence[_One]) -> list[_One]:
    """Parameters that differ, by themselves or together with others of their kind."""
    all_of = [weight for weight in all_of if not _follows_from_size(weight)]
    apart = {id(weight) for weight in all_of if differ(weight.bench, weight.port)}
    small: dict[tuple[str, str], list[_One]] = {}
    for parameter in all_of:
        if _is_small(parameter):
            small.setdefault((parameter.kind, parameter.role), []).append(parameter)
    for members in small.values():
        if pooled_differ([(weight.bench, weight.port) for weight in members]):
            apart |= {id(weight) for weight in members}
    return [weight for weight in all_of if id(weight) in apart]


def _follows_from_size(parameter: _One) -> bool:
    """Whether both draw by one rule, and other numbers come only from a layer of another size."""
    if parameter.fans[0] == parameter.fans[1]:
        return False
    ours = [rule for rule in _rules(parameter, 1) if rule.name != _ANY]
    return any(rule.same(other) or other.same(rule) for rule in _rules(parameter, 0) for other in ours)


def _blames(aligned: Aligned, apart: Sequence[_One]) -> Iterator[Blame]:
    """One for each kind of parameter and pair of rules, those first that hold for most."""
    kinds: dict[tuple[str, str], list[_One]] = {}
    for parameter in apart:
        kinds.setdefault((parameter.kind, parameter.role), []).append(parameter)
    for (kind, role), members in kinds.items():
        remaining = list(members)
        while remaining:
            bench, port = _most_common(remaining)
            held = [weight for weight in remaining if _hold(weight, bench, port)]
            yield _blame(aligned, f"{kind} {role}".strip(), held, bench, port)
            remaining = [weight for weight in remaining if not _hold(weight, bench, port)]


def _most_common(members: Sequence[_One]) -> tuple[Rule, Rule]:
    """The pair of rules that explains most of the parameters; ones that say little count less."""
    counts: Counter[tuple[Rule, Rule]] = Counter()
    for parameter in members:
        for bench in _rules(parameter, 0):
            counts.update((bench, port) for port in _rules(parameter, 1) if bench != port or bench.name == _ANY)
    return max(counts, key=lambda pair: counts[pair] * _SAYS[sum(rule.name == _ANY for rule in pair)])


def _rules(parameter: _One, side: int) -> list[Rule]:
    return list(rules(parameter.port if side else parameter.bench, parameter.fans[side]))


def _hold(parameter: _One, bench: Rule, port: Rule) -> bool:
    """Whether a parameter is drawn so; small ones need not show their shape."""
    return any(bench.same(rule) for rule in _rules(parameter, 0)) and any(
        port.same(rule) for rule in _rules(parameter, 1)
    )


def _blame(aligned: Aligned, kind: str, members: Sequence[_One], bench: Rule, port: Rule) -> Blame:
    first = members[0]
    paths = [parameter.pair.port_path for parameter in members]
    texts = (bench.text(first.bench), port.text(first.port))
    names = ", ".join(paths[:_MOST_NAMES]) + (" …" if len(paths) > _MOST_NAMES else "")
    words = {"kind": kind, "bench": texts[0], "port": texts[1]}
    module, other = paths[0].rpartition(".")[0], first.pair.bench_path.rpartition(".")[0]
    return Blame(
        Stage.INITIAL,
        Cause.INITIAL,
        message("pair_update.initial_differs", count=len(paths), names=names, **words),
        module,
        other,
        bench=_value(first.bench),
        port=_value(first.port),
        # Both were drawn several times: chance does not explain the difference.
        confirmed=True,
        measured=_measured(first),
        limit=allowed(first.bench, first.port),
        line=aligned.port.built_at(module),
        other_line=aligned.bench.built_at(other),
        edit=_edit(aligned, bench, texts[0]),
        evidence=tuple(paths[:_MOST_SHOWN]),
        general=message("pair_update.initial_any", **words),
    )


def _edit(aligned: Aligned, bench: Rule, text: Message) -> Message:
    how = bench.call(aligned.port.framework)
    if how is None:
        return message("pair_update.edit_initial_plain", bench=text)
    return message("pair_update.edit_initial", how=how)


def _value(drawn: Drawn) -> JsonObject:
    if drawn.constant:
        return {"constant": drawn.mean}
    return {"mean": drawn.mean, "std": drawn.std, "shape": str(drawn.shape)}


def _measured(parameter: _One) -> float:
    if parameter.bench.constant or parameter.port.constant:
        return abs(parameter.bench.mean - parameter.port.mean) or max(parameter.bench.std, parameter.port.std)
    return float(np.abs(log_ratio(parameter.bench, parameter.port)))
