"""What is known of the object that a part gave."""

from __future__ import annotations

from typing import Any

from trueline.adapters.steps import line_of
from trueline.model.location import Location
from trueline.model.numbers import plain
from trueline.pair.child.host import Host
from trueline.pair.child.parts import part


def about(host: Host, name: str, made_of: Any) -> dict[str, Any]:
    """What is known of a part's object: its class, the arguments it was built with, and the user's lines."""
    function = part(host, name)
    kind = made_of if callable(made_of) and hasattr(made_of, "__code__") else type(made_of)
    is_module = host.adapter.values.is_module(made_of)
    built = host.adapter.build.built(made_of) if is_module else None
    own = line_of(kind)
    if own is not None and own.file.startswith(host.adapter.build.package()):
        own = None
    found = built.line if built is not None else None
    return {
        "type": f"{kind.__module__}.{kind.__qualname__}",
        "arguments": plain(dict(built.arguments)) if built is not None else {},
        "framework": host.adapter.name,
        "ignored": _ignored(host, made_of),
        "sizes": _sizes(host, made_of),
        "attributes": plain(host.adapter.values.attributes(made_of)) if is_module else _plain_state(made_of),
        "defined": _json(own),
        "built": _json(found or line_of(function)),
    }


def _ignored(host: Host, made_of: Any) -> list[int]:
    """The labels that a loss, or one inside it, was told to ignore."""
    values = host.adapter.values
    inside = [one for _, one in values.modules(made_of)] if values.is_module(made_of) else [made_of]
    found = [getattr(one, "ignore_index", None) for one in inside]
    return [one for one in found if isinstance(one, int) and not isinstance(one, bool)]


def _sizes(host: Host, made_of: Any) -> list[int]:
    """How long the vectors are that an object holds: weights by class."""
    values = host.adapter.values
    held = [*getattr(made_of, "__dict__", {}).values()]
    if values.is_module(made_of):
        held += [one.value for one in values.tensors(made_of)]
    shapes = [values.shape(one) for one in held if values.is_tensor(one)]
    return [shape[0] for shape in shapes if len(shape) == 1]


def _plain_state(made_of: Any) -> dict[str, Any]:
    held = getattr(made_of, "__dict__", {})
    return {name: one for name, one in held.items() if isinstance(one, int | float | str | bool)}


def _json(line: Location | None) -> dict[str, Any] | None:
    return line.line_json() if line is not None else None
