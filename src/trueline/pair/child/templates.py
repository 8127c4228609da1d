"""How a module was called: the structure of its arguments, to be called again with other tensors in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from trueline.adapters.nouns import Value
from trueline.adapters.tree import replaced


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where a tensor was."""

    place: int


def _is_slot(value: object) -> bool:
    return isinstance(value, _Slot)


@dataclass(frozen=True, slots=True)
class GivenOut:
    """How a module's output was put together in its first call: an empty tensor like each in it, and its shape."""

    template: Template
    likes: Sequence[Value]
    shapes: Sequence[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Template:
    """The arguments of one call, without their tensors, of which there were ``count``."""

    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]
    count: int

    @classmethod
    def of(cls, args: tuple[Value, ...], kwargs: Mapping[str, Value], is_tensor: Callable[[Value], bool]) -> Template:
        """Take the tensors out."""
        count = 0

        def slot(_: str, __: Value) -> _Slot:
            nonlocal count
            count += 1
            return _Slot(count - 1)

        emptied, named = replaced((args, dict(kwargs)), is_tensor, slot)
        return cls(emptied, named, count)

    @property
    def plain(self) -> bool:
        """Whether the call was given tensors only, by position."""
        return not self.kwargs and all(map(_is_slot, self.args))

    def filled(self, tensors: Sequence[Value]) -> tuple[tuple[Value, ...], dict[str, Value]]:
        """The arguments with these tensors, in order, where there were others."""
        args, kwargs = replaced((self.args, dict(self.kwargs)), _is_slot, lambda _, slot: tensors[slot.place])
        return args, kwargs
