"""Calls whose defaults or meanings differ between torch and MindSpore, and the arguments they are about.

Those whose values are written in another form on each side stand here; the others are what the table of APIs has
measured, with torch 2.13 and MindSpore 2.10. What was another default in older releases of MindSpore is not here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from trueline.apitable.pairs import MINDSPORE, TORCH, Documented, Kind, Needed, documented, row_of

__all__ = ["BY_NAME", "MINDSPORE", "PAIRS", "TORCH", "Argument", "Difference", "Pair"]


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument in one framework: its place, its name, and what it is where nothing is passed."""

    place: int | None
    name: str
    default: Any


@dataclass(frozen=True, slots=True)
class Difference:
    """An argument that the frameworks do not agree in; ``form`` says how its values are compared."""

    about: str
    torch: Argument
    mindspore: Argument
    form: str = "same"

    def of(self, framework: str) -> Argument:
        """The argument as one of them has it."""
        return self.torch if framework == TORCH else self.mindspore


@dataclass(frozen=True, slots=True)
class Pair:
    """What is called one thing here and another there."""

    torch: str
    mindspore: str
    differ: tuple[Difference, ...]

    def of(self, framework: str) -> str:
        """Its name in one of them."""
        return self.torch if framework == TORCH else self.mindspore


def _same(about: str, torch: Argument, mindspore: Argument, form: str = "same") -> Difference:
    return Difference(about, torch, mindspore, form)


def _convolutions() -> list[Pair]:
    found = []
    for rank in "123":
        for torch, mindspore, bias, padding in (
            (f"Conv{rank}d", f"Conv{rank}d", 7, 4),
            (f"ConvTranspose{rank}d", f"Conv{rank}dTranspose", 7, 4),
        ):
            found.append(
                Pair(
                    f"torch.nn.{torch}",
                    f"mindspore.nn.{mindspore}",
                    (
                        _same("bias", Argument(bias, "bias", True), Argument(None, "has_bias", False)),
                        _same("padding", Argument(padding, "padding", 0), Argument(4, "pad_mode", "same"), "padding"),
                    ),
                )
            )
    return found


def _pools() -> list[Pair]:
    stride = _same("stride", Argument(1, "stride", None), Argument(1, "stride", 1), "window")
    found = []
    for rank in "123":
        for kind in ("MaxPool", "AvgPool"):
            found.append(Pair(f"torch.nn.{kind}{rank}d", f"mindspore.nn.{kind}{rank}d", (stride,)))
    functional = _same("stride", Argument(2, "stride", None), Argument(2, "stride", 1), "window_of_call")
    for rank in "12":
        found.append(Pair(f"torch.nn.functional.avg_pool{rank}d", f"mindspore.ops.avg_pool{rank}d", (functional,)))
    return found


def _norms() -> list[Pair]:
    eps = _same("eps", Argument(1, "eps", 1e-5), Argument(5, "epsilon", 1e-7))
    affine = _same("affine", Argument(3, "affine", False), Argument(3, "affine", True))
    momentum = _same("momentum", Argument(2, "momentum", 0.1), Argument(2, "momentum", 0.9), "rest_of_one")
    found = [Pair("torch.nn.LayerNorm", "mindspore.nn.LayerNorm", (eps,))]
    for rank in "123":
        found.append(Pair(f"torch.nn.InstanceNorm{rank}d", f"mindspore.nn.InstanceNorm{rank}d", (affine,)))
        found.append(Pair(f"torch.nn.BatchNorm{rank}d", f"mindspore.nn.BatchNorm{rank}d", (momentum,)))
    return found


def _activations() -> list[Pair]:
    slope = _same("slope", Argument(0, "negative_slope", 0.01), Argument(0, "alpha", 0.2))
    slope_of_call = _same("slope", Argument(1, "negative_slope", 0.01), Argument(1, "alpha", 0.2))
    tanh = _same("approximate", Argument(0, "approximate", "none"), Argument(0, "approximate", True), "tanh")
    share = _same("p", Argument(0, "p", 0.5), Argument(None, "p", 0.5), "dropped")
    first = _same("start_dim", Argument(1, "start_dim", 0), Argument(None, "start_dim", 1))
    return [
        Pair("torch.nn.LeakyReLU", "mindspore.nn.LeakyReLU", (slope,)),
        Pair("torch.nn.functional.leaky_relu", "mindspore.ops.leaky_relu", (slope_of_call,)),
        Pair("torch.nn.GELU", "mindspore.nn.GELU", (tanh,)),
        Pair("torch.nn.Dropout", "mindspore.nn.Dropout", (share,)),
        Pair("torch.flatten", "mindspore.ops.flatten", (first,)),
    ]


def _losses() -> list[Pair]:
    mean = _same("reduction", Argument(2, "reduction", "mean"), Argument(1, "reduction", "none"))
    entropy = _same("reduction", Argument(4, "reduction", "mean"), Argument(1, "reduction", "none"))
    of_call = _same("reduction", Argument(4, "reduction", "mean"), Argument(3, "reduction", "none"))
    return [
        Pair("torch.nn.SmoothL1Loss", "mindspore.nn.SmoothL1Loss", (mean,)),
        Pair("torch.nn.CrossEntropyLoss", "mindspore.nn.SoftmaxCrossEntropyWithLogits", (entropy,)),
        Pair("torch.nn.functional.smooth_l1_loss", "mindspore.ops.smooth_l1_loss", (of_call,)),
    ]


def _optimizers() -> list[Pair]:
    return [
        Pair(
            "torch.optim.RMSprop",
            "mindspore.nn.RMSProp",
            (
                _same("lr", Argument(1, "lr", 0.01), Argument(1, "learning_rate", 0.1)),
                _same("alpha", Argument(2, "alpha", 0.99), Argument(2, "decay", 0.9)),
                _same("eps", Argument(3, "eps", 1e-8), Argument(4, "epsilon", 1e-10)),
            ),
        ),
        Pair(
            "torch.optim.AdamW",
            "mindspore.nn.AdamWeightDecay",
            (
                _same("eps", Argument(3, "eps", 1e-8), Argument(4, "eps", 1e-6)),
                _same("weight_decay", Argument(4, "weight_decay", 0.01), Argument(5, "weight_decay", 0.0)),
            ),
        ),
        Pair(
            "torch.optim.Adagrad",
            "mindspore.nn.Adagrad",
            (_same("accumulator", Argument(4, "initial_accumulator_value", 0), Argument(1, "accum", 0.1)),),
        ),
        Pair(
            "torch.optim.SGD",
            "mindspore.nn.SGD",
            (_same("lr", Argument(1, "lr", 0.001), Argument(1, "learning_rate", 0.1)),),
        ),
    ]


_WRITTEN_OTHERWISE: Final = (
    *_convolutions(),
    *_pools(),
    *_norms(),
    *_activations(),
    *_losses(),
    *_optimizers(),
)


def _measured() -> Iterator[Pair]:
    """Pairs that are equal once arguments are given, which are written alike on both sides."""
    known = {(pair.torch, pair.mindspore) for pair in _WRITTEN_OTHERWISE}
    for pair in documented():
        # What a method is called on, a script seldom says.
        if pair.kind is Kind.METHOD or (pair.torch, pair.mindspore) in known:
            continue
        differ = tuple(found for need in row_of(pair).needs if (found := _difference(pair, need)) is not None)
        if differ:
            yield Pair(pair.torch, pair.mindspore, differ)


def _difference(pair: Documented, need: Needed) -> Difference | None:
    name = need.for_torch.partition("=")[0]
    sides = []
    for parameters, argument, default in (
        (pair.torch_parameters, need.argument, need.torch_default),
        (pair.mindspore_parameters, name, need.mindspore_default),
    ):
        names = [parameter for parameter, _ in parameters]
        try:
            value = ast.literal_eval(default)
        except (ValueError, SyntaxError):
            return None
        if argument not in names or value is None:
            return None
        sides.append(Argument(names.index(argument), argument, value))
    return Difference(need.argument, sides[0], sides[1])


PAIRS: Final[tuple[Pair, ...]] = (*_WRITTEN_OTHERWISE, *_measured())
BY_NAME: Final[Mapping[str, Mapping[str, Pair]]] = {
    framework: {pair.of(framework): pair for pair in PAIRS} for framework in (TORCH, MINDSPORE)
}
