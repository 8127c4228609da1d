"""The tables of a run: parameters with their first values, and modules."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trueline.adapters.identity import ByIdentity
from trueline.adapters.nouns import Expanded, Network, Tensor, Unreadable, Value
from trueline.adapters.protocol import Values
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
    initial: Summary | None
    equal_rows: bool = False

    @property
    def place_of_leaf(self) -> Place:
        """Its own name as a place."""
        return Place(self.place.root, f"{self.place.path}.{self.leaf}" if self.place.path else self.leaf)


class Parameters:
    """The parameters of all networks, found by the object."""

    def __init__(self) -> None:
        self._named: ByIdentity[Named] = ByIdentity()
        self._held_by: ByIdentity[tuple[int, int]] = ByIdentity()
        self._rows: dict[Root, list[ParamInfo]] = {}

    def meet(self, root: Root) -> list[str]:
        """Remember a new network's parameters and buffers as they are now; the names of those too far expanded."""
        values, expanded = root.adapter.values, []
        for tensor in values.tensors(root.module()):
            if self._named.get(tensor.value) is None:
                path, _, leaf = tensor.name.rpartition(".")
                try:
                    summary, equal_rows = _first_values(tensor.value, values)
                except Unreadable as error:
                    summary, equal_rows = None, False
                    expanded += [tensor.name] if isinstance(error, Expanded) else []
                self._named.set(tensor.value, Named(Place(root, path), leaf, summary, equal_rows))
        return expanded

    def find(self, parameter: Value) -> Named | None:
        """A parameter's name; None for one that belongs to no network that was called."""
        return self._named.get(parameter)

    def held(self, parameter: Value, optimizer: int, group: int) -> None:
        """An optimizer's group holds this parameter."""
        self._held_by.set(parameter, (optimizer, group))

    def is_held(self, parameter: Value) -> bool:
        """Whether an optimizer holds this parameter."""
        return self._held_by.get(parameter) is not None

    def holding(self, parameters: Iterable[Value]) -> set[int]:
        """The optimizers that hold these."""
        return {held[0] for parameter in parameters if (held := self._held_by.get(parameter)) is not None}

    def holders(self, root: Root) -> list[int]:
        """The optimizers that hold parameters of a network that want a gradient."""
        module = root.module()
        own = root.adapter.values.tensors(module) if module is not None else ()
        return sorted(self.holding(tensor.value for tensor in own if tensor.trainable))

    def table(self, networks: Networks) -> list[ParamInfo]:
        """Every parameter and buffer of every network; of one that is gone as it was last."""
        first: dict[int, str] = {}
        for root, module in networks.alive():
            self._rows[root] = [self._row(root, tensor, first) for tensor in root.adapter.values.tensors(module)]
        return [row for rows in self._rows.values() for row in rows]

    def _row(self, root: Root, tensor: Tensor, first: dict[int, str]) -> ParamInfo:
        values = root.adapter.values
        name = Place(root, tensor.name).full
        original = first.setdefault(values.identity(tensor.value), name)
        known = self._named.get(tensor.value)
        optimizer, group = self._held_by.get(tensor.value) or (None, None)
        return ParamInfo(
            name,
            values.shape(tensor.value),
            values.dtype(tensor.value),
            tensor.trainable,
            tensor.buffer,
            original if original != name else None,
            optimizer,
            group,
            known.initial if known is not None else None,
            known is not None and known.equal_rows,
        )


def _first_values(tensor: Value, values: Values) -> tuple[Summary | None, bool]:
    """A tensor's Summary, and whether its rows are all the same; the first two tell of nearly all that they are not."""
    array = values.to_numpy(tensor)
    rows = array.ndim > 1 and len(array) > 1 and bool((array[0] == array[1]).all())
    return summarise(array), rows and bool((array == array[0]).all())


class Modules:
    """The modules of all networks."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._rows: dict[Root, list[ModuleInfo]] = {}

    def table(self, networks: Networks) -> list[ModuleInfo]:
        """Every module of every network; of one that is gone as it was last."""
        for root, top in networks.alive():
            self._rows[root] = [self._row(root, path, module) for path, module in root.adapter.values.modules(top)]
        return [row for rows in self._rows.values() for row in rows]

    def _row(self, root: Root, path: str, module: Network) -> ModuleInfo:
        built = root.adapter.build.built(module)
        return ModuleInfo(
            Place(root, path).full,
            type(module).__name__,
            root.adapter.values.attributes(module),
            dict(built.arguments) if built is not None else None,
            self._project.line(built.line) if built is not None else None,
        )
