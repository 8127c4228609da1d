"""Which arguments and values decide whether both disagree: ``Dropout`` refuses p=1.0, ``norm(2, dim=1)`` agrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from trueline.apitable.pairs import ARGUMENT, Decisive, Difference, Documented
from trueline.migrate.lab.arguments import default_of, renamed
from trueline.migrate.lab.draw import DrawnValue, DType
from trueline.migrate.lab.judging import What
from trueline.migrate.lab.shrinking import optional
from trueline.migrate.lab.trials import Trial

# So many calls or values are more than one that may be an exception.
_SEVERAL: Final = 2
# More different values than this are no choices but numbers at random.
_MAX_VALUES: Final = 16
# How likely it may be that calls which disagree lack an argument by chance.
_CHANCE: Final = 1e-3
_Given = Mapping[str, DrawnValue]


def deciding(pair: Documented, difference: Difference, trials: Sequence[Trial]) -> Difference:
    """A difference with what makes it and what takes it away, as far as the calls that were made tell."""
    if not difference.is_ordinary:
        return difference
    names = {word.removeprefix(ARGUMENT) for word in difference.when}
    made = [trial for trial in trials if not trial.conditions and trial.calls is not None]
    calls = [(given, trial.verdict) for trial in made if names <= set(given := _given(trial))]
    bad = [given for given, verdict in calls if verdict.what.value == difference.what]
    if len(bad) < _SEVERAL:
        # An argument that MindSpore's call does not have, or one call that says nothing of others.
        return difference
    fine = [given for given, verdict in calls if verdict.agrees or verdict.what is What.PRECISION]
    values = {name: found for name in sorted(names) if (found := _decisive(pair, name, bad, fine)) is not None}
    unless = tuple(name for name in sorted(optional(pair) - names) if _takes_away(name, bad, fine))
    return msgspec.structs.replace(difference, values=values, unless=unless)


def _decisive(pair: Documented, name: str, bad: Sequence[_Given], fine: Sequence[_Given]) -> Decisive | None:
    """The values of an argument, where each only ever made both agree, or only ever disagree."""
    if not all(_is_plain(given[name]) for given in (*bad, *fine)):
        return None
    worse, better = ({_text(given[name]) for given in calls} for calls in (bad, fine))
    if not worse or worse & better or len(worse | better) > _MAX_VALUES:
        return None
    default = default_of(pair.torch_parameters, name) or ""
    others = True if better <= {default} else False if len(worse) == 1 and len(better) >= _SEVERAL else None
    if default not in worse and default == default_of(pair.mindspore_parameters, renamed(pair).get(name, name)):
        # Written or left out, it is the same call.
        better.add(default)
    return Decisive(tuple(sorted(worse)), tuple(sorted(better)), others)


def _takes_away(name: str, bad: Sequence[_Given], fine: Sequence[_Given]) -> bool:
    """Whether both agree in every call that gives an argument, and so many disagree without it that it is no chance."""
    agreeing = sum(name in given for given in fine)
    share = agreeing / max(len(bad) + len(fine), 1)
    return not any(name in given for given in bad) and (1 - share) ** len(bad) < _CHANCE


def _given(trial: Trial) -> _Given:
    return {**trial.draw.values, **trial.draw.build}


def _is_plain(value: DrawnValue) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_plain(element) for element in value)
    return value is None or isinstance(value, str | bool | int | float | DType)


def _text(value: DrawnValue) -> str:
    return f"torch.{value.name}" if isinstance(value, DType) else repr(value)
