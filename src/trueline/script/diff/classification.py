"""Two scripts to differences with a subject each: what part of the training a difference changes, and at which line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from trueline.model.location import Location
from trueline.script.diff.comparing import compared
from trueline.script.diff.difference import Difference, Kind
from trueline.script.diff.hyperparameters import hyperparameters
from trueline.script.diff.network_subjects import in_loss, in_network, in_scores, means, sharing
from trueline.script.diff.placing import Placing
from trueline.script.diff.recipe import recipe_differences
from trueline.script.diff.sample_subjects import samples
from trueline.script.diff.subject import Subject
from trueline.script.diff.surroundings import Surroundings
from trueline.script.diff.training_subjects import (
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
from trueline.script.script import Script

Rule = Callable[[Difference, Surroundings], Subject | None]
# The first that knows a difference names its subject: from what a number says to what only its surroundings do.
_RULES: Final[tuple[Rule, ...]] = (
    rate, groups, scaling, epochs, loading, starts, sharing, steps, samples, means, in_network, in_loss, in_scores,
    schedule,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Classified:
    """A difference, what it is about, and the line of the script that it stands at."""

    difference: Difference
    subject: Subject
    place: Location
    # It comes from a few lines that were changed, and not from another way of writing.
    certain: bool


def classify(difference: Difference, around: Surroundings) -> Subject | None:
    """What a difference is about; None where it is not understood, or changes no training."""
    if difference.kind is Kind.ORDER:
        return turned(difference, around)
    return next((subject for rule in _RULES if (subject := rule(difference, around)) is not None), None)


@lru_cache(maxsize=2)
def classified(script: Script, bench: Script) -> Sequence[Classified]:
    """The differences of a script from its benchmark's: of recipes in any case, call by call in one framework."""
    recipes = [*hyperparameters(script, bench), *recipe_differences(script, bench)]
    found = [
        Classified(difference, subject, difference.mine.place, certain=True)
        for subject, difference in recipes
        if difference.mine is not None and difference.mine.place is not None
    ]
    if script.frameworks & bench.frameworks:
        around = Surroundings(compared(script, bench))
        found = [*classified_in(around.found, around), *found]
    return found


def classified_in(differences: Iterable[Difference], around: Surroundings) -> list[Classified]:
    """Those of the differences that have a subject and a line; each is looked at by itself."""
    placing = Placing(around)
    return [
        Classified(difference, subject, place, placing.is_certain(difference, place))
        for difference in differences
        if (subject := classify(difference, around)) is not None and (place := placing.of(difference)) is not None
    ]
