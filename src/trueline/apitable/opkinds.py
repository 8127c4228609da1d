"""Which operator of torch and which of MindSpore do the same at op level: the rows of ``opkinds.toml``."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType

_IN_PLACE = "inplace_"
_ENDINGS = ("_ext", "_view", "ext")


@dataclass(frozen=True, slots=True)
class OpKind:
    """One kind of operator and its names in lower case.

    ``view``: values stay what they are. ``constant``: no gradient goes through by nature. ``stops``: it is there to
    stop gradients.
    """

    kind: str
    torch: tuple[str, ...]
    mindspore: tuple[str, ...]
    view: bool = False
    constant: bool = False
    stops: bool = False


@cache
def op_kinds() -> Mapping[str, OpKind]:
    """All kinds of operators, by kind."""
    text = resources.files("trueline.apitable").joinpath("opkinds.toml").read_text("utf-8")
    return MappingProxyType(
        {
            kind: OpKind(
                kind,
                tuple(row.get("torch", ())),
                tuple(row.get("mindspore", ())),
                row.get("view", False),
                row.get("constant", False),
                row.get("stops", False),
            )
            for kind, row in tomllib.loads(text).items()
        }
    )


@cache
def op_kind(framework: str, name: str) -> str:
    """The kind of an operator by its name in a framework; an unknown one's own name in lower case."""
    known = _by_name(framework)
    lower = name.lower()
    return next((known[spelling] for spelling in _spellings(lower) if spelling in known), lower)


def _spellings(name: str) -> Iterator[str]:
    """The name as it is, without what says that it writes in place, and without MindSpore's endings."""
    for one in (name, name.removesuffix("_"), name.removeprefix(_IN_PLACE)):
        yield one
        for ending in _ENDINGS:
            yield one.removesuffix(ending)
            yield one.removesuffix("_view").removesuffix(ending)


@cache
def _by_name(framework: str) -> Mapping[str, str]:
    return {name.lower(): row.kind for row in op_kinds().values() for name in getattr(row, framework)}
