"""Batches of a side's dataset, and raw samples through its transforms, step by step."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.nouns import Value
from trueline.adapters.steps import defined, name_of, settings_of
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.pair.child.host import Host, UserObject
from trueline.pair.child.part_about import about
from trueline.pair.child.parts import made, refuse
from trueline.pair.questions.parts import GiveBatches, GivenBatches, Step, Transform, Transformed

_Transform = Callable[[Value], Value]


def give_batches(host: Host, question: GiveBatches) -> GivenBatches:
    """The first batches as arrays."""
    name = question.of
    _seed(host, question.seed)
    source = made(host, name)
    with said_for(host.side, name):
        batches = [_arrays(host, batch) for batch in islice(_items(host, name, source), question.count)]
    if not batches or not batches[0]:
        raise SideTrouble("pair_parts.no_batches", side=host.side, name=name)
    return GivenBatches(batches, _single(source), about(host, name, source))


def _items(host: Host, name: str, source: UserObject) -> Iterator[Value]:
    if hasattr(source, "create_tuple_iterator"):
        return iter(source.create_tuple_iterator(num_epochs=1, output_numpy=True))
    if isinstance(source, Mapping) or not (isinstance(source, Iterable) or hasattr(source, "__getitem__")):
        raise refuse(host, name, source, "iterable of batches")
    # A map-style dataset need not end by itself.
    return (source[place] for place in range(len(source))) if _single(source) else iter(source)


def _single(source: UserObject) -> bool:
    """Whether this gives samples one by one: a map-style dataset, which no loader batches."""
    indexed = hasattr(source, "__getitem__") and hasattr(source, "__len__")
    return indexed and not isinstance(source, list | tuple) and not hasattr(source, "create_tuple_iterator")


def _arrays(host: Host, batch: Value) -> list[Array]:
    """The arrays and numbers of a batch in order; texts are left out."""
    arrays = [_array(host, value) for _, value in leaves(batch, partial(_is_value, host))]
    return [array for array in arrays if array.dtype.kind in "biufc"]


def _is_value(host: Host, value: Value) -> bool:
    """Whether this is a number, a tensor of any framework, or an image."""
    if isinstance(value, np.ndarray | np.generic | int | float) or host.adapter.values.is_tensor(value):
        return True
    return hasattr(value, "__array__") or hasattr(value, "__array_interface__")


def _array(host: Host, value: Value) -> Array:
    """A tensor, an image or a number as an array of its own memory."""
    values = host.adapter.values
    return values.to_numpy(value, copy=True) if values.is_tensor(value) else np.array(value)


def _seed(host: Host, seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    host.adapter.state.seed(seed, deterministic=False)


def transform(host: Host, question: Transform) -> Transformed:
    """Each sample itself, and what each step makes of it."""
    _seed(host, question.seed)
    if "transforms" not in host.made:
        host.made["transforms"] = _steps(host, made(host, "transforms"))
    steps: list[_Transform] = host.made["transforms"]
    samples: Sequence[Value] = question.samples or _samples(host, question.count)
    states: list[list[Array]] = []
    with said_for(host.side, "transforms"):
        for sample in samples:
            # The same randomness for each sample, whatever was drawn before it.
            _seed(host, question.seed)
            states.append(_through(host, sample, steps[question.first :]))
    return Transformed([_described(host, step) for step in steps], states)


def _samples(host: Host, count: int) -> list[Value]:
    given = made(host, "samples")
    if not isinstance(given, Iterable):
        raise refuse(host, "samples", given, "list")
    with said_for(host.side, "samples"):
        return list(islice(iter(given), count))


def _steps(host: Host, given: UserObject) -> list[_Transform]:
    """A list, or what composes a list, to its steps."""
    if "Compose" in type(given).__name__:
        given = getattr(given, "transforms", given)
    if isinstance(given, list | tuple):
        return [step for item in given for step in _steps(host, item)]
    if not callable(given):
        raise refuse(host, "transforms", given, "list of callables")
    return [given]


def _through(host: Host, sample: Value, steps: Sequence[_Transform]) -> list[Array]:
    states = [_array(host, sample)]
    current = sample
    for place, step in enumerate(steps):
        try:
            current = step(current)
        except (TypeError, AttributeError, ValueError, RuntimeError):
            image = _as_image(current) if place == 0 else None
            if image is None:
                raise
            # Many steps want an image, where the raw sample is its array.
            current = step(image)
        first = next((value for _, value in leaves(current, partial(_is_value, host))), None)
        if first is None:
            raise refuse(host, "transforms", current, "array | tensor | image")
        current = first
        states.append(_array(host, first))
    return states


def _as_image(value: Value) -> Value:
    if not isinstance(value, np.ndarray) or value.dtype != np.uint8 or value.ndim not in (2, 3):
        return None
    try:
        from PIL import Image
    except ImportError:
        return None
    return Image.fromarray(value)


def _described(host: Host, step: _Transform) -> Step:
    return Step(name_of(step), settings_of(step), defined(step, host.adapter.build.package()))
