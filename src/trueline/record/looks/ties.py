"""Parameters that were one tensor, at every update: whether they still are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from trueline.adapters.identity import ByIdentity
from trueline.adapters.nouns import Network, Tensor
from trueline.adapters.protocol import Adapter
from trueline.model.json_value import JsonObject
from trueline.record.networks import Place, Root
from trueline.record.open_step import Field
from trueline.record.training import Training

# What has come apart is told so often: a second time says that it was not tied anew before the next update.
_TOLD: Final = 2


class TiesLook:
    """Remembers the names that a network has for one tensor."""

    def __init__(self, training: Training, adapter: Adapter) -> None:
        self._training, self._adapter = training, adapter
        self._tied: ByIdentity[dict[tuple[str, ...], int]] = ByIdentity()
        self.found: list[dict[str, Field]] = []

    def look(self, module: Network, root: Root | None, tensors: Sequence[Tensor]) -> None:
        """A network is about to be updated, with these tensors."""
        by_tensor: dict[int, list[str]] = {}
        for tensor in tensors:
            if not tensor.buffer:
                by_tensor.setdefault(id(tensor.value), []).append(tensor.name)
        known = self._tied.get(module)
        if known is None:
            known = {}
            self._tied.set(module, known)
        now = {name: place for place, names in by_tensor.items() for name in names}
        for names, told in list(known.items()):
            if not all(name in now for name in names):
                del known[names]
            elif len({now[name] for name in names}) > 1:
                known[names] = told + 1
                if root is not None and told < _TOLD:
                    self.found.append(self._fields(module, root, names))
            else:
                known[names] = 0
        for shared in by_tensor.values():
            if len(shared) > 1:
                known.setdefault(tuple(shared), 0)

    def _fields(self, module: Network, root: Root, names: Sequence[str]) -> dict[str, Field]:
        places: list[Place] = [Place(root, name) for name in names]
        layers: Mapping[str, Network] = dict(self._adapter.values.modules(module))
        return {"names": places, "line": self._built(layers, names)}

    def _built(self, layers: Mapping[str, Network], names: Sequence[str]) -> JsonObject | None:
        """The line that has built the first of the layers that is known."""
        for name in names:
            layer = layers.get(name.rpartition(".")[0])
            built = self._adapter.build.built(layer) if layer is not None else None
            line = self._training.project.line(built.line) if built is not None else None
            if line is not None:
                return line.line_json()
        return None
