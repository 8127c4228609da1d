"""Which item of the checklist a difference belongs to: exactly one, or none where it is not understood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from trueline.checks.bench_script.across import numbers_apart
from trueline.checks.bench_script.of_networks import in_loss, in_network, in_scores, means, sharing
from trueline.checks.bench_script.of_samples import samples
from trueline.checks.bench_script.of_training import (
    epochs,
    groups,
    loading,
    rate,
    scaling,
    schedule,
    starts,
    steps,
    turned,
)
from trueline.model.location import Location
from trueline.script.diff.comparing import compared
from trueline.script.diff.difference import Difference, Kind
from trueline.script.diff.placing import Placing
from trueline.script.diff.surroundings import Surroundings
from trueline.script.script import Script

Rule = Callable[[Difference, Surroundings], str | None]
# The first that knows a difference names its item.
_RULES: tuple[Rule, ...] = (
    rate, groups, scaling, epochs, loading, starts, sharing, steps, samples, means, in_network, in_loss, in_scores,
    schedule,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Broken:
    """A difference, the item that it breaks, and the line of the script where."""

    code: str
    difference: Difference
    place: Location


@lru_cache(maxsize=2)
def broken_items(script: Script, bench: Script) -> Sequence[Broken]:
    """What a script breaks against its benchmark's, each place of an item once."""
    if not script.frameworks & bench.frameworks:
        apart = numbers_apart(script, bench)
        return [Broken(code, one, one.mine.place) for code, one in apart if one.mine is not None and one.mine.place]
    around = Surroundings(compared(script, bench))
    placing = Placing(around)
    told: dict[tuple[str, int], Broken] = {}
    for one in around.found:
        code = code_of(one, around)
        if code is None:
            continue
        place = placing.of(one)
        if place is not None and (placing.is_certain(one, place) or _is_number(one, code)):
            around.codes.add(code)
            # One line is one fault: what comes after the first difference in it is of the same making.
            told.setdefault((place.file, place.line), Broken(code, one, place))
    return list(told.values())


# Items of which a number decides, whatever is around it.
_OF_NUMBERS = ("hp.01", "hp.02", "hp.03", "mp.02")


def _is_number(one: Difference, code: str) -> bool:
    """Whether the same setting has another value: that counts in scripts that are written otherwise, too."""
    values = [thing.constant for thing in one.things]
    return code in _OF_NUMBERS and one.kind is Kind.SETTING and len(values) == 2 and None not in values


def code_of(one: Difference, around: Surroundings) -> str | None:
    """The item of a difference."""
    if one.kind is Kind.ORDER:
        return turned(one, around)
    return next((code for rule in _RULES if (code := rule(one, around)) is not None), None)
