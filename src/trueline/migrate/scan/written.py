"""How the arguments of a call are written in the other framework's, where that is not as they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final

from trueline.apitable.attributes import KnownLayer, known_layer
from trueline.apitable.literals import UNKNOWN, same, value_of
from trueline.apitable.pairs import Documented, Kind
from trueline.apitable.synonyms import synonyms
from trueline.migrate.lab.arguments import becomes_function, default_of, is_opaque, is_variadic, plain, renamed
from trueline.migrate.lab.draw import Draw, DrawnValue
from trueline.migrate.lab.special_arguments import Untranslatable
from trueline.migrate.lab.translating_classes import mindspore_build
from trueline.migrate.scan.counterparts import Route
from trueline.script.uses.use import Call

# Stands for a value that is not written in the call: what becomes of it shows how any other is written.
_STAND_INS: Final[dict[type, tuple[DrawnValue, str]]] = {bool: (True, "True"), int: (987, "987"), float: (0.75, "0.75")}


def written_otherwise(call: Call, pair: Documented, route: Route) -> tuple[str, ...]:
    """The arguments of torch's call that have another name, place or form in MindSpore's."""
    if is_opaque(pair.mindspore_parameters) or not pair.mindspore_parameters or pair.kind is Kind.INITIALISER:
        # An initialiser is an object here and a function there: what to write is said beside it.
        return ()
    by_class = pair.kind not in (Kind.FUNCTION, Kind.METHOD)
    ours = [name for name, _ in pair.torch_parameters]
    theirs = [plain(name) for name, _ in pair.mindspore_parameters]
    if route is Route.FUNCTION:
        # The tensor itself is the function's first argument.
        ours, theirs = ours[1:], theirs[1:]
    elif becomes_function(pair):
        theirs = theirs[1:]
    found: list[str] = []
    for place, (name, text) in enumerate(_placed(call, ours)):
        if name.startswith("*"):
            found += _in_one(pair, plain(name), [one.text for one in call.arguments[place:] if one.name is None])
            break
        found += _by_class(pair, name, text, theirs, place) if by_class else _by_name(pair, name, text, theirs, place)
    for argument in call.arguments:
        if argument.name is not None and argument.name not in ("*", "**"):
            make = _by_class if by_class else _by_name
            found += make(pair, argument.name, argument.text, theirs, None)
    return tuple(found)


def written_in_torch(
    call: Call | None, given: Mapping[str, str], pair: Documented
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The arguments of a layer of MindSpore's that are written otherwise in torch's, and those that torch's lacks."""
    ours, theirs = known_layer(pair.mindspore), known_layer(pair.torch)
    if ours is None or theirs is None or ours.kind is not theirs.kind:
        return (), ()
    values = {name: value for name, text in given.items() if (value := value_of(text)) is not UNKNOWN}
    defaults = {name: value_of(default) for name, default in pair.mindspore_parameters if default is not None}
    whole = {**{name: value for name, value in defaults.items() if value is not UNKNOWN}, **values}
    try:
        shared = ours.read({name: value for name, value in whole.items() if name in values or name not in given}, {})
    except (TypeError, ValueError, KeyError, AttributeError, IndexError):
        # A value that no such layer takes.
        return (), ()
    written: dict[str, str] = {}
    lacking: list[str] = []
    placed = [argument.name for argument in call.arguments].count(None) if call is not None else 0
    names = ([name for name, _ in side] for side in (pair.mindspore_parameters, pair.torch_parameters))
    by_place = list(zip(*names, strict=False))[:placed]
    for name, attribute in ours.kind.has.items():
        spelled = attribute.spelled(ours.flavour)
        beside = "pad_mode" if name == "padding" else spelled
        if name not in shared or not {spelled, beside} & set(values):
            continue
        found = theirs.written(name, shared[name]) if not _is_uneven(ours, name, shared) else None
        if found is not None and len(found) == 1 and (spelled, next(iter(found))) in by_place:
            continue
        if found is None:
            lacking.append(beside if beside in values else spelled)
        elif list(found) != [spelled] or not same(value_of(repr(found[spelled])), values.get(spelled, UNKNOWN)):
            written |= {other: repr(made) for other, made in found.items()}
    return tuple(f"{other}={source}" for other, source in written.items()), tuple(lacking)


def _is_uneven(layer: KnownLayer, name: str, has: Mapping[str, object]) -> bool:
    """Whether a padding is one that torch has not: "same" in a pooling, or where a window steps further."""
    stride = has.get("stride", 1)
    steps = set(stride) if isinstance(stride, list | tuple) else {stride}
    return name == "padding" and has[name] == "same" and (layer.kind.family == "pooling" or steps != {1})


def _placed(call: Call, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The arguments that are given by place, each with its parameter's name."""
    placed = [argument.text for argument in call.arguments if argument.name is None]
    for place, text in enumerate(placed):
        if place >= len(names):
            return
        yield names[place], text
        if names[place].startswith("*"):
            return


def _in_one(pair: Documented, name: str, texts: Sequence[str]) -> list[str]:
    """Several arguments that are one in MindSpore's call."""
    other = renamed(pair).get(name, name)
    if is_variadic(pair.mindspore_parameters, other) or any(text.startswith("*") for text in texts):
        return []
    if len(texts) == 1 and not isinstance(value_of(texts[0]), int):
        # Already a list or a tuple, or a name that may stand for one.
        return []
    return [f"{other}=({texts[0]},)" if len(texts) == 1 else f"{other}=({', '.join(texts)})"]


def _by_name(pair: Documented, name: str, text: str, theirs: Sequence[str], place: int | None) -> list[str]:
    other = renamed(pair).get(name) or next((word for word in synonyms(name) if word in theirs), None)
    if other is None or (place is None and other == name):
        return []
    if place is not None and place < len(theirs) and theirs[place] == other:
        return []
    value = value_of(text)
    counted = (default_of(pair.mindspore_parameters, other) or "").isdigit()
    return [f"{other}={int(value) if isinstance(value, bool) and counted else text}"]


def _by_class(pair: Documented, name: str, text: str, theirs: Sequence[str], place: int | None) -> list[str]:
    value = value_of(text)
    written = _written_unknown(pair, name, text) if value is UNKNOWN else _built(pair, name, text)
    if not written:
        return []
    if len(written) == 1:
        ((other, source),) = written.items()
        as_is = source == text if value is UNKNOWN else same(value_of(source), value)
        if as_is and (name if place is None else theirs[place] if place < len(theirs) else "") == other:
            return []
    return [f"{other}={source}" for other, source in written.items()]


def _written_unknown(pair: Documented, name: str, text: str) -> dict[str, str] | None:
    """What a value becomes that only the run knows; None where that depends on the value."""
    default = value_of(default_of(pair.torch_parameters, name) or "")
    stand_in, spelled = _STAND_INS.get(type(default), (None, ""))
    if stand_in is None:
        return None
    written = _built(pair, name, repr(stand_in))
    if written is None:
        return None
    inverse = repr(1 - stand_in) if isinstance(stand_in, float) else ""
    found: dict[str, str] = {}
    for other, source in written.items():
        if source == spelled:
            found[other] = text
        elif inverse and source == inverse:
            found[other] = f"1 - {text}"
        elif spelled in source:
            return None
        else:
            found[other] = source
    return found


@cache
def _built(pair: Documented, name: str, text: str) -> dict[str, str] | None:
    """MindSpore's arguments for one of torch's, as source; None where there are none."""
    value = value_of(text)
    value = tuple(value) if isinstance(value, list) else value
    try:
        found = mindspore_build(pair, {name: value}, Draw())
    except (Untranslatable, KeyError, TypeError, ValueError, AttributeError, IndexError):
        # Made of several arguments, or a value that no such class takes.
        return None
    return {other: repr(made) for other, made in found.items()}
