"""Functions and modules that drop values at random, recognised by name: dropout, drop-path, stochastic depth."""

from __future__ import annotations

import inspect
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Final, TypeGuard

from trueline.adapters.nouns import Foreign, Function, Instead, Network, Share, Value
from trueline.adapters.plain import held

_DROPS: Final = re.compile(
    r"(alpha_?|feature_?|spatial_?)?drop(out|_?path|_?block|_?connect)?s?([123]d)?(ext)?|stochastic_?depth", re.I
)
_SHARES: Final = ("p", "drop_prob", "drop_rate", "drop_p", "prob", "rate", "share")
_FLAGS: Final = ("training", "train")
# What a framework's own functions take after their input, where they do not say.
_USUAL: Final = {"p": 0.5, "train": True}


def named_as_dropping(name: str) -> bool:
    """Whether a module class of this name drops values."""
    return _DROPS.fullmatch(name) is not None


def drops_by_name(kind: type) -> bool:
    """Whether a module class drops values, judging by its name."""
    return named_as_dropping(kind.__name__)


def nothing(_: float) -> float:
    """A drop probability of zero."""
    return 0.0


class Dropping:
    """Dropout functions and modules that ask ``share`` for their drop probability; nested calls do not ask again.

    With ``instead`` what it gives stands for what is dropped; only where no value can be seen ``share`` is asked.
    """

    def __init__(
        self, share: Share, parts: Callable[[Network], Mapping[str, Network]], instead: Instead | None = None
    ) -> None:
        """``parts`` gives the submodules of a module, by name."""
        self._share, self._parts, self.instead = share, parts, instead
        self.inside = False

    def function(self, original: Function) -> Function:
        """Wraps a dropout function of (input, probability, training)."""
        defaults = _defaults(original)

        def drop(value: Value, *args: object, **kwargs: object) -> Value:
            if self.inside:
                return original(value, *args, **kwargs)
            given = {**defaults, **dict(zip(defaults, args, strict=False)), **kwargs}
            flag = next((given[name] for name in _FLAGS if name in given), True)
            share = next((float(given[name]) for name in _SHARES if _is_number(given.get(name))), 0.0)
            return self.drop(value, share if flag else 0.0, original)

        return drop

    def module(self, plain: Function) -> Callable[[Function], Function]:
        """Wraps the forward of a module class; ``plain`` is the functional dropout for a different probability."""

        def make(original: Function) -> Function:
            def forward(module: Network, value: Value, *args: object, **kwargs: object) -> Value:
                own = _share_of(module, self._parts) if module.training else 0.0

                def drop(tensor: Value, share: float, _: bool) -> Value:
                    unchanged = share == own or math.isnan(share)
                    return original(module, tensor, *args, **kwargs) if unchanged else plain(tensor, share, True)

                return self.drop(value, own, drop)

            return forward

        return make

    def wished(self, share: float) -> float:
        """The drop probability to use instead."""
        return self._share(share) if share else 0.0

    def drop(self, value: Value, share: float, original: Function) -> Value:
        """Drop values; ``original`` is called with the value, the probability and training=True."""
        if self.instead is not None:
            return self.instead(value, share) if share else value
        wished = self.wished(share)
        if not wished:
            return value
        self.inside = True
        try:
            return original(value, wished, True)
        finally:
            self.inside = False


def _defaults(function: Function) -> dict[str, Value]:
    """The defaults of the parameters that follow a function's input."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[1:]
    except (TypeError, ValueError):
        return dict(_USUAL)
    return {
        parameter.name: parameter.default
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    }


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _share_of(module: Network, parts: Callable[[Network], Mapping[str, Network]]) -> float:
    """The drop probability of a module or of one inside it; NaN where none is declared."""
    for name in (*_SHARES, "keep_prob"):
        value = held(module, name)
        if _is_number(value):
            return 1.0 - float(value) if name == "keep_prob" else float(value)
    shares = (_share_of(part, parts) for part in parts(module).values() if part is not None)
    return next((share for share in shares if not math.isnan(share)), math.nan)


_looked: set[str] = set()
_found: list[tuple[ModuleType, str]] = []


def user_functions(framework: str) -> list[tuple[ModuleType, str]]:
    """Functions of the user's modules that drop values, each with its module."""
    for name, module in list(sys.modules.items()):
        # Each module is looked through once: there are thousands.
        if name not in _looked:
            _looked.add(name)
            _found.extend((module, held) for held in _dropping(name, module, framework))
    return _found


def _dropping(name: str, module: Network, framework: str) -> Iterator[str]:
    if name.partition(".")[0] in (framework, "numpy", "trueline") or not getattr(module, "__file__", None):
        return
    for function, value in list(vars(module).items()):
        if inspect.isfunction(value) and _DROPS.fullmatch(function) and _takes_a_tensor(value):
            yield function


def _takes_a_tensor(function: Foreign) -> bool:
    """Whether this is a function of an input and a drop probability, not one that builds a layer."""
    names = list(inspect.signature(function).parameters)
    return bool(names) and names[0] in ("x", "input", "inputs", "hidden_states", "tensor", "features", "value", "X")
