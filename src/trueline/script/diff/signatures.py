"""Arguments of a library's call by their names, with the defaults of those that are not given."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

from trueline.script.trace import Event
from trueline.script.values import Const, Seq, Value


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a call: those that may be given by place, and plain defaults."""

    by_place: tuple[str, ...]
    names: frozenset[str]
    defaults: Mapping[str, object]


@cache
def _lines() -> Mapping[str, str]:
    text = resources.files("trueline.script.diff").joinpath("signatures.toml").read_text("utf-8")
    return {name: str(line) for name, line in tomllib.loads(text).items()}


@cache
def signature_of(name: str) -> Signature | None:
    """What is known of a library's call by its full name."""
    line = _lines().get(name)
    if line is None:
        return None
    by_place: list[str] = []
    names: list[str] = []
    defaults: dict[str, object] = {}
    placed = True
    for part in _parts(line):
        if part == "*":
            placed = False
            continue
        parameter, given, default = part.partition("=")
        names.append(parameter)
        if placed:
            by_place.append(parameter)
        if given and default != "?":
            defaults[parameter] = ast.literal_eval(default)
    return Signature(tuple(by_place), frozenset(names), defaults)


def _parts(line: str) -> list[str]:
    """The parameters between commas; those inside brackets belong to a default."""
    parts: list[str] = []
    depth, begin = 0, 0
    for at, character in enumerate(line):
        depth += (character in "([") - (character in ")]")
        if character == "," and not depth:
            parts.append(line[begin:at].strip())
            begin = at + 1
    return [*parts, line[begin:].strip()]


def named_arguments(event: Event) -> dict[str, Value] | None:
    """Arguments by name, defaults filled in; None where the call is not known or cannot be looked into."""
    signature = signature_of(event.name)
    if signature is None or event.open or len(event.args) > len(signature.by_place):
        return None
    arguments: dict[str, Value] = {name: _value(default) for name, default in signature.defaults.items()}
    arguments.update(zip(signature.by_place, event.args, strict=False))
    arguments.update(event.kwargs)
    return arguments if set(event.kwargs) <= signature.names else None


def _value(default: object) -> Value:
    if isinstance(default, tuple):
        return Seq("tuple", [Const(item) for item in default])
    return Const(default)
