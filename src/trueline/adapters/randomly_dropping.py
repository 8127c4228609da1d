"""What drops values at random, told by its name: dropout, drop-path, stochastic depth."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from typing import Any, Final

_DROPS: Final = re.compile(
    r"(alpha_?|feature_?|spatial_?)?drop(out|_?path|_?block|_?connect)?s?([123]d)?|stochastic_?depth", re.I
)


def drops_by_name(kind: type) -> bool:
    """Whether a class of modules is one that drops values, as its name says."""
    return _DROPS.fullmatch(kind.__name__) is not None


_looked: set[str] = set()
_found: list[tuple[Any, str]] = []


def user_functions(framework: str) -> list[tuple[Any, str]]:
    """The functions of the user's modules that drop values, with the modules they stand in."""
    for name, module in list(sys.modules.items()):
        # Each module is looked through once: there are thousands.
        if name not in _looked:
            _looked.add(name)
            _found.extend((module, held) for held in _dropping(name, module, framework))
    return _found


def _dropping(name: str, module: Any, framework: str) -> Iterator[str]:
    if name.partition(".")[0] in (framework, "numpy", "trueline") or not getattr(module, "__file__", None):
        return
    for held, value in list(vars(module).items()):
        if inspect.isfunction(value) and _DROPS.fullmatch(held) and _takes_a_tensor(value):
            yield held


def _takes_a_tensor(function: Any) -> bool:
    """A function of an input and how much of it to drop, not one that makes a layer."""
    names = list(inspect.signature(function).parameters)
    return bool(names) and names[0] in ("x", "input", "inputs", "hidden_states", "tensor", "features", "value", "X")
