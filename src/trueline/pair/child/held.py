"""What modules hold without training it: tables, masks, positions, by the attribute that has them and its line."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from trueline.adapters.nouns import Network, Unreadable, Value
from trueline.adapters.protocol import Values
from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.pair.child.assigned import decided_at
from trueline.pair.child.host import Host

# Fewer numbers may be another constant's by chance.
_MIN_TELLING_SIZE: Final = 4


@dataclass(slots=True)
class Held:
    """Names of values that attributes hold, and the lines that assign these and all others that are not trained."""

    names: dict[int, str] = field(default_factory=dict)
    assigned: dict[int, Location] = field(default_factory=dict)


def held_constants(host: Host, arrays: Sequence[Array | None], made: Collection[int], names: Mapping[int, str]) -> Held:
    """Of values that nothing has made: what attribute has them. What has no name yet is known by its numbers."""
    values = host.adapter.values
    modules = dict(values.modules(host.model))
    trained = {tensor.name for tensor in values.tensors(host.model) if tensor.trainable and not tensor.buffer}
    found = Held()
    for number, name in names.items():
        path, _, attribute = name.rpartition(".")
        line = decided_at(host, modules[path], attribute) if name not in trained and path in modules else None
        if line is not None:
            found.assigned[number] = line
    unnamed = {
        number: array
        for number, array in enumerate(arrays)
        if array is not None and number not in made and number not in names and array.size >= _MIN_TELLING_SIZE
    }
    attributes = _attributes(values, modules) if unnamed else iter(())
    for path, name, held in attributes:
        for number, array in unnamed.items():
            if (
                number not in found.names
                and held.size == array.size
                and np.array_equal(held.reshape(-1), array.reshape(-1))
            ):
                found.names[number] = f"{path}.{name}" if path else name
                line = decided_at(host, modules[path], name)
                if line is not None:
                    found.assigned[number] = line
    return found


@contextmanager
def holding(host: Host, held: Mapping[str, Array]) -> Iterator[None]:
    """In this block attributes of modules have other values of the same shapes."""
    values, modules = host.adapter.values, dict(host.adapter.values.modules(host.model))
    with ExitStack() as undoing:
        for name, array in held.items():
            path, _, attribute = name.rpartition(".")
            module = modules[path]
            own = getattr(module, attribute)
            if isinstance(own, np.ndarray):
                undoing.callback(setattr, module, attribute, own)
                setattr(module, attribute, array.reshape(own.shape).astype(own.dtype))
            elif values.is_tensor(own):
                undoing.callback(values.assign, own, values.to_numpy(own, copy=True))
                values.assign(own, array.reshape(values.shape(own)).astype(values.to_numpy(own).dtype))
        yield


def _attributes(values: Values, modules: Mapping[str, Network]) -> Iterator[tuple[str, str, Array]]:
    """Arrays and tensors that modules have as attributes, in lists too."""
    for path, module in modules.items():
        for name, value in list(vars(module).items()):
            for each in value if isinstance(value, list | tuple) else (value,):
                array = _array(values, each)
                if array is not None and array.size >= _MIN_TELLING_SIZE:
                    yield path, name, array


def _array(values: Values, value: Value) -> Array | None:
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind in "biuf" else None
    if not values.is_tensor(value):
        return None
    try:
        return values.to_numpy(value)
    except Unreadable:
        return None
