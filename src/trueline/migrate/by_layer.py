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
    meant = {one.name for one in arrays if one.name in given} - _through_star(rules, given)
    sorting = Sorting()
    for one in arrays:
        known = recognised[one.path]
        other = _other(one, given, meant, names, translating)
        if other.none is not None:
            sorting.dropped += [Dropped(name, other.none) for name in one.names]
            continue
        mapped = one.name in given or _above(one.path, given) is not None
        name = other.name if one.name in given else add + other.name
        why, certainty = (known.why, known.certainty) if translating else (_kept(), Certainty.CERTAIN)
        if translating:
            certainty = less_sure(certainty, names.sure(one.path))
        if mapped:
            why, certainty = message("align.reason_map"), Certainty.CERTAIN
        sorting.moves.append(Move(one, name, other.shape, why, certainty, other.done))
    _refuse_twice(sorting.moves)
    return Plan(sorting.moves, to, sorting.dropped)


def _other(one: Held, given: Mapping[str, str], meant: Container[str], names: Names, translating: bool) -> Other:
    """A tensor over there; ``meant`` are those whose whole names the user gave."""
    if one.name in meant:
        shape = names.other(one).shape if translating else one.shape
        renamed = message("convert.moved", before=one.name, after=given[one.name])
        return Other(given[one.name], shape, (*one.done, renamed))
    above = _above(one.path, given)
    path = given[one.name].rpartition(".")[0] if one.name in given else None
    if path is None and above is not None:
        # The rest of the path is spelt as the other framework spells it.
        rest = names.path(one.path).removeprefix(names.path(above)) if translating else one.path.removeprefix(above)
        path = (given[above] + rest).strip(".")
    if translating:
        return names.other(one, path)
    if path is None:
        return Other(one.name, one.shape, one.done)
    done = message("convert.moved", before=one.path, after=path or "-")
    return Other(f"{path}.{one.leaf}" if path else one.leaf, one.shape, (*one.done, done))


def _given(rules: Rules | None, arrays: Sequence[Held], recognised: Mapping[str, Recognised]) -> dict[str, str]:
    """The names, of tensors and of modules, that the user gave another one for."""
    if rules is None or not rules.mapping:
        return {}
    names = [one.name for one in arrays]
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
    for one in moves:
        before = taken.setdefault(one.name, one)
        if before is not one:
            a, b = printable(before.held.name), printable(one.held.name)
            raise BadUsage("convert.same_target", a=a, b=b, name=printable(one.name))
