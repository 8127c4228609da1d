"""What is to be converted: the arrays of a file, each by itself or several folded into one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trueline.formats.stored import Stored
from trueline.kernel.array import Array, DType
from trueline.model.message import Message


@dataclass(frozen=True, slots=True)
class Held:
    """One array under the name it has in its file, or would have there without a parametrisation.

    ``parts`` are the names in the file that it is made of, ``done`` says how.
    """

    name: str
    shape: tuple[int, ...]
    dtype: DType
    source: Stored | Array | Callable[[], Array]
    shared_with: str | None = None
    parts: tuple[str, ...] = ()
    done: tuple[Message, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names in the file."""
        return self.parts or (self.name,)

    @property
    def path(self) -> str:
        """The module it belongs to."""
        return self.name.rpartition(".")[0]

    @property
    def leaf(self) -> str:
        """Its name in its module."""
        return self.name.rpartition(".")[2]


def held(arrays: Mapping[str, Stored]) -> list[Held]:
    """The arrays of a file, in its order."""
    return [
        Held(name, stored.shape, stored.dtype.newbyteorder("<"), stored, shared_with=stored.shared_with)
        for name, stored in arrays.items()
    ]
