"""The tables of a run: parameters with their first values, and modules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trueline.kernel import summarise
from trueline.model.run import ModuleInfo, ParamInfo
from trueline.model.summary import Summary
from trueline.record.networks import Networks, Place, Root
from trueline.record.project import Project


@dataclass(frozen=True, slots=True)
class Named:
    """A parameter or buffer: where it belongs, and its Summary before the first update."""

    place: Place
    leaf: str
    initial: Summary


class Parameters:
    """The parameters of all networks, found by the object."""

    def __init__(self) -> None:
        self._named: dict[int, Named] = {}
        self._held_by: dict[int, tuple[int, int]] = {}

    def meet(self, root: Root) -> None:
        """Remember a new network's parameters and buffers as they are now."""
        values = root.adapter.values
        for one in values.tensors(root.module()):
            if id(one.value) not in self._named:
                path, _, leaf = one.name.rpartition(".")
                self._named[id(one.value)] = Named(Place(root, path), leaf, summarise(values.to_numpy(one.value)))

    def find(self, parameter: Any) -> Named | None:
        """A parameter's name; None for one that belongs to no network that was called."""
        return self._named.get(id(parameter))

    def held(self, parameter: Any, optimizer: int, group: int) -> None:
        """An optimizer's group holds this parameter."""
        self._held_by[id(parameter)] = (optimizer, group)

    def table(self, networks: Networks) -> Iterator[ParamInfo]:
        """Every parameter and buffer of every network that still exists."""
        first: dict[int, str] = {}
        for root, module in networks.alive():
            values = root.adapter.values
            for one in values.tensors(module):
                name = Place(root, one.name).full
                original = first.setdefault(values.identity(one.value), name)
                known = self._named.get(id(one.value))
                optimizer, group = self._held_by.get(id(one.value), (None, None))
                yield ParamInfo(
                    name,
                    values.shape(one.value),
                    values.dtype(one.value),
                    one.trainable,
                    one.buffer,
                    original if original != name else None,
                    optimizer,
                    group,
                    known.initial if known is not None else None,
                )


def module_table(networks: Networks, project: Project) -> Iterator[ModuleInfo]:
    """Every module of every network that still exists."""
    for root, top in networks.alive():
        for path, module in root.adapter.values.modules(top):
            built = root.adapter.build.built(module)
            yield ModuleInfo(
                Place(root, path).full,
                type(module).__name__,
                root.adapter.values.attributes(module),
                dict(built.arguments) if built is not None else None,
                project.line(built.line) if built is not None else None,
            )
