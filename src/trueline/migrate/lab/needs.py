"""Which arguments a port must write so that it does what torch does by default."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from trueline.apitable.pairs import Documented, Kind, Needed
from trueline.migrate.lab.arguments import default_of, literal, plain, renamed
from trueline.migrate.lab.draw import Draw, DrawnValue
from trueline.migrate.lab.special_arguments import Untranslatable
from trueline.migrate.lab.translating import translated
from trueline.migrate.lab.trials import Laboratory, Trial

# Values of one argument that are tried.
_MAX_VALUES: Final = 6


@dataclass(frozen=True, slots=True)
class Written:
    """What is written for an argument: a value, or the value of another argument of the same call."""

    argument: str
    value: DrawnValue = None
    same_as: str = ""

    def of(self, draw: Draw) -> DrawnValue:
        """The value in one call."""
        if self.same_as:
            return draw.values[self.same_as] if self.same_as in draw.values else draw.build.get(self.same_as)
        return self.value


def explicit(written: Sequence[Written], draw: Draw) -> dict[str, DrawnValue]:
    """What is written besides in the call of a draw: what it does not give itself."""
    return {
        each.argument: each.of(draw)
        for each in written
        if each.argument not in draw.values and each.argument not in draw.build
    }


def resolving(
    laboratory: Laboratory,
    pair: Documented,
    trials: Sequence[Trial],
    seen: Mapping[str, Sequence[DrawnValue]],
    known: Sequence[Written],
) -> tuple[Written, ...] | None:
    """The fewest arguments that, beside those that are known, make all calls agree when written; None where none do.

    ``seen`` are values that were drawn for arguments: a default of None stands for one of them, or for the value of
    another argument.
    """

    def agree(written: Sequence[Written]) -> bool:
        return _agree(laboratory, pair, trials, [*known, *written])

    alone = [written for written in _candidates(pair, trials[0].draw, seen) if agree([written])]
    if alone:
        return (min(alone, key=lambda written: _rank(pair, written)),)
    function = pair.kind in (Kind.FUNCTION, Kind.METHOD)
    together = [
        Written(name, value)
        for name, value in _defaults(pair, trials[0].draw)
        if value is not None and not (function and _same_default(pair, name, value))
    ]
    if len(together) < 2 or not agree(together):
        return None
    for written in list(together):
        fewer = [other for other in together if other is not written]
        if agree(fewer):
            together = fewer
    return tuple(together)


def _defaults(pair: Documented, draw: Draw) -> Iterator[tuple[str, Any]]:
    """torch's defaults that can be written down, of arguments that a draw leaves out and MindSpore's call has."""
    function = pair.kind in (Kind.FUNCTION, Kind.METHOD)
    names = renamed(pair)
    for parameter, default in pair.torch_parameters:
        name = plain(parameter)
        known, value = literal(default)
        if not known or name in draw.values or name in draw.build or (function and name not in names):
            continue
        try:
            translated(pair, draw, {name: value})
        except Untranslatable:
            continue
        yield name, value


def _candidates(pair: Documented, draw: Draw, seen: Mapping[str, Sequence[DrawnValue]]) -> Iterator[Written]:
    for name, default in _defaults(pair, draw):
        if default is not None:
            yield Written(name, default)
            continue
        for value in seen.get(name, ())[:_MAX_VALUES]:
            if isinstance(value, str | bool | int | float):
                yield Written(name, value)
        for other, value in (*draw.values.items(), *draw.build.items()):
            if isinstance(value, int | list | tuple) and not isinstance(value, bool):
                yield Written(name, same_as=other)


def _agree(laboratory: Laboratory, pair: Documented, trials: Sequence[Trial], written: Sequence[Written]) -> bool:
    for trial in trials:
        gradient = (0,) if trial.calls is not None and trial.calls.torch.gradient else ()
        tried = laboratory.tried(pair, [trial.draw], explicit(written, trial.draw), gradient)[0]
        if tried.calls is None or not tried.verdict.agrees:
            return False
    return True


def _rank(pair: Documented, written: Written) -> tuple[bool, bool]:
    """A default that differs before one that does not; where torch has none, another argument's before a value."""
    known, default = literal(default_of(pair.torch_parameters, written.argument))
    return _same_default(pair, written.argument, written.value), known and default is None and not written.same_as


def _same_default(pair: Documented, name: str, value: Any) -> bool:
    known, theirs = literal(default_of(pair.mindspore_parameters, renamed(pair).get(name, name)))
    return known and type(theirs) is type(value) and bool(np.all(theirs == value))


def needed(pair: Documented, written: Written) -> Needed:
    """How a needed argument is written on either side."""
    name = written.argument
    torch_default = default_of(pair.torch_parameters, name) or ""
    if pair.kind not in (Kind.FUNCTION, Kind.METHOD):
        from trueline.migrate.lab.translating_classes import needed as needed_by_class

        text = needed_by_class(pair, name, written.value)
        theirs = text.partition("=")[0]
    else:
        theirs = renamed(pair)[name]
        value = repr(written.value) if not written.same_as else written.same_as
        text = f"{theirs}={_like(value, default_of(pair.mindspore_parameters, theirs))}"
    mindspore_default = default_of(pair.mindspore_parameters, theirs) or ""
    back = f"{name}={mindspore_default}" if literal(mindspore_default)[0] else ""
    return Needed(name, torch_default, mindspore_default, text, back)


def _like(value: str, example: str | None) -> str:
    """A truth value as the number that the other side has in its place."""
    numbers = {"True": "1", "False": "0"}
    return numbers.get(value, value) if example is not None and example.isdigit() else value
