"""What a call is fed with, by torch's names and free of any framework."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trueline.kernel.array import Array

# A number, text, bool, None, list or tuple of values, an array (becomes a tensor), or one of the marks below.
DrawnValue = Any


@dataclass(frozen=True, slots=True)
class DType:
    """A type of the framework, as an argument."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Strided:
    """An array that becomes a tensor that is not contiguous."""

    array: Array


@dataclass(frozen=True, slots=True)
class Module:
    """A layer or function of torch as an argument, to be put as its counterpart."""

    name: str
    build: Mapping[str, DrawnValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Draw:
    """One call to make: ``values`` for the call, ``build`` for the constructor of a class, both by torch's names.

    Only what is passed is there: an argument left out stays at its default on both sides. A positional-only or variadic
    argument has the name of its parameter (``*size`` is ``size`` with a list). ``conditions`` are those that cannot be
    seen from the values; ``conditions.py`` finds the others.
    """

    values: Mapping[str, DrawnValue] = field(default_factory=dict)
    build: Mapping[str, DrawnValue] = field(default_factory=dict)
    conditions: frozenset[str] = frozenset()
    more: Mapping[str, Any] = field(default_factory=dict)
