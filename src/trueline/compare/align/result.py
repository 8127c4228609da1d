"""What is aligned and what comes out of it: tensors of two sides, pairs with their reasons, leftovers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from trueline.model.finding import Certainty
from trueline.model.key import Key
from trueline.model.message import Message
from trueline.model.run import CallInfo


@dataclass(frozen=True, slots=True)
class Item:
    """One tensor of one side."""

    key: Key
    shape: tuple[int, ...] | None = None
    dtype: str = ""


@dataclass(frozen=True, slots=True)
class Structure:
    """What is known of one side: items in execution or file order, module types by path, calls with their edges."""

    items: Sequence[Item]
    types: Mapping[str, str] = field(default_factory=dict)
    calls: Sequence[CallInfo] = ()


class Reason(StrEnum):
    """Why two keys are taken for the same."""

    MAP = "map"
    NAME = "name"
    LEAF = "leaf"
    PREFIX = "prefix"
    RENAMED = "renamed"
    ORDER = "order"
    VALUES = "values"

    @property
    def text(self) -> Message:
        """The reason in words."""
        return Message(f"align.reason_{self.value}")


class Layout(StrEnum):
    """How the elements of one side lie in the other's."""

    SAME = "same"
    SQUEEZED = "squeezed"
    TRANSPOSED = "transposed"


@dataclass(frozen=True, slots=True)
class Pair:
    """A key here, the same one there, why and how sure."""

    a: Key
    b: Key
    reason: Reason
    certainty: Certainty
    layout: Layout = Layout.SAME


@dataclass(frozen=True, slots=True)
class Leftover:
    """A key without a counterpart; ``nearest`` is the likest key of the other side, which may be another's."""

    key: Key
    nearest: Key | None = None
    likeness: float = 0.0


@dataclass(frozen=True, slots=True)
class Alignment:
    """Pairs in the order of side b, and what is left over on both sides.

    ``ignored`` counts the tensors of both sides that the user left out, ``renamed`` are module paths of b and
    of a where they differ, ``unused`` the user's rules that matched nothing.
    """

    pairs: Sequence[Pair]
    only_a: Sequence[Leftover]
    only_b: Sequence[Leftover]
    ignored: int = 0
    renamed: Mapping[str, str] = field(default_factory=dict)
    unused: Sequence[str] = ()
