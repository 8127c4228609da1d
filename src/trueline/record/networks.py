"""The networks of a run and the path of every module in them."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.adapters.identity import ByIdentity, Reference, reference
from trueline.adapters.nouns import Network
from trueline.adapters.protocol import Adapter

_OURS = str(Path(__file__).parent.parent) + "/"
# The variable that holds a network is in the function that calls it, or near.
_MAX_FRAMES: Final = 40
_MAX_STRAYS: Final = 32


@dataclass(slots=True, eq=False)
class Root:
    """An outermost module; its prefix is decided at the end of the first step, since only then all roots are known."""

    module: Reference
    adapter: Adapter
    hint: str
    has_parameters: bool
    prefix: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A module's place: its root and the path below it."""

    root: Root
    path: str

    @property
    def full(self) -> str:
        """The path as it stands in Keys."""
        if not self.root.prefix:
            return self.path
        return f"{self.root.prefix}.{self.path}" if self.path else self.root.prefix


@dataclass(frozen=True, slots=True)
class Stray:
    """A module with parameters that is called inside a network and is not registered in it."""

    place: Place
    module: Reference
    parameters: list[Reference]


class Networks:
    """Finds a module's place; a wrapper (data parallel, compiled …) has none."""

    def __init__(self) -> None:
        self.roots: list[Root] = []
        self.strays: list[Stray] = []
        self._places: ByIdentity[Place | None] = ByIdentity()

    def known(self, module: Network) -> bool:
        """Whether a module was met before."""
        return module in self._places

    def place(self, module: Network) -> Place | None:
        """A known module's place."""
        return self._places.get(module)

    def meet(self, module: Network, adapter: Adapter, parent: Place | None) -> Place | None:
        """A module that was not met before: a new root, or one made on the fly below its parent."""
        inner = adapter.values.unwrap(module)
        if inner is not module:
            self._remember(module, None)
            if not self.known(inner):
                self._add_root(inner, adapter)
            return None
        if parent is not None:
            found = Place(parent.root, _joined(parent.path, f"~{type(module).__name__}"))
            self._remember(module, found)
            if len(self.strays) < _MAX_STRAYS:
                own = [tensor.value for tensor in adapter.values.tensors(module) if tensor.trainable]
                if own:
                    self.strays.append(Stray(found, reference(module), [reference(parameter) for parameter in own]))
            return found
        return self._add_root(module, adapter)

    def _add_root(self, module: Network, adapter: Adapter) -> Place:
        parameters = any(not tensor.buffer for tensor in adapter.values.tensors(module))
        name = _variable_name(module, adapter.build.package()) or _type_name(module)
        root = Root(reference(module), adapter, name, parameters)
        self.roots.append(root)
        for path, inner in adapter.values.modules(module):
            if not self.known(inner):
                self._remember(inner, Place(root, path))
        found = self.place(module)
        assert found is not None
        return found

    def _remember(self, module: Network, place: Place | None) -> None:
        self._places.set(module, place)

    def name_roots(self) -> bool:
        """Give every root that has none its prefix; True when there was one.

        The only network of the first finished step stands without a prefix; every other root is called after
        the user's variable, or its type.
        """
        unnamed = [root for root in self.roots if root.prefix is None]
        nets = [root for root in unnamed if root.has_parameters]
        if len(nets) == 1 and not any(root.prefix == "" for root in self.roots):
            nets[0].prefix = ""
        taken = {root.prefix for root in self.roots}
        for root in unnamed:
            if root.prefix is None:
                name, count = root.hint, 1
                while name in taken:
                    count += 1
                    name = f"{root.hint}_{count}"
                root.prefix = name
                taken.add(name)
        return bool(unnamed)

    def alive(self) -> Iterator[tuple[Root, Network]]:
        """The named roots that still exist, with their modules."""
        for root in self.roots:
            module = root.module()
            if module is not None and root.prefix is not None:
                yield root, module


def _joined(path: str, leaf: str) -> str:
    return f"{path}.{leaf}" if path else leaf


def _type_name(module: Network) -> str:
    return type(module).__name__.lower()


def _variable_name(module: Network, package: str) -> str | None:
    """What the user's code calls a module: a variable, or an attribute of ``self``."""
    frame = sys._getframe(2)
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return None
        if not frame.f_code.co_filename.startswith((_OURS, package)):
            for name, value in frame.f_locals.items():
                if value is module and name != "self" and not name.startswith("_"):
                    return name
            owner = frame.f_locals.get("self")
            with contextlib.suppress(Exception):
                for name, value in getattr(owner, "__dict__", {}).items():
                    if value is module:
                        return str(name).lstrip("_")
        frame = frame.f_back  # type: ignore[assignment]
    return None
