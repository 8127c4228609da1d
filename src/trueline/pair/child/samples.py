"""Batches of a side's dataset, and raw samples through its transforms, step by step."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.guest.wire import Content
from trueline.adapters.steps import defined, name_of, settings_of
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.pair.child.host import Answer, Host
from trueline.pair.child.part_about import about
from trueline.pair.child.parts import made, refuse


def answer_batches(host: Host, content: Content, _: list[Array]) -> Answer:
    """The first ``count`` batches of ``of`` (batches or dataset) with randomness fixed by ``seed``, as arrays.

    ``batches`` says how many arrays each has; ``single`` that the dataset gives samples and not batches.
    """
    name = content["of"]
    _seed(host, content.get("seed", 0))
    source = made(host, name)
    with said_for(host.side, name):
        found = [_arrays(host, one) for one in islice(_items(host, name, source), content["count"])]
    if not found or not found[0]:
        raise SideTrouble("pair_parts.no_batches", side=host.side, name=name)
    told = {"batches": [len(one) for one in found], "single": _single(source), "about": about(host, name, source)}
    return told, [array for one in found for array in one]


def _items(host: Host, name: str, source: Any) -> Iterator[Any]:
    if hasattr(source, "create_tuple_iterator"):
        return iter(source.create_tuple_iterator(num_epochs=1, output_numpy=True))
    if isinstance(source, Mapping) or not (isinstance(source, Iterable) or hasattr(source, "__getitem__")):
        raise refuse(host, name, source, "iterable of batches")
    # A map-style dataset need not end by itself.
    return (source[place] for place in range(len(source))) if _single(source) else iter(source)


def _single(source: Any) -> bool:
    """Whether this gives samples one by one: a map-style dataset, which no loader batches."""
    indexed = hasattr(source, "__getitem__") and hasattr(source, "__len__")
    return indexed and not isinstance(source, list | tuple) and not hasattr(source, "create_tuple_iterator")


def _arrays(host: Host, batch: Any) -> list[Array]:
    """The arrays and numbers of a batch in order; texts are left out."""
    found = [array(host, one) for _, one in leaves(batch, lambda one: _is_value(host, one))]
    return [one for one in found if one.dtype.kind in "biufc"]


def _is_value(host: Host, value: Any) -> bool:
    """Whether this is a number, a tensor of any framework, or an image."""
    if isinstance(value, np.ndarray | np.generic | int | float) or host.adapter.values.is_tensor(value):
        return True
    return hasattr(value, "__array__") or hasattr(value, "__array_interface__")


def array(host: Host, value: Any) -> Array:
    """A tensor, an image or a number as an array of its own memory."""
    values = host.adapter.values
    return values.to_numpy(value, copy=True) if values.is_tensor(value) else np.array(value)


def _seed(host: Host, seed: int) -> None:
    random.seed(seed)
    np.random.seed(seed)
    host.adapter.state.seed(seed, deterministic=False)


def answer_transform(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """Each of the raw samples, else of the given arrays, through the transforms from ``first`` on.

    The arrays of the answer are, sample by sample, the sample itself and what each step makes of it.
    """
    _seed(host, content.get("seed", 0))
    if "transforms" not in host.kept:
        host.kept["transforms"] = _steps(host, made(host, "transforms"))
    steps: list[Callable[[Any], Any]] = host.kept["transforms"]
    first = content.get("first", 0)
    samples: Sequence[Any] = arrays or _samples(host, content["count"])
    found: list[Array] = []
    with said_for(host.side, "transforms"):
        for one in samples:
            # The same randomness for each sample, whatever was drawn before it.
            _seed(host, content.get("seed", 0))
            found += _through(host, one, steps[first:])
    return {"steps": [_told(host, one) for one in steps], "samples": len(samples)}, found


def _samples(host: Host, count: int) -> list[Any]:
    given = made(host, "samples")
    if not isinstance(given, Iterable):
        raise refuse(host, "samples", given, "list")
    with said_for(host.side, "samples"):
        return list(islice(iter(given), count))


def _steps(host: Host, given: Any) -> list[Callable[[Any], Any]]:
    """A list, or what composes a list, to its steps."""
    if "Compose" in type(given).__name__:
        given = getattr(given, "transforms", given)
    if isinstance(given, list | tuple):
        return [step for one in given for step in _steps(host, one)]
    if not callable(given):
        raise refuse(host, "transforms", given, "list of callables")
    return [given]


def _through(host: Host, sample: Any, steps: Sequence[Callable[[Any], Any]]) -> list[Array]:
    found = [array(host, sample)]
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
        first = next((one for _, one in leaves(current, lambda one: _is_value(host, one))), None)
        if first is None:
            raise refuse(host, "transforms", current, "array | tensor | image")
        current = first
        found.append(array(host, first))
    return found


def _as_image(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.dtype != np.uint8 or value.ndim not in (2, 3):
        return None
    try:
        from PIL import Image
    except ImportError:
        return None
    return Image.fromarray(value)


def _told(host: Host, step: Callable[[Any], Any]) -> dict[str, Any]:
    line = defined(step, host.adapter.build.package())
    return {
        "name": name_of(step),
        "settings": settings_of(step),
        "line": line.line_json() if line is not None else None,
    }
