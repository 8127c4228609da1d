"""Which values of an argument decide whether both disagree: ``Dropout`` refuses p=1.0 and no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from trueline.apitable.pairs import ARGUMENT, Decisive, Difference, Documented
from trueline.migrate.lab.arguments import default_of, renamed
from trueline.migrate.lab.draw import DrawnValue
from trueline.migrate.lab.judging import What
from trueline.migrate.lab.trials import Trial

# So many values that agree say that the only one that does not is an exception.
_SEVERAL: Final = 2
# More different values than this are no choices but numbers at random.
_MAX_VALUES: Final = 16


def deciding(pair: Documented, difference: Difference, trials: Sequence[Trial]) -> Difference:
    """A difference with the values of its arguments that make it, as far as the calls that were made tell."""
    names = [word.removeprefix(ARGUMENT) for word in difference.when]
    if not difference.is_ordinary or not names:
        return difference
    given = [_given(trial) for trial in trials if not trial.conditions and trial.calls is not None]
    whats = [trial.verdict for trial in trials if not trial.conditions and trial.calls is not None]
    calls = [(values, verdict) for values, verdict in zip(given, whats, strict=True) if set(names) <= set(values)]
    found: dict[str, Decisive] = {}
    for name in names:
        bad = {repr(values[name]) for values, verdict in calls if verdict.what.value == difference.what}
        fine = {repr(values[name]) for values, verdict in calls if verdict.agrees or verdict.what is What.PRECISION}
        whole = all(_is_plain(values[name]) for values, _ in calls)
        if not whole or not bad or bad & fine or len(bad | fine) > _MAX_VALUES:
            continue
        default = default_of(pair.torch_parameters, name) or ""
        others = True if fine <= {default} else False if len(bad) == 1 and len(fine) >= _SEVERAL else None
        if default not in bad and default == default_of(pair.mindspore_parameters, renamed(pair).get(name, name)):
            # Written or left out, it is the same call.
            fine.add(default)
        found[name] = Decisive(tuple(sorted(bad)), tuple(sorted(fine)), others)
    return msgspec.structs.replace(difference, values=found) if found else difference


def _given(trial: Trial) -> dict[str, DrawnValue]:
    return {**trial.draw.values, **trial.draw.build}


def _is_plain(value: DrawnValue) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_plain(element) for element in value)
    return value is None or isinstance(value, str | bool | int | float)
