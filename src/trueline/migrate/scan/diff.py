"""The calls of two scripts beside each other: which arguments or defaults disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Final

from trueline.apitable.given import argument_words
from trueline.apitable.literals import UNKNOWN, same, value_of
from trueline.apitable.pairs import MINDSPORE, TORCH, Documented, documented, row_of
from trueline.migrate.scan.arguments import UNCOUNTED, Given, given_by
from trueline.migrate.scan.counterparts import counterparts
from trueline.migrate.scan.data_calls import is_loader, loader_values
from trueline.migrate.scan.layer_values import layers_apart
from trueline.script.canonical import canonical
from trueline.script.uses.use import Use, UseKind

_CALLS: Final = (UseKind.CALL, UseKind.PARTIAL, UseKind.INDIRECT, UseKind.METHOD)
_PIXELS: Final = 255.0


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An argument with what each side has; ``given`` says which of the two is written down."""

    argument: str
    bench: str
    port: str
    bench_given: bool
    port_given: bool


@dataclass(frozen=True, slots=True)
class Aligned:
    """Two calls that stand for each other."""

    bench: Use
    port: Use
    disagreements: tuple[Disagreement, ...]


@dataclass(frozen=True, slots=True)
class Diff:
    """All calls of two scripts."""

    aligned: tuple[Aligned, ...]
    only_bench: tuple[Use, ...]
    only_port: tuple[Use, ...]


def diff(bench: Sequence[Use], port: Sequence[Use]) -> Diff:
    """Two scripts, call by call; what has no counterpart in the order of the other is taken in its own order."""
    calls = tuple([use for use in uses if _is_compared(use)] for uses in (bench, port))
    words = tuple([_word(use.name) for use in side] for side in calls)
    pairs = dict(_matched(*words))
    taken = set(pairs.values())
    for at, word in enumerate(words[0]):
        if at not in pairs:
            other = next((place for place, one in enumerate(words[1]) if one == word and place not in taken), None)
            if other is not None:
                pairs[at] = other
                taken.add(other)
    aligned = [
        Aligned(calls[0][at], calls[1][other], tuple(_disagreements(calls[0][at], calls[1][other], bench, port)))
        for at, other in sorted(pairs.items())
    ]
    left = (
        tuple(use for at, use in enumerate(calls[0]) if at not in pairs and _word(use.name) in _words()),
        tuple(use for at, use in enumerate(calls[1]) if at not in taken and _word(use.name) in _words()),
    )
    return Diff(tuple(aligned), *left)


def _is_compared(use: Use) -> bool:
    return use.kind in _CALLS and use.call is not None and use.framework in (TORCH, MINDSPORE)


def _matched(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[int, int]]:
    for block in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
        yield from ((block.a + at, block.b + at) for at in range(block.size))


def _word(name: str) -> str:
    """One word for all names that the table puts in pairs with each other."""
    if is_loader(name):
        return "loader"
    return _words().get(name, name)


@cache
def _words() -> Mapping[str, str]:
    found: dict[str, str] = {}

    def root(name: str) -> str:
        while found.setdefault(name, name) != name:
            name = found[name]
        return name

    for pair in documented():
        if is_loader(pair.torch) or is_loader(pair.mindspore):
            continue
        found[root(canonical(pair.mindspore))] = root(canonical(pair.torch))
    return {name: root(name) for name in list(found)} | {"loader": "loader"}


def _disagreements(bench: Use, port: Use, benches: Sequence[Use], ports: Sequence[Use]) -> Iterator[Disagreement]:
    if is_loader(bench.name) and is_loader(port.name):
        yield from _generic(loader_values(bench, benches), loader_values(port, ports), {})
        return
    pair = _pair(bench, port)
    sides = tuple(_parameters(use, pair) for use in (bench, port))
    given = tuple(given_by(use, parameters) for use, parameters in zip((bench, port), sides, strict=True))
    apart = layers_apart((bench.name, port.name), (sides[0], sides[1]), (given[0].values, given[1].values))
    if apart is not None:
        for one in apart:
            yield Disagreement(one.argument, one.first, one.second, one.first_given, one.second_given)
        return
    if pair is None and bench.name != port.name:
        return
    names = _renamed(pair, bench.framework, port.framework)
    values = tuple(_values(one, parameters) for one, parameters in zip(given, sides, strict=True))
    implicit = _implicit(pair, bench.framework)
    for found in _generic(values[0], values[1], names):
        both_default = not found.bench_given and not found.port_given
        if both_default and implicit is not None and found.argument not in implicit:
            # Both were measured to do the same with these defaults.
            continue
        if found.argument in ("mean", "std", "#0", "#1") and _by_pixels(found):
            continue
        yield found


def _pair(bench: Use, port: Use) -> Documented | None:
    for one in counterparts(bench.name, bench.full, bench.framework).pairs:
        if canonical(one.of(port.framework)) == port.name:
            return one
    return None


def _parameters(use: Use, pair: Documented | None) -> tuple[tuple[str, str | None], ...]:
    if pair is not None and canonical(pair.of(use.framework)) == use.name:
        return pair.parameters(use.framework)
    own = counterparts(use.name, use.full, use.framework).pairs
    return own[0].parameters(use.framework) if own else ()


def _renamed(pair: Documented | None, bench: str, port: str) -> Mapping[str, str]:
    """The bench's argument: the port's, where the names differ."""
    if pair is None or bench == port:
        return {}
    renamed = row_of(pair).renamed
    if not renamed:
        # Documented as the same but for the names: by their order.
        both = zip(pair.torch_parameters, pair.mindspore_parameters, strict=False)
        theirs = {name for name, _ in pair.mindspore_parameters}
        named = pair.documented in ("names_differ", "consistent")
        renamed = {one[0]: other[0] for one, other in both if named and one[0] not in theirs and one[0] != other[0]}
        for name, words in argument_words().items():
            word = next((word for word in words if word in theirs), None)
            if word is not None and name not in theirs:
                renamed[name] = word
    return renamed if bench == TORCH else {other: one for one, other in renamed.items()}


def _implicit(pair: Documented | None, bench: str) -> frozenset[str] | None:
    """The arguments whose defaults were measured to differ; None where nothing was measured."""
    row = row_of(pair) if pair is not None else None
    if row is None or not row.cases:
        return None
    renamed = row.renamed if bench == MINDSPORE else {}
    return frozenset(renamed.get(need.argument, need.argument) for need in row.needs)


Values = Mapping[str, tuple[str, bool]]


def _values(given: Given, parameters: tuple[tuple[str, str | None], ...]) -> Values:
    """Every argument as text, and whether it is written down; by place where the names are not known."""
    found = {name: (default, False) for name, default in parameters if default is not None}
    return found | {name: (text, True) for name, text in given.values.items()}


def _generic(bench: Values, port: Values, names: Mapping[str, str]) -> Iterator[Disagreement]:
    for name, (text, is_given) in bench.items():
        other = port.get(names.get(name, name))
        if other is None or name in UNCOUNTED:
            continue
        first, second = value_of(text), value_of(other[0])
        if first is UNKNOWN or second is UNKNOWN or same(first, second) or _may_be_one_axis(name, first, second):
            continue
        yield Disagreement(name, text, other[0], is_given, other[1])


def _may_be_one_axis(name: str, first: object, second: object) -> bool:
    """Whether two axes may be the same, one counted from the end."""
    if name not in ("dim", "axis") or not isinstance(first, int) or not isinstance(second, int):
        return False
    return (first < 0) != (second < 0)


def _by_pixels(found: Disagreement) -> bool:
    """Whether one side's numbers are of values up to 1, the other's of values up to 255."""
    first, second = value_of(found.bench), value_of(found.port)
    if not isinstance(first, list) or not isinstance(second, list):
        return False
    for small, large in ((first, second), (second, first)):
        if all(isinstance(one, int | float) for one in (*small, *large)) and same([x * _PIXELS for x in small], large):
            return True
    return False
