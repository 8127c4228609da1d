"""A model as its framework's checkpoints see it."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.importing import required
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.nouns import Built, Network, Tensor, Unreadable, Value
from trueline.adapters.protocol import Adapter, Values
from trueline.apitable.attributes import known_layer
from trueline.apitable.layers import keeps_torch_names, layer_of_class
from trueline.model.location import Location
from trueline.model.run import ModuleInfo, ParamInfo
from trueline.model.summary import Summary
from trueline.pair.child.checkpoints import kept_by
from trueline.pair.child.host import Host
from trueline.pair.questions.described import Describe, Described


def describe(host: Host, question: Describe) -> Described:
    """What the model consists of."""
    with said_for(host.side, "describing"):
        factory = host.asked.name if host.asked is not None else ""
        return _Describing(host.side, host.model, host.adapter, question.summaries, factory).described()


class _Describing:
    def __init__(self, side: str, model: Network, adapter: Adapter, summaries: bool, factory: str) -> None:
        self.side, self.model, self.adapter, self.summaries = side, model, adapter, summaries
        self.factory = factory
        self.values: Values = adapter.values
        self.known = list(self.values.tensors(model))

    def described(self) -> Described:
        self._refuse_lazy()
        kept = kept_by(self.adapter.name, self.model)
        by_object = _first_of(self.known)
        by_path = {tensor.name: tensor for tensor in self.known}
        parameters: list[ParamInfo] = []
        paths: dict[str, str] = {}
        names: dict[int, str] = {}
        first: dict[tuple[int, tuple[int, ...]], str] = {}
        for name, value in kept.items():
            # A torch checkpoint may hold a tensor under two names; its own path is then the one spelled alike.
            known = by_path.get(name)
            if known is None or known.value is not value:
                known = by_object.get(id(value), known)
            parameters.append(self._row(name, value, known, first))
            paths[name] = known.name if known is not None else name
            names.setdefault(id(known.value if known is not None else value), name)
        own = set(paths.values())
        return Described(
            self.adapter.name,
            str(getattr(sys.modules[self.adapter.name], "__version__", "")),
            parameters,
            [self._module(path, module) for path, module in self.values.modules(self.model)],
            paths,
            {
                tensor.name: names[id(tensor.value)]
                for tensor in self.known
                if id(tensor.value) in names and tensor.name not in own
            },
            [tensor.name for tensor in self.known if id(tensor.value) not in names],
            self._takes(),
            {path: _whole_name(type(module)) for path, module in self.values.modules(self.model)},
        )

    def _takes(self) -> tuple[str, ...] | None:
        names = required(getattr(self.model, "forward" if self.adapter.name == "torch" else "construct", None))
        return tuple(names) if names is not None else None

    def _refuse_lazy(self) -> None:
        for tensor in self.known:
            if type(tensor.value).__name__ in ("UninitializedParameter", "UninitializedBuffer"):
                raise SideTrouble("side.lazy", side=self.side, name=tensor.name)

    def _row(
        self, name: str, value: Value, known: Tensor | None, first: dict[tuple[int, tuple[int, ...]], str]
    ) -> ParamInfo:
        shape = self.values.shape(value)
        original = first.setdefault((self.values.identity(value), shape), name)
        return ParamInfo(
            name,
            shape,
            self.values.dtype(value),
            known is not None and known.trainable,
            known is None or known.buffer,
            original if original != name else None,
            initial=self._summary(value),
        )

    def _summary(self, value: Value) -> Summary | None:
        if not self.summaries:
            return None
        from trueline.kernel import UnsupportedDtype, summarise

        try:
            return summarise(self.values.to_numpy(value))
        except (Unreadable, UnsupportedDtype):
            return None

    def _module(self, path: str, module: Network) -> ModuleInfo:
        built = self.adapter.build.built(module)
        return ModuleInfo(
            path,
            type(module).__name__,
            self.values.attributes(module),
            dict(built.arguments) if built is not None else None,
            self._line(path, type(module), built),
        )

    def _line(self, path: str, kind: type, built: Built | None) -> Location | None:
        # A class that is the factory is called by no line of the user's.
        called = built is not None and (bool(path) or kind.__qualname__ != self.factory)
        line = built.line if built is not None and called else None
        return line or class_line(kind, self.adapter.build.package())


def class_line(kind: type, package: str) -> Location | None:
    """Where a class that is not of the framework (its package's folder is given) is written.

    A module that no line of a user built, as one whose class is the factory, stands there.
    """
    try:
        file = inspect.getsourcefile(kind)
        if file is None or file.startswith(package):
            return None
        return Location(file, inspect.getsourcelines(kind)[1])
    except (OSError, TypeError):
        return None


def _whole_name(kind: type) -> str:
    """The class that says what a module is: the framework's own layer that it derives from, where there is one."""
    names = [f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__]
    known = (name for name in names if layer_of_class(name) or keeps_torch_names(name) or known_layer(name) is not None)
    return next(known, names[0])


def _first_of(tensors: Iterable[Tensor]) -> dict[int, Tensor]:
    first: dict[int, Tensor] = {}
    for tensor in tensors:
        first.setdefault(id(tensor.value), tensor)
    return first
