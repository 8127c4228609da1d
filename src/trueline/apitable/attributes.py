"""Which argument of one framework's layer is which of the other's, and how its values are written there."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any, Final

from trueline.apitable.forms import FORMS, Spot
from trueline.apitable.layers import keeps_torch_names

TORCH: Final = "torch"
MINDSPORE: Final = "mindspore"
_TORCH_HOMES: Final = ("torch.nn.modules.", "torch.ao.nn.", "torch.nn.utils.parametrize.")
_CLASSIC_HOMES: Final = ("mindspore.nn.layer.", "mindspore.nn.loss.")
_RANK: Final = re.compile(r"([123])d")


@dataclass(frozen=True, slots=True)
class Attribute:
    """One argument of a kind of layer; ``cause`` is "" where it only serves to build the layer."""

    name: str
    cause: str
    torch: str
    mindspore: str
    form: str
    fixed: object
    always: bool

    def spelled(self, flavour: str) -> str:
        """The argument's name in a flavour; "" where that has none."""
        return self.torch if flavour == TORCH else self.mindspore


@dataclass(frozen=True, slots=True)
class LayerKind:
    """A kind of layer: its classes in both frameworks, in the same order, and its arguments."""

    kind: str
    family: str
    torch: tuple[str, ...]
    mindspore: tuple[str, ...]
    positional: Mapping[str, tuple[str, ...]]
    has: Mapping[str, Attribute]

    def classes(self, flavour: str) -> tuple[str, ...]:
        """The class names in a flavour."""
        return self.torch if flavour == TORCH else self.mindspore


@dataclass(frozen=True, slots=True)
class KnownLayer:
    """A class that the table knows. ``flavour`` says whose arguments it has: mindspore.mint has torch's."""

    kind: LayerKind
    flavour: str
    framework: str
    word: str

    @property
    def rank(self) -> int:
        """How many axes a window of the layer has; 0 where it has none."""
        found = _RANK.search(self.word)
        return int(found[1]) if found else 0

    def counterpart(self, flavour: str) -> str:
        """The class of the same kind in a flavour; "" where there is none."""
        own = self.kind.classes(self.flavour)
        place = own.index(self.word) if self.word in own else 0
        return self.kind.classes(flavour)[place]

    def named(self, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """A constructor's arguments by name, also those that it took as ``*args`` and ``**kwargs``."""
        found = dict(arguments or {})
        names = self.kind.positional.get(self.flavour)
        if names is None:
            return found
        args, kwargs = found.pop("args", ()), found.pop("kwargs", {})
        return {**found, **dict(zip(names, args, strict=False)), **kwargs}

    def read(
        self,
        arguments: Mapping[str, object] | None,
        attributes: Mapping[str, object],
        shape: Sequence[int] | None = None,
    ) -> dict[str, Any]:
        """The value of each argument in the form that both frameworks share; what cannot be told is left out.

        ``shape`` is that of the layer's input.
        """
        given = self.named(arguments)
        # torch computes with the attributes; MindSpore has often put the arguments into operators before.
        seen = {**given, **attributes} if self.framework == TORCH else {**attributes, **given}
        found: dict[str, Any] = {}
        for name, attribute in self.kind.has.items():
            spelled = attribute.spelled(self.flavour)
            if not spelled:
                found[name] = attribute.fixed
            elif spelled in seen:
                spot = Spot(spelled, self.flavour == TORCH, self.rank, seen, arguments is not None, shape)
                found[name] = FORMS[attribute.form].read(spot)
            elif attribute.form == "flag" and attributes:
                found[name] = attribute.fixed if attribute.fixed is not None else True
            elif attribute.fixed is not None:
                found[name] = attribute.fixed
        return found

    def written(self, name: str, value: object, shape: Sequence[int] | None = None) -> dict[str, Any] | None:
        """The constructor's arguments that bring a value; None where the class cannot have it."""
        attribute = self.kind.has[name]
        spelled = attribute.spelled(self.flavour)
        if not spelled:
            return {} if value == attribute.fixed else None
        return FORMS[attribute.form].write(value, Spot(spelled, self.flavour == TORCH, self.rank, shape=shape))


@cache
def layer_kinds() -> Mapping[str, LayerKind]:
    """All kinds of the table, by kind."""
    text = resources.files("trueline.apitable").joinpath("attributes.toml").read_text("utf-8")
    return MappingProxyType({kind: _kind(kind, row) for kind, row in tomllib.loads(text).items()})


def known_layer(name: str) -> KnownLayer | None:
    """What the table knows of a class by its qualified name; None for users' classes and containers."""
    package, _, word = name.rpartition(".")
    if package == "torch.nn" or name.startswith(_TORCH_HOMES):
        return _known(TORCH, TORCH, word.removeprefix("Parametrized"))
    if keeps_torch_names(name):
        return _known(TORCH, MINDSPORE, word.removesuffix("Ext"))
    if package == "mindspore.nn" or name.startswith(_CLASSIC_HOMES):
        return _known(MINDSPORE, MINDSPORE, word)
    return None


def _known(flavour: str, framework: str, word: str) -> KnownLayer | None:
    kind = _by_class(flavour).get(word)
    return KnownLayer(kind, flavour, framework, word) if kind is not None else None


@cache
def _by_class(flavour: str) -> Mapping[str, LayerKind]:
    return {name: layer for layer in layer_kinds().values() for name in layer.classes(flavour) if name}


def _kind(kind: str, row: Mapping[str, Any]) -> LayerKind:
    return LayerKind(
        kind,
        row["family"],
        tuple(row["torch"]),
        tuple(row["mindspore"]),
        MappingProxyType({flavour: tuple(names) for flavour, names in row.get("positional", {}).items()}),
        MappingProxyType({name: _attribute(name, one) for name, one in row.get("has", {}).items()}),
    )


def _attribute(name: str, row: Mapping[str, Any]) -> Attribute:
    return Attribute(
        name,
        row.get("cause", ""),
        row.get("torch", name),
        row.get("mindspore", name),
        row.get("form", "plain"),
        row.get("fixed"),
        row.get("always", True),
    )
