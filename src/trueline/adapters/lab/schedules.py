"""Schedules that an optimizer is given, out of their descriptions: also those that chain others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from trueline.adapters.lab.call import Spec
from trueline.adapters.lab.names import resolve

# Functions that a schedule takes as an argument, by name.
FACTORS: Final[Mapping[str, Callable[[int], float]]] = {
    "halving": lambda step: 0.5**step,
    "inverse": lambda step: 1.0 / (step + 1),
    "constant": lambda _: 0.9,
}


def built_schedule(name: str, build: Mapping[str, Spec], optimizer: Any, value: Callable[[Spec], Any]) -> Any:
    """A schedule of an optimizer; ``value`` gives what a description stands for in the framework."""
    arguments = dict(build)
    inner = arguments.pop("schedulers", None)
    named = {word: value(spec) for word, spec in arguments.items()}
    if "lr_lambda" in named:
        named["lr_lambda"] = FACTORS[named["lr_lambda"]]
    if inner is not None:
        modules = [each["module"] for each in inner]
        named["schedulers"] = [built_schedule(module["name"], module["build"], optimizer, value) for module in modules]
    return resolve(name)(optimizer, **named)
