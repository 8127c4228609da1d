"""Where an input's scale is made in a script: multiplied, cast from whole bytes, or handed through a normaliser."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

from trueline.apitable.functions import functions_of, names_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.analysis.pipeline import (
    Way,
    dataset_place,
    is_method,
    is_scaling,
    place_of_step,
    returning,
    way_of,
)
from trueline.script.script import Script
from trueline.script.trace import Trace
from trueline.script.values import Derived, Function, Instance, Made, Seq, Symbol, Value, constant, options

_NORMALISER: Final = re.compile(r"norm|standard|scal|prep|transform|whiten|z_?score|to_input|to_unit", re.IGNORECASE)
_STATISTIC: Final = functions_of(Trait.MEAN, Trait.MEDIAN, Trait.DEVIATION, Trait.SMALLEST, Trait.LARGEST)
# A factor of so much makes numbers too large for a network out of numbers that fit.
_LARGE_FACTOR: Final = 100.0
_SCALED_STEPS: Final = names_of(Trait.SCALES_PIXELS)
_TO_FLOAT: Final = functions_of(Trait.TO_FLOAT32)
_CASTS: Final = _TO_FLOAT | functions_of(Trait.CASTS_TO, Trait.WRAPS)
_PRODUCTS: Final = functions_of(Trait.MULTIPLIES)
_DIVISIONS: Final = functions_of(Trait.DIVIDES)


def scale_place(value: Value | None, script: Script) -> Location | None:
    """The line that leaves an input as large as it is, or makes it so; None where the way to it is not seen."""
    idle = _idle_normalisers(script)
    narrow, wide = (way_of(value, script.trace, whole=whole) for whole in (False, True))
    return _scaled_at(narrow, idle) or _scaled_at(wide, {}) or dataset_place(narrow) or dataset_place(wide)


def _scaled_at(way: Way, idle: Mapping[int, Location]) -> Location | None:
    raw = any(_is_whole_bytes(value) for value in way.values)
    brought_down = any(_brings_down(value) for value in way.values)
    untouched = True
    for at, value in enumerate(way.values):
        if _is_whole_bytes(value):
            # Before it, the data is made.
            break
        if _makes_large(value):
            return place_of_step(value)
        if isinstance(value, Made) and value.name.endswith(".Normalize") and not brought_down:
            return value.event.place
        if raw and not brought_down and _casts(value):
            return place_of_step(value)
        if is_scaling(value):
            untouched = False
        if untouched and at and id(value) in idle:
            return idle[id(value)]
    return None


def _makes_large(value: Value) -> bool:
    numbers = [constant(number) for number in value.of] if isinstance(value, Derived) else []
    if is_method(value, _PRODUCTS | _DIVISIONS) and isinstance(value, Made):
        numbers = [constant(value.event.args[-1])] if value.event.args else []
    known = [abs(number) for number in numbers if isinstance(number, int | float) and not isinstance(number, bool)]
    if not known:
        return False
    if (isinstance(value, Derived) and value.op == "Mult") or is_method(value, _PRODUCTS):
        return max(known) >= _LARGE_FACTOR
    if (isinstance(value, Derived) and value.op == "Div") or is_method(value, _DIVISIONS):
        return 0 < min(known) <= 1 / _LARGE_FACTOR and not isinstance(constant(_left(value)), int | float)
    return False


def _left(value: Value) -> Value | None:
    return value.of[0] if isinstance(value, Derived) else None


def _brings_down(value: Value) -> bool:
    """Whether pixels of 0..255 are small after it."""
    if isinstance(value, Made):
        if value.name.rpartition(".")[2] in _SCALED_STEPS:
            return True
        if is_method(value, _DIVISIONS):
            number = constant(value.event.args[-1]) if value.event.args else None
            return not isinstance(number, int | float) or number > 1
    if isinstance(value, Function):
        # An operation of a pipeline that was not read by itself.
        return any(isinstance(number, ast.BinOp) for number in ast.walk(value.node))
    if isinstance(value, Derived) and value.op in ("Div", "Mult"):
        number = constant(value.of[1])
        if value.op == "Mult":
            small = [constant(number) for number in value.of]
            return any(isinstance(number, float) and 0 < number <= 0.1 for number in small)
        return not isinstance(number, int | float) or number > 1
    return False


def _is_whole_bytes(value: Value) -> bool:
    if not isinstance(value, Made):
        return False
    given = (*value.event.args, *value.event.kwargs.values())
    return any(
        (isinstance(part, Symbol) and part.name.endswith("uint8")) or constant(part) in ("uint8", "u1")
        for part in given
    )


def _casts(value: Value) -> bool:
    if isinstance(value, Function):
        return any(isinstance(node, ast.Attribute) and node.attr in _CASTS for node in ast.walk(value.node))
    if not isinstance(value, Made) or value.event.method not in _CASTS or _is_whole_bytes(value):
        return False
    if value.event.method in _TO_FLOAT:
        return True
    given = (*value.event.args, *value.event.kwargs.values())
    return any(isinstance(part, Symbol) and "float" in part.name.rpartition(".")[2] for part in given)


def _idle_normalisers(script: Script) -> dict[int, Location]:
    """What functions gave that are there to normalise, by their name or by the statistics that their object keeps."""
    places: dict[int, Location] = {}
    trace = script.trace
    statistics = _statistical_classes(trace)
    for source in script.files:
        for owner, node in _functions(source.tree):
            named = _NORMALISER.search(node.name) or (owner is not None and _NORMALISER.search(owner.name))
            kept = owner is not None and owner.name in statistics
            if node.name.startswith("__") and node.name != "__call__":
                continue
            if not (named or kept):
                continue
            for value in trace.returned.get(id(node), ()):
                for part in _single(value):
                    places.setdefault(id(part), returning(node, source.shown))
    return places


def _single(value: Value) -> Iterator[Value]:
    for part in options(value):
        yield part
        if isinstance(part, Seq) and part.kind == "tuple":
            yield from part.items


def _functions(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            yield from ((node, child) for child in node.body if isinstance(child, ast.FunctionDef))


def _statistical_classes(trace: Trace) -> set[str]:
    """The project's classes that keep a mean or a deviation of data."""
    names: set[str] = set()
    for event in trace.events:
        instance = event.result
        if event.method == "__new__" and isinstance(instance, Instance):
            held = [value for value in instance.attributes.values() if isinstance(value, Made)]
            if any(value.event.method in _STATISTIC for value in held):
                names.add(instance.cls.name)
    return names
