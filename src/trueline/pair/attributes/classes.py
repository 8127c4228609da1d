"""Another class in the place of the benchmark's: what to build instead, and with which arguments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from trueline.apitable.attributes import MINDSPORE, TORCH, KnownLayer, layer_kinds
from trueline.model.json_value import Json
from trueline.pair.attributes.difference import Difference, Modules, alike, typed
from trueline.pair.blame import Cause
from trueline.pair.questions.module_run import Change

_PACKAGES: Final = {
    (TORCH, TORCH): "torch.nn",
    (MINDSPORE, MINDSPORE): "mindspore.nn",
    (TORCH, MINDSPORE): "mindspore.mint.nn",
}
_CAUSES: Final = {"activation": Cause.ACTIVATION, "pooling": Cause.POOLING}
_GELUS: Final = frozenset({"gelu", "fastgelu"})
_QUIET: Final = frozenset({"identity", "dropout"})
# Activations to try where the benchmark's class does not say which it is, and with which arguments.
_TRIED: Final[tuple[tuple[str, Mapping[str, Json]], ...]] = (
    ("relu", {}),
    ("gelu", {"approximate": False}),
    ("gelu", {"approximate": True}),
    ("fastgelu", {}),
    ("silu", {}),
    ("hardswish", {}),
    ("sigmoid", {}),
    ("hardsigmoid", {}),
    ("tanh", {}),
    ("relu6", {}),
    ("mish", {}),
    ("leakyrelu", {"negative_slope": 0.01}),
    ("leakyrelu", {"negative_slope": 0.1}),
    ("leakyrelu", {"negative_slope": 0.2}),
    ("elu", {"alpha": 1.0}),
    ("softplus", {"beta": 1.0, "threshold": 20.0}),
    ("identity", {}),
)
# What a form of values is called where a layer takes it as an argument.
_FORMS: Final[Mapping[str, tuple[str, Mapping[str, Json]]]] = {
    "gelu": ("gelu", {"approximate": False}),
    "gelu_tanh": ("gelu", {"approximate": True}),
    "gelu_quick": ("fastgelu", {}),
}


def class_differences(modules: Modules, input_shape: Sequence[int] | None) -> Iterator[Difference]:
    """Where the two are layers of another kind, or one of them is a class of the user's own."""
    theirs, ours = modules.known
    if theirs is None:
        return
    there = theirs.read(modules.bench.arguments, modules.bench.attributes, input_shape)
    framework = modules.frameworks[1]
    target = KnownLayer(theirs.kind, ours.flavour if ours is not None else framework, framework, "")
    if ours is not None and {theirs.kind.family, ours.kind.family} <= _QUIET:
        here = ours.read(modules.port.arguments, modules.port.attributes)
        dropped = there.get("p", 0.0), here.get("p", 0.0)
        if not alike(*dropped):
            yield _instead(Cause.DROPOUT, theirs, target, there, dropped, input_shape)
        return
    if ours is not None and _is_pointwise(theirs, there) and ours.kind.kind == "linear":
        return
    values = theirs.word, ours.word if ours is not None else modules.port.type
    yield _instead(_cause(theirs, ours), theirs, target, there, values, input_shape)


def _is_pointwise(layer: KnownLayer, has: Mapping[str, Json]) -> bool:
    """Whether a layer is a convolution of one pixel: a linear layer over the channels."""
    sizes = has.get("kernel_size"), has.get("stride", 1), has.get("groups", 1)
    return layer.kind.kind == "conv" and all(
        set(size if isinstance(size, list | tuple) else [size]) == {1} for size in sizes
    )


def likely_activations(modules: Modules) -> Iterator[Difference]:
    """Activations that the benchmark's could be, for where its class does not tell."""
    ours = modules.known[1]
    if ours is None or ours.kind.family in ("activation", "identity"):
        for kind, values in _TRIED:
            yield from _as_activation(modules, kind, values)


def activation_like(modules: Modules, form: str) -> Change | None:
    """What makes an activation of the port compute ``form``; None for what is no activation, or cannot be built."""
    kind, values = _FORMS.get(form, (form, {}))
    ours = modules.known[1]
    if kind not in layer_kinds() or ours is None or ours.kind.family != "activation":
        return None
    return next((difference.change for difference in _as_activation(modules, kind, values)), None)


def _as_activation(modules: Modules, kind: str, values: Mapping[str, Json]) -> Iterator[Difference]:
    ours = modules.known[1]
    framework = modules.frameworks[1]
    flavour = ours.flavour if ours is not None else framework
    row = layer_kinds()[kind]
    theirs = KnownLayer(row, TORCH if row.torch[0] else MINDSPORE, "", next(filter(None, (*row.torch, *row.mindspore))))
    target = KnownLayer(row, flavour, framework, "")
    if ours is not None and ours.kind is row and values:
        yield from _in_form(modules, ours, values)
    elif theirs.counterpart(flavour):
        names = (modules.bench.type, ours.word if ours is not None else modules.port.type)
        yield _instead(Cause.ACTIVATION, theirs, target, values, names)


def _in_form(modules: Modules, ours: KnownLayer, values: Mapping[str, Json]) -> Iterator[Difference]:
    """The same activation with other arguments."""
    port = modules.port
    here, now = ours.read(port.arguments, port.attributes), ours.named(port.arguments) or dict(port.attributes)
    for name, wanted in values.items():
        written = ours.written(name, wanted)
        attribute = ours.kind.has.get(name)
        if attribute is None or not attribute.cause or written is None or alike(wanted, here.get(name)):
            continue
        given = {word: now[word] for word in written if word in now}
        spelled = attribute.spelled(ours.flavour) or name
        change = Change(written)
        yield Difference(Cause(attribute.cause), spelled, wanted, here.get(name), change, typed(written), typed(given))


def _cause(theirs: KnownLayer, ours: KnownLayer | None) -> Cause:
    if ours is None:
        return Cause.ACTIVATION if theirs.kind.family == "activation" else Cause.LAYER_TYPE
    if {theirs.kind.kind, ours.kind.kind} == _GELUS:
        return Cause.GELU_FORM
    if theirs.kind.family == ours.kind.family:
        return _CAUSES.get(ours.kind.family, Cause.LAYER_TYPE)
    return Cause.ACTIVATION if "activation" in (theirs.kind.family, ours.kind.family) else Cause.LAYER_TYPE


def _instead(
    cause: Cause,
    theirs: KnownLayer,
    target: KnownLayer,
    there: Mapping[str, Json],
    values: tuple[Json, Json],
    input_shape: Sequence[int] | None = None,
) -> Difference:
    word = theirs.counterpart(target.flavour)
    built = KnownLayer(theirs.kind, target.flavour, target.framework, word)
    arguments = _arguments(built, there, input_shape)
    package = _PACKAGES.get((built.flavour, built.framework), "")
    if not word or arguments is None:
        return Difference(cause, "", *values, None)
    change = Change(arguments, f"{package}.{word}")
    shown = f"{package.replace('torch.', '').replace('mindspore.', '')}.{word}"
    return Difference(cause, "", *values, change, typed(arguments), other_class=shown)


def _arguments(
    built: KnownLayer, there: Mapping[str, Json], input_shape: Sequence[int] | None
) -> dict[str, Json] | None:
    found: dict[str, Json] = {}
    for name, attribute in built.kind.has.items():
        if (
            name not in there
            or (there[name] is None and not attribute.always)
            or there[name] == attribute.fixed is not None
        ):
            continue
        written = built.written(name, there[name], input_shape)
        if written is None:
            return None
        found |= written
    return found
