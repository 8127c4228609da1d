"""Initialisation: what both sides draw over several seeds; weights that are carried over would hide it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.json_value import JsonObject
from trueline.model.message import Message, message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.blame import Blame, Cause, Stage, StageResult, StageVerdict
from trueline.pair.parameters.initial_rules import Drawn, Rule, allowed, differ, log_ratio, pooled_differ, rules
from trueline.pair.parameters.param_words import role_of
from trueline.pair.questions.described import Described
from trueline.pair.questions.model import DrawWeights
from trueline.pair.sides.side import Side

_SEEDS: Final = 5
_SEEDS_OF_LARGE: Final = 1
# A model with more elements takes long to build, and has values enough with one seed.
_LARGE_ELEMENTS: Final = 10_000_000
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


def initial_stage(bench: Side, port: Side, aligned: Aligned, *, seeds: int | None = None) -> StageResult:
    """Let both sides build their model again for several seeds, and compare the distributions."""
    pairs = [pair for pair in aligned.pairs if _counts(pair)]
    if seeds is None:
        seeds = _SEEDS if sum(math.prod(pair.bench.shape) for pair in pairs) < _LARGE_ELEMENTS else _SEEDS_OF_LARGE
    arrays: list[Array] = []
    for side, names in ((bench, [pair.bench.name for pair in pairs]), (port, [pair.port.name for pair in pairs])):
        drawn = side.answer(DrawWeights(names, list(range(1, seeds + 1))))
        if drawn is None:
            text = message("pair_update.initial_ready", side=str(side.entry))
            return StageResult(Stage.INITIAL, StageVerdict.SKIPPED, text)
        arrays.append(drawn)
    all_of = list(_drawn(aligned, pairs, arrays[0], arrays[1]))
    apart = _apart(all_of)
    blames = list(_blames(aligned, apart))
    numbers = {"count": len(all_of), "seeds": seeds}
    if not blames:
        text, out = message("pair_update.initial_passed", **numbers), message("pair_update.initial_rules_out")
        return StageResult(Stage.INITIAL, StageVerdict.PASSED, text, rules_out=out)
    text = message("pair_update.initial_found", apart=len(apart), **numbers)
    return StageResult(Stage.INITIAL, StageVerdict.FOUND, text, blames)


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
        if (
            id(parameter) not in apart
            and not parameter.bench.constant
            and allowed(parameter.bench, parameter.port) > _COARSE
        ):
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
