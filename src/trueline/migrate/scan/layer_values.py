"""The arguments of a layer in the form that both frameworks share, those left out by their defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trueline.apitable.attributes import KnownLayer, known_layer
from trueline.apitable.literals import UNKNOWN, same, value_of

Parameters = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True, slots=True)
class Apart:
    """An argument in which two layers differ: its name on both sides, and what each has in its own writing."""

    argument: str
    first: str
    second: str
    first_given: bool
    second_given: bool
    write: str  # what to write in the second to have what the first has


def layers_apart(
    names: tuple[str, str],
    parameters: tuple[Parameters, Parameters],
    given: tuple[Mapping[str, str], Mapping[str, str]],
) -> Iterator[Apart] | None:
    """The arguments in which two layers differ; None where the table does not know both."""
    first, second = known_layer(names[0]), known_layer(names[1])
    if first is None or second is None or first.kind is not second.kind:
        return None
    return _apart(first, second, parameters, given)


def _apart(
    first: KnownLayer,
    second: KnownLayer,
    parameters: tuple[Parameters, Parameters],
    given: tuple[Mapping[str, str], Mapping[str, str]],
) -> Iterator[Apart]:
    sides = (first, second)
    texts = tuple(
        {**{name: default for name, default in own if default is not None}, **explicit}
        for own, explicit in zip(parameters, given, strict=True)
    )
    values = tuple(_read(layer, text) for layer, text in zip(sides, texts, strict=True))
    for name, attribute in first.kind.has.items():
        if not attribute.cause or name not in values[0] or name not in values[1]:
            continue
        if same(values[0][name], values[1][name]):
            continue
        spelled = tuple(attribute.spelled(layer.flavour) for layer in sides)
        written = second.written(name, values[0][name])
        write = ", ".join(f"{key}={value!r}" for key, value in (written or {}).items())
        yield Apart(
            spelled[0] or spelled[1],
            _shown(spelled[0], texts[0], values[0][name]),
            _shown(spelled[1], texts[1], values[1][name]),
            spelled[0] in given[0],
            spelled[1] in given[1],
            write,
        )


def _shown(spelled: str, texts: Mapping[str, str], value: object) -> str:
    text = texts.get(spelled, repr(value))
    # What is padded says the mode, not the number.
    mode = texts.get("pad_mode") if spelled == "padding" else None
    return f"{text}, pad_mode={mode}" if mode is not None else text


def _read(layer: KnownLayer, texts: Mapping[str, str]) -> dict[str, object]:
    arguments = {name: value_of(text) for name, text in texts.items()}
    known = {name: value for name, value in arguments.items() if value is not UNKNOWN}
    hidden = arguments.keys() - known.keys()
    try:
        found = layer.read(known, {})
    except (TypeError, ValueError, KeyError, AttributeError, IndexError):
        # A value that no layer takes.
        return {}
    spelled = {name: attribute.spelled(layer.flavour) for name, attribute in layer.kind.has.items()}
    dependent = {"padding"} if "pad_mode" in hidden else set()
    return {name: value for name, value in found.items() if spelled[name] not in hidden and name not in dependent}
