"""What is known of the object that a part gave."""

from __future__ import annotations

from trueline.adapters.steps import line_of
from trueline.model.json_value import JsonObject
from trueline.model.numbers import plain
from trueline.pair.child.host import Host, UserObject
from trueline.pair.child.parts import value_of
from trueline.pair.questions.parts import About


def about(host: Host, name: str, made_of: UserObject) -> About:
    """What is known of a part's object: its class, the arguments it was built with, and the user's lines."""
    function = value_of(host, name)
    kind = made_of if callable(made_of) and hasattr(made_of, "__code__") else type(made_of)
    is_module = host.adapter.values.is_module(made_of)
    built = host.adapter.build.built(made_of) if is_module else None
    own = line_of(kind)
    if own is not None and own.file.startswith(host.adapter.build.package()):
        own = None
    line = built.line if built is not None else None
    return About(
        type=f"{kind.__module__}.{kind.__qualname__}",
        arguments=plain(dict(built.arguments)) if built is not None else {},
        attributes=plain(host.adapter.values.attributes(made_of)) if is_module else _plain_state(made_of),
        framework=host.adapter.name,
        ignored=_ignored(host, made_of),
        sizes=_sizes(host, made_of),
        defined=own,
        built=line or line_of(function),
    )


def _ignored(host: Host, made_of: UserObject) -> list[int]:
    """The labels that a loss, or one inside it, was told to ignore."""
    values = host.adapter.values
    inside = [module for _, module in values.modules(made_of)] if values.is_module(made_of) else [made_of]
    labels = [getattr(loss, "ignore_index", None) for loss in inside]
    return [label for label in labels if isinstance(label, int) and not isinstance(label, bool)]


def _sizes(host: Host, made_of: UserObject) -> list[int]:
    """How long the vectors are that an object holds: weights by class."""
    values = host.adapter.values
    held = [*getattr(made_of, "__dict__", {}).values()]
    if values.is_module(made_of):
        held += [tensor.value for tensor in values.tensors(made_of)]
    shapes = [values.shape(value) for value in held if values.is_tensor(value)]
    return [shape[0] for shape in shapes if len(shape) == 1]


def _plain_state(made_of: UserObject) -> JsonObject:
    held = getattr(made_of, "__dict__", {})
    return {name: value for name, value in held.items() if isinstance(value, int | float | str | bool)}
