"""What a draft must import, the names it gets there, and the helpers that are written into it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, Final

from trueline.migrate.rewrite.names import FRAMEWORKS, Names

# The module to take a name from, and the names that it may get, the best first.
_HOMES: Final = {
    "mindspore": ("mindspore", "ms"),
    "mindspore.nn": ("nn", "msnn"),
    "mindspore.ops": ("ops", "msops"),
    "mindspore.mint": ("mint", "msmint"),
    "mindspore.dataset": ("ds", "msds"),
    "mindspore.dataset.vision": ("vision", "msvision"),
    "mindspore.dataset.transforms": ("transforms", "mstransforms"),
    "mindspore.experimental.optim": ("optim", "msoptim"),
    "numpy": ("np", "numpy"),
    "math": ("math",),
    "functools": ("functools",),
    "contextlib": ("contextlib",),
    "pickle": ("pickle",),
}
_SINGLE: Final = ("mindspore.Tensor", "mindspore.Parameter")
_FROM: Final = ("mindspore.common.initializer.",)


class Wanted:
    """The imports and helpers of one draft."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._local: dict[str, str] = {}
        self.helpers: dict[str, str] = {}

    def name(self, full: str) -> str:
        """How a full name is written in the draft: its module is imported where it must be."""
        if full in _SINGLE or full.startswith(_FROM):
            return self._bind(full, (full.rpartition(".")[2], f"Ms{full.rpartition('.')[2]}"))
        for home in sorted(_HOMES, key=len, reverse=True):
            if full == home or full.startswith(home + "."):
                return self._bind(home, _HOMES[home]) + full[len(home) :]
        return full

    def helper(self, name: str) -> str:
        """A helper that is written into the draft; the name it has there."""
        if name in self._names.used and name not in self._names.aliases:
            # The file has something of that name itself.
            return self._written(name, f"{name}_of_torch")
        return self._written(name, name)

    def _written(self, name: str, local: str) -> str:
        if name not in self.helpers:
            self.helpers[name] = ""
            text = str(_helpers()[name]["text"])
            for full in _helpers()[name].get("imports", ()):
                text = text.replace(f"${full}$", self.name(full))
            for other in _helpers()[name].get("helpers", ()):
                text = re.sub(rf"\b{other}\(", f"{self.helper(other)}(", text)
            text = re.sub(rf"^(def|class) {name}\b", rf"\1 {local}", text, flags=re.MULTILINE)
            # A helper comes after those that it needs.
            del self.helpers[name]
            self.helpers[name] = text.strip("\n")
        return local

    def free(self, name: str) -> str:
        """A name that the file does not use yet."""
        while name in self._names.used or name in self._local.values():
            name += "_"
        return name

    @property
    def imports(self) -> Mapping[str, str]:
        """What is to be imported, by full name: the local name."""
        return self._local

    def _bind(self, full: str, candidates: tuple[str, ...]) -> str:
        if full in self._local:
            return self._local[full]
        for local, there in self._names.aliases.items():
            if there == full and local not in self._shadowed():
                return local
        taken = set(self._local.values())
        free = (one for one in candidates if one not in taken and self._free(one))
        self._local[full] = next(free, f"_{candidates[-1]}")
        return self._local[full]

    def _free(self, name: str) -> bool:
        """Whether a name is unused in the file, or only another framework's that goes away."""
        aliased = self._names.aliases.get(name)
        if aliased is not None:
            return aliased.split(".")[0] in FRAMEWORKS and name not in self._shadowed()
        return name not in self._names.used

    def _shadowed(self) -> frozenset[str]:
        return self._names.rebound


@cache
def _helpers() -> Mapping[str, Any]:
    text = resources.files("trueline.migrate.rewrite").joinpath("helpers.toml").read_text("utf-8")
    return tomllib.loads(text)


def helper_names() -> frozenset[str]:
    """All helpers."""
    return frozenset(_helpers())
