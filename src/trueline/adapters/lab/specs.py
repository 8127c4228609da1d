"""Values of a call out of their descriptions; a framework adds what its tensors and types are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trueline.adapters.lab.call import Spec
from trueline.adapters.lab.names import resolve
from trueline.kernel.array import Array


class SpecReader:
    """Reads the descriptions of one call; with ``double`` floats are float64."""

    def __init__(self, arrays: Sequence[Array], *, double: bool = False) -> None:
        self.arrays = arrays
        self.double = double

    def tensor(self, spec: Mapping[str, Any]) -> Any:
        """The tensor of an array."""
        raise NotImplementedError  # pragma: no cover - a framework has it

    def dtype(self, name: str) -> Any:
        """A type of the framework."""
        raise NotImplementedError  # pragma: no cover - a framework has it

    def value(self, spec: Spec) -> Any:
        """What a description stands for; see ``call.py``."""
        if isinstance(spec, list | tuple):
            return [self.value(element) for element in spec]
        if not isinstance(spec, dict):
            return spec
        if "array" in spec:
            return self.tensor(spec)
        if "dtype" in spec:
            wide = self.double and spec["dtype"] in ("float32", "float16", "bfloat16")
            return self.dtype("float64" if wide else spec["dtype"])
        if "tuple" in spec:
            return tuple(self.value(element) for element in spec["tuple"])
        if "slice" in spec:
            return slice(*spec["slice"])
        if "special" in spec:
            return float(spec["special"])
        if "module" in spec:
            found = resolve(spec["module"]["name"])
            return self.construct(found, spec["module"].get("build", {})) if isinstance(found, type) else found
        return {name: self.value(element) for name, element in spec.items()}

    def construct(self, thing: Any, build: Mapping[str, Spec]) -> Any:
        """A class constructed; what ``args`` holds is passed by position."""
        named = {name: self.value(spec) for name, spec in build.items()}
        return thing(*named.pop("args", ()), **named)
