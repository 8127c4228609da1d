"""Draws for what is constructed before it is called: layers, losses, optimizers, schedules, initialisers …"""

from __future__ import annotations

import ast
import re
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from trueline.kernel.array import Array
from trueline.migrate.lab.draw import Draw, DrawnValue, DType, Module, Strided
from trueline.migrate.lab.drawing.class_inputs import CLASS_INPUTS
from trueline.migrate.lab.drawing.layer_inputs import LAYER_INPUTS
from trueline.migrate.lab.drawing.layer_weights import weight_shapes
from trueline.migrate.lab.drawing.loss_inputs import LOSS_INPUTS
from trueline.migrate.lab.drawing.scene import Fed, Recipe, Scene

_RECIPES: Final[Mapping[str, Recipe]] = {**LAYER_INPUTS, **LOSS_INPUTS, **CLASS_INPUTS}
_EDGES: Final = (
    *("batch1", "one", "unbatched", "empty", "nan", "inf", "large", "float16", "float64", "strided"),
    *("ignored", "class_probabilities", "int64"),
)
# Of all draws; the others are finite float32 of ordinary shapes.
_EDGE_SHARE: Final = 0.35
# Recipes whose inputs have no axis for a batch.
_ANY_AXES: Final = ("elementwise", "rows", "even", "dense", "regression", "ranked", "signs", "dropped", "sequences")
_TYPES: Final = {"float16": np.float16, "float64": np.float64}
_AXES: Final = re.compile(r"([123])d")
# Half a class of draws leaves all options out: what differs by default is what ports trip over.
_CHOICES: Final = ("none", "none", "one", "one", "some", "default", "defaults")


@dataclass(frozen=True, slots=True)
class Drawable:
    """A row of ``classes.toml``."""

    inputs: str
    required: Mapping[str, Sequence[Any]]
    optional: Mapping[str, Sequence[Any]]
    both_modes: bool
    random: bool
    axes: int


@cache
def drawables() -> Mapping[str, Drawable]:
    """All classes that can be drawn for, by their names in torch."""
    text = resources.files("trueline.migrate.lab.drawing").joinpath("classes.toml").read_text("utf-8")
    return MappingProxyType({name: _row(name, row) for row in tomllib.loads(text)["class"] for name in row["names"]})


def draws(name: str, parameters: Sequence[tuple[str, str | None]], seed: int, count: int) -> list[Draw]:
    """Draws for a class of torch, the first an ordinary one with all options left out; none for an unknown class."""
    row = drawables().get(name)
    if row is None:
        return []
    key = zlib.crc32(name.encode())
    defaults = literal_defaults(parameters)
    return [_draw(name, row, defaults, np.random.default_rng((seed, key, place)), place) for place in range(count)]


def literal_defaults(parameters: Sequence[tuple[str, str | None]]) -> dict[str, Any]:
    """The defaults that are plain values."""
    found = {}
    for name, source in parameters:
        if source is not None:
            try:
                found[name] = ast.literal_eval(source)
            except (ValueError, SyntaxError):
                continue
    return found


def _row(name: str, row: Mapping[str, Any]) -> Drawable:
    axes = _AXES.search(name)
    return Drawable(
        row["inputs"],
        row.get("required", {}),
        row.get("optional", {}),
        row.get("modes") == "both",
        row.get("random", False),
        row.get("axes", int(axes[1]) if axes else 2),
    )


def _draw(name: str, row: Drawable, defaults: Mapping[str, Any], rng: np.random.Generator, place: int) -> Draw:
    word = name.rpartition(".")[2]
    edge = _EDGES[int(rng.integers(len(_EDGES)))] if place and rng.random() < _EDGE_SHARE else ""
    given = {argument: _chosen(values, row, rng) for argument, values in row.required.items()}
    if "milestones" in given:
        given["milestones"] = list(given["milestones"])
    given |= _options(row, defaults, rng, "none" if place == 0 else _CHOICES[int(rng.integers(len(_CHOICES)))])
    scene = Scene(rng, word, given, {**_UNWRITTEN.get(word, {}), **defaults, **given}, row.axes, edge)
    fed = _RECIPES[row.inputs](scene)
    build = dict(fed.build if fed.build is not None else given)
    more = dict(fed.more)
    if row.inputs in LAYER_INPUTS or row.inputs in LOSS_INPUTS:
        more["train"] = row.both_modes and bool(rng.random() < 0.6)
        if row.random and more["train"]:
            more["statistics"] = True
            return Draw(_many(fed, word, rng), build, fed.conditions, more)
        shapes = weight_shapes(word, {**scene.build, **build}, row.axes)
        more["weights"] = {leaf: _weight(leaf, shape, scene, edge) for leaf, shape in shapes.items()}
        wide = any(isinstance(one, np.ndarray) and one.dtype == np.int64 for one in fed.values.values())
        if edge == "int64" and wide and row.inputs in LOSS_INPUTS:
            return Draw(fed.values, build, fed.conditions | {edge}, more)
        conditions = fed.conditions | ({edge} if edge == "unbatched" and row.inputs not in _ANY_AXES else set())
        return Draw(_edged(fed.values, edge, rng), _edged_arguments(build, edge), frozenset(conditions), more)
    return Draw(fed.values, build, fed.conditions, more)


# Arguments that torch's class takes through ``*args``, or that a later version added.
_UNWRITTEN: Final[Mapping[str, Mapping[str, Any]]] = {
    "RNN": {"num_layers": 1, "bias": True},
    "PReLU": {"num_parameters": 1},
}


def _options(row: Drawable, defaults: Mapping[str, Any], rng: np.random.Generator, choice: str) -> dict[str, Any]:
    names = list(row.optional)
    if not names or choice == "none":
        return {}
    known = [name for name in names if name in defaults]
    picked = names[int(rng.integers(len(names)))]
    if choice == "one":
        return {picked: _chosen(row.optional[picked], row, rng)}
    if choice == "some":
        return {name: _chosen(row.optional[name], row, rng) for name in names if rng.random() < 0.4}
    if choice == "default" and known:
        picked = known[int(rng.integers(len(known)))]
        return {picked: defaults[picked]}
    return {name: defaults[name] for name in known}


def _chosen(values: Sequence[Any], row: Drawable, rng: np.random.Generator) -> DrawnValue:
    found = values[int(rng.integers(len(values)))]
    if isinstance(found, list):
        return tuple(found)
    if not isinstance(found, str) or not found.startswith("@"):
        return found
    mark, *words = found[1:].split()
    if mark == "axes":
        low, high = int(words[0]), int(words[1])
        return tuple(int(one) for one in rng.integers(low, high + 1, row.axes))
    if mark == "dtype":
        return DType(words[0])
    if mark == "module":
        return Module(words[0], {"d_model": 4, "nhead": 2, "dim_feedforward": 3})
    numbers = np.round(rng.uniform(0.2, 2.0, int(words[0])), 2).astype(np.float32)
    return numbers if mark == "numbers" else (numbers / numbers.sum()).astype(np.float32)


def _weight(leaf: str, shape: Sequence[int], scene: Scene, edge: str) -> Array:
    last = leaf.rpartition(".")[2]
    if last == "running_var":
        found = scene.shares(shape) + np.float32(0.5)
    elif len(shape) == 1 and last == "weight":
        found = scene.numbers(shape, 0.2) + np.float32(1.0)
    else:
        found = scene.numbers(shape, 0.5)
    return found.astype(_TYPES.get(edge, np.float32))


def _many(fed: Fed, word: str, rng: np.random.Generator) -> Mapping[str, DrawnValue]:
    """Enough numbers for their statistics to mean something."""
    if word.startswith("Dropout"):
        return fed.values
    return {"input": np.round(rng.normal(0.0, 1.0, (200, 100)), 2).astype(np.float32)}


def _edged(values: Mapping[str, DrawnValue], edge: str, rng: np.random.Generator) -> dict[str, DrawnValue]:
    """The inputs of a call with what an edge asks for."""
    found: dict[str, DrawnValue] = {}
    first = True
    for name, value in values.items():
        if isinstance(value, tuple):
            found[name] = tuple(_cast(one, edge) for one in value)
        elif not isinstance(value, np.ndarray):
            found[name] = value
        else:
            array = _cast(value, edge)
            if first and array.dtype.kind == "f" and array.size:
                array = _disturbed(array, edge, rng)
            found[name] = Strided(array) if first and edge == "strided" and array.ndim > 1 else array
            first = False
    return found


def _edged_arguments(build: Mapping[str, DrawnValue], edge: str) -> dict[str, DrawnValue]:
    return {name: _cast(one, edge) if isinstance(one, np.ndarray) else one for name, one in build.items()}


def _cast(array: Array, edge: str) -> Array:
    return array.astype(_TYPES[edge]) if edge in _TYPES and array.dtype.kind == "f" else array


def _disturbed(array: Array, edge: str, rng: np.random.Generator) -> Array:
    found = array.copy()
    place = int(rng.integers(found.size))
    if edge == "nan":
        found.flat[place] = np.nan
    elif edge == "inf":
        found.flat[place] = np.inf if rng.random() < 0.5 else -np.inf
    elif edge == "large":
        found = found * found.dtype.type(1000)
    return found
