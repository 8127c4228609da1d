"""Which dropout and normalisation layers are in training mode when a network is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from trueline.adapters.identity import Reference, reference
from trueline.model.json_value import Json
from trueline.model.key import Phase
from trueline.record.networks import Place, Root

ACTING: Final = ("Dropout", "BatchNorm", "DropPath", "StochasticDepth", "InstanceNorm")


@dataclass(frozen=True, slots=True)
class Mode:
    """A network's mode and that of its layers that it matters to, by place among them."""

    training: bool
    acting: tuple[bool, ...]


class ModeLook:
    """Tells of the modes of a phase where they are not as they were."""

    def __init__(self) -> None:
        self._layers: dict[Root, list[tuple[Place, str, Reference]]] = {}
        self._told: dict[tuple[Root, Phase], Mode] = {}

    def seen(self, root: Root) -> Mode | None:
        """A network's mode now; None for one without such layers."""
        layers = self._layers.get(root)
        module = root.module()
        if module is None:
            return None
        if layers is None:
            layers = self._layers[root] = [
                (Place(root, path), type(layer).__name__, reference(layer))
                for path, layer in root.adapter.values.modules(module)
                if any(name in type(layer).__name__ for name in ACTING)
            ]
        if not layers:
            return None
        return Mode(bool(module.training), tuple(bool(getattr(layer(), "training", False)) for _, _, layer in layers))

    def changed(self, root: Root, phase: Phase, mode: Mode) -> dict[str, Json] | None:
        """The fields of an event where a network's mode is another than in the step before of the phase."""
        if self._told.get((root, phase)) == mode:
            return None
        self._told[root, phase] = mode
        layers = self._layers[root]
        pairs = list(zip(layers, mode.acting, strict=True))
        return {
            "network": Place(root, "").full,
            "training": mode.training,
            "acting": [place.full for (place, _, _), acts in pairs if acts],
            "resting": [place.full for (place, _, _), acts in pairs if not acts],
            "kinds": sorted({kind for _, kind, _ in layers}),
        }
