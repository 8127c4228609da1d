"""One draw as the calls of both frameworks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from trueline.adapters.lab.call import Call, Spec
from trueline.apitable.pairs import MINDSPORE, TORCH, Documented, Kind, pairs_by_name
from trueline.kernel.array import Array
from trueline.migrate.lab.arguments import becomes_function, default_of, is_opaque, is_variadic, plain, renamed
from trueline.migrate.lab.draw import Draw, DrawnValue, DType, Module, Strided
from trueline.migrate.lab.special_arguments import Untranslatable


@dataclass(frozen=True, slots=True)
class Calls:
    """The two calls of a draw, and the arrays that both name."""

    torch: Call
    mindspore: Call
    arrays: tuple[Array, ...]


class Specs:
    """Values as specs of a call, and the arrays that they name."""

    def __init__(self, framework: str, arrays: list[Array] | None = None) -> None:
        self.arrays: list[Array] = [] if arrays is None else arrays
        self._framework = framework

    def spec(self, value: DrawnValue) -> Spec:
        """A value as JSON; see ``adapters/lab/call.py``."""
        if isinstance(value, np.ndarray):
            return {"array": self._place(value)}
        if isinstance(value, Strided):
            return {"array": self._place(value.array), "strided": True}
        if isinstance(value, DType):
            return {"dtype": value.name}
        if isinstance(value, Module):
            return {"module": self._module(value)}
        if isinstance(value, tuple):
            return {"tuple": [self.spec(element) for element in value]}
        if isinstance(value, list):
            return [self.spec(element) for element in value]
        if isinstance(value, slice):
            return {"slice": [value.start, value.stop, value.step]}
        if isinstance(value, float) and not np.isfinite(value):
            return {"special": str(value)}
        if isinstance(value, np.generic):
            return value.item()
        return value

    def _place(self, array: Array) -> int:
        for place, known in enumerate(self.arrays):
            if known is array:
                return place
        self.arrays.append(array)
        return len(self.arrays) - 1

    def _module(self, module: Module) -> dict[str, Any]:
        name = module.name
        if self._framework == MINDSPORE:
            name = next((pair.mindspore for pair in pairs_by_name().get(name, ())), name)
        return {"name": name, "build": {key: self.spec(value) for key, value in module.build.items()}}


def translated(
    pair: Documented,
    draw: Draw,
    explicit: Mapping[str, DrawnValue] = MappingProxyType({}),
    *,
    gradient: bool = False,
) -> Calls:
    """The calls of both; what is in ``explicit``, by torch's names, is written in MindSpore's call besides.

    Untranslatable where MindSpore has no such argument.
    """
    if pair.kind not in (Kind.FUNCTION, Kind.METHOD):
        from trueline.migrate.lab.translating_classes import translate

        torch, mindspore, given = translate(pair, draw, explicit)
        return Calls(torch, mindspore, tuple(given))
    arrays: list[Array] = []
    torch_call = _call(pair, Specs(TORCH, arrays), TORCH, draw.values, gradient)
    values = mindspore_values(pair, draw, explicit)
    return Calls(torch_call, _call(pair, Specs(MINDSPORE, arrays), MINDSPORE, values, gradient), tuple(arrays))


def mindspore_values(pair: Documented, draw: Draw, explicit: Mapping[str, DrawnValue]) -> dict[str, DrawnValue]:
    """A draw's values by MindSpore's names."""
    names = renamed(pair)
    found: dict[str, DrawnValue] = {}
    for name, value in draw.values.items():
        if name in names:
            found[names[name]] = _in_one(pair, name, names[name], value)
        elif name == "input" and becomes_function(pair):
            found[plain(pair.mindspore_parameters[0][0])] = value
        elif name == "input" and pair.kind is Kind.METHOD:
            found["input"] = value
        elif any(plain(parameter) == name for parameter, _ in pair.mindspore_parameters):
            # An argument of torch's that its documentation does not list.
            found[name] = value
        else:
            raise Untranslatable(name)
    for name, value in explicit.items():
        if name not in draw.values:
            if name not in names:
                raise Untranslatable(name)
            found[names[name]] = value
    return found


def _in_one(pair: Documented, name: str, other: str, value: DrawnValue) -> DrawnValue:
    """What torch takes as several arguments, as the one tuple that MindSpore takes."""
    several = is_variadic(pair.torch_parameters, name) and not is_variadic(pair.mindspore_parameters, other)
    return tuple(value) if several and isinstance(value, list) else value


def _call(pair: Documented, specs: Specs, framework: str, values: Mapping[str, DrawnValue], gradient: bool) -> Call:
    """Arguments without a default by place, as long as none of them is left out; the others by name."""
    parameters = pair.parameters(framework)
    method = pair.kind is Kind.METHOD and not (framework == MINDSPORE and becomes_function(pair))
    kind = Kind.METHOD if method else Kind.FUNCTION
    args: list[Spec] = []
    kwargs: dict[str, Spec] = {}
    order = [plain(name) for name, _ in parameters]
    if method and order[:1] not in (["self"], ["input"]):
        order = ["input", *order]
    if is_opaque(parameters):
        order = [*([] if not method else ["input"]), *(name for name in values if not (method and name == "input"))]
    by_place = True
    for name in [*(name for name in order if name in values), *(name for name in values if name not in order)]:
        value = values[name]
        place = order.index(name) if name in order else -1
        required = place >= 0 and default_of(parameters, name) is None
        by_place = by_place and required and all(earlier in values for earlier in order[:place])
        if is_variadic(parameters, name) and isinstance(value, list | tuple) and by_place:
            args += [specs.spec(element) for element in value]
        elif by_place:
            args.append(specs.spec(value))
        else:
            kwargs[name] = specs.spec(value)
    return Call(kind.value, pair.of(framework), args, kwargs, gradient=gradient)
