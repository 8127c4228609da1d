"""A plan from the file alone, or from the file and a model of its own framework."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from trueline.compare.align import Rules, less_sure
from trueline.formats.printable import printable
from trueline.migrate.folding import fold
from trueline.migrate.held import Held
from trueline.migrate.modules import Naming, Recognised
from trueline.migrate.naming import Names, Other
from trueline.migrate.plan import Dropped, Move, Plan, Sorting
from trueline.migrate.recognising import recognise
from trueline.model.finding import Certainty
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage


def plan_by_layer(
    arrays: Sequence[Held],
    source: Naming,
    to: Naming,
    types: Mapping[str, str] | None = None,
    rules: Rules | None = None,
    add: str = "",
) -> Plan:
    """Names and shapes of ``to``; where those of ``source`` are the same, only the user's rules change them."""
    translating = source is not to
    if translating and to is Naming.MINDSPORE:
        arrays = fold(arrays)
    recognised = recognise(arrays, source, types)
    names = Names(recognised, to)
    given = _given(rules, arrays, recognised)
    meant = {array.name for array in arrays if array.name in given} - _through_star(rules, given)
    sorting = Sorting()
    for held in arrays:
        known = recognised[held.path]
        other = _other(held, given, meant, names, translating)
        if other.none is not None:
            sorting.dropped += [Dropped(name, other.none) for name in held.names]
            continue
        mapped = held.name in given or _above(held.path, given) is not None
        name = other.name if held.name in given else add + other.name
        why, certainty = (known.why, known.certainty) if translating else (_kept(), Certainty.CERTAIN)
        if translating:
            certainty = less_sure(certainty, names.sure(held.path))
        if mapped:
            why, certainty = message("align.reason_map"), Certainty.CERTAIN
        sorting.moves.append(Move(held, name, other.shape, why, certainty, other.done))
    _refuse_twice(sorting.moves)
    return Plan(sorting.moves, to, sorting.dropped)


def _other(held: Held, given: Mapping[str, str], meant: Container[str], names: Names, translating: bool) -> Other:
    """A tensor over there; ``meant`` are those whose whole names the user gave."""
    if held.name in meant:
        shape = names.other(held).shape if translating else held.shape
        renamed = message("convert.moved", before=held.name, after=given[held.name])
        return Other(given[held.name], shape, (*held.done, renamed))
    above = _above(held.path, given)
    path = given[held.name].rpartition(".")[0] if held.name in given else None
    if path is None and above is not None:
        # The rest of the path is spelt as the other framework spells it.
        rest = names.path(held.path).removeprefix(names.path(above)) if translating else held.path.removeprefix(above)
        path = (given[above] + rest).strip(".")
    if translating:
        return names.other(held, path)
    if path is None:
        return Other(held.name, held.shape, held.done)
    done = message("convert.moved", before=held.path, after=path or "-")
    return Other(f"{path}.{held.leaf}" if path else held.leaf, held.shape, (*held.done, done))


def _given(rules: Rules | None, arrays: Sequence[Held], recognised: Mapping[str, Recognised]) -> dict[str, str]:
    """The names, of tensors and of modules, that the user gave another one for."""
    if rules is None or not rules.mapping:
        return {}
    names = [held.name for held in arrays]
    return rules.renamed([*names, *(path for path in recognised if path)])


def _through_star(rules: Rules | None, given: Mapping[str, str]) -> set[str]:
    """The names whose last part stands for a star on both sides: their module is meant, whatever its layer has."""
    mapping = [rule for rule in rules.mapping if rule[0].endswith("*") and rule[1].endswith("*")] if rules else []
    found = Rules(mapping).renamed(given)
    return {name for name, other in found.items() if given[name] == other and other.rpartition(".")[2] == _leaf(name)}


def _leaf(name: str) -> str:
    return name.rpartition(".")[2]


def _above(path: str, given: Mapping[str, str]) -> str | None:
    """The nearest module at or above a path that the user gave another name."""
    while path:
        if path in given:
            return path
        path = path.rpartition(".")[0]
    return None


def _kept() -> Message:
    return message("convert.why_same")


def _refuse_twice(moves: Sequence[Move]) -> None:
    taken: dict[str, Move] = {}
    for move in moves:
        before = taken.setdefault(move.name, move)
        if before is not move:
            a, b = printable(before.held.name), printable(move.held.name)
            raise BadUsage("convert.same_target", a=a, b=b, name=printable(move.name))
