"""The two calls of one draw of a class: torch's as it was drawn, and what it is in MindSpore."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Final

import numpy as np

from trueline.adapters.lab.call import Call, Spec
from trueline.apitable.attributes import KnownLayer, known_layer
from trueline.apitable.layers import Layer, keeps_torch_names, layer_of_class, layers
from trueline.apitable.pairs import Documented, Kind, pairs_by_name
from trueline.kernel.array import Array
from trueline.migrate.lab.draw import Draw, DrawnValue, DType, Module, Strided
from trueline.migrate.lab.drawing.classes import literal_defaults
from trueline.migrate.lab.special_arguments import WRITERS, Untranslatable
from trueline.migrate.lab.vision_arguments import vision_argument

__all__ = ["Untranslatable", "defaults_of", "needed", "translate"]

# Inputs that a layer takes by name: they stand behind others that are left out.
_BY_NAME: Final = frozenset(
    (
        *("attn_mask", "key_padding_mask", "need_weights", "average_attn_weights", "mask", "src_mask", "tgt_mask"),
        *("memory_mask", "src_key_padding_mask", "tgt_key_padding_mask", "memory_key_padding_mask"),
    )
)
# Losses that take no int64, torch's only type of classes.
_NARROW: Final = frozenset(("mindspore.nn.CrossEntropyLoss", "mindspore.nn.MultilabelMarginLoss"))
# Inputs that no training differentiates by.
_FIXED: Final = frozenset(("target", "targets"))
# Parameters that say where and how torch computes, and not what.
_OF_TORCH_ALONE: Final = frozenset(
    (
        *("device", "dtype", "inplace", "size_average", "reduce", "foreach", "fused", "capturable", "differentiable"),
        *("generator", "process_group", "_weight", "_freeze", "sparse", "validate_args", "params", "optimizer"),
    )
)
# Of MindSpore's: what torch does by assigning to a layer's tensors.
_OF_MINDSPORE_ALONE: Final = frozenset(
    ("dtype", "weight_init", "bias_init", "gamma_init", "beta_init", "moving_mean_init", "moving_var_init", "params")
)


class _Arrays:
    """The arrays of both calls, each once."""

    def __init__(self) -> None:
        self.held: list[Array] = []
        self._places: dict[int, int] = {}

    def place(self, array: Array) -> int:
        """The index of an array."""
        if id(array) not in self._places:
            self._places[id(array)] = len(self.held)
            self.held.append(array)
        return self._places[id(array)]


def translate(
    pair: Documented, draw: Draw, explicit: Mapping[str, Any] | None = None
) -> tuple[Call, Call, list[Array]]:
    """Both calls of a draw, and their arrays; Untranslatable where MindSpore's has nothing to write for an argument.

    ``explicit`` holds arguments of torch that are written out in MindSpore's call only, unless the draw has them.
    """
    arrays = _Arrays()
    torch = Call(
        pair.kind.value,
        pair.torch,
        *_inputs(draw, arrays),
        {name: _spec(value, arrays, False) for name, value in draw.build.items()},
        gradient=pair.kind in (Kind.LAYER, Kind.LOSS),
        more=_more(draw, arrays),
    )
    build = mindspore_build(pair, {**(explicit or {}), **draw.build}, draw)
    mindspore = Call(
        pair.kind.value,
        pair.mindspore,
        _narrowed(pair, draw, torch.args, arrays),
        {_input_name(pair, name): spec for name, spec in torch.kwargs.items()},
        {name: _spec(value, arrays, True) for name, value in build.items()},
        gradient=torch.gradient,
        more={**torch.more, **_names(pair, draw)},
    )
    return torch, mindspore, arrays.held


def defaults_of(pair: Documented) -> dict[str, Any]:
    """torch's defaults that MindSpore's call could need: those of arguments that say what is computed."""
    found = literal_defaults(pair.torch_parameters)
    return {name: value for name, value in found.items() if name not in _OF_TORCH_ALONE}


def needed(pair: Documented, name: str, value: object) -> str:
    """What to write in MindSpore's call for a value of one of torch's arguments; "" where there is nothing to write.

    Untranslatable where MindSpore cannot be given it.
    """
    if value is None and name == "stride":
        return "stride=kernel_size"
    if pair.mindspore == "mindspore.nn.LRN" and name == "alpha":
        return f"alpha={value!r} / size"
    try:
        found = mindspore_build(pair, {name: value}, Draw())
    except KeyError:
        # Made of several of torch's arguments, or of the optimizer's rate.
        raise Untranslatable(name) from None
    return ", ".join(f"{argument}={_source(one)}" for argument, one in found.items())


def mindspore_build(pair: Documented, given: Mapping[str, DrawnValue], draw: Draw) -> dict[str, DrawnValue]:
    """MindSpore's constructor arguments for torch's."""
    defaults = literal_defaults(pair.torch_parameters)
    writer = WRITERS.get(pair.mindspore)
    if writer is not None:
        return writer(given, defaults, draw.more)
    found: dict[str, DrawnValue] = {}
    for name in given:
        found |= _argument(pair, name, given, draw, defaults)
    if found.get("pad_mode") == "valid" and _pads_explicitly(pair, found):
        found["pad_mode"] = "pad"
    return found


def _pads_explicitly(pair: Documented, found: Mapping[str, DrawnValue]) -> bool:
    """Whether a padding of 0 has to be written as pad_mode="pad".

    With "valid" a transposed convolution fills up its output, and a pooling takes none of its other arguments.
    """
    word = pair.mindspore.rpartition(".")[2]
    others = (found.get("dilation", 1) != 1, found.get("return_indices"), found.get("ceil_mode"))
    return word.endswith("Transpose") or (word.startswith("MaxPool") and any(others))


def _argument(
    pair: Documented, name: str, given: Mapping[str, DrawnValue], draw: Draw, defaults: Mapping[str, Any]
) -> dict[str, DrawnValue]:
    """One argument of torch as MindSpore's."""
    value = given[name]
    if name in ("args", "transforms", "schedulers"):
        return {name: [_counterpart(one, pair) for one in value]}
    if isinstance(value, Module):
        return {name: _counterpart(value, pair)}
    if value is None and name != "stride" and defaults.get(name, "") is None:
        # Nothing to write for what torch chooses by itself.
        return {}
    vision = vision_argument(pair.mindspore, name, value)
    if vision is not None:
        return vision
    known = known_layer(pair.mindspore)
    source = known_layer(pair.torch)
    if known is not None and source is not None and known.flavour != source.flavour:
        written = _by_table(known, source, name, given, draw)
        if written is not None and _takes(pair, written):
            return written
    theirs = _renamed(pair, name)
    if isinstance(theirs, list):
        return dict(zip(theirs, value, strict=True))
    if theirs is not None:
        return {theirs: _typed(value, theirs, pair)}
    if name in _OF_TORCH_ALONE or (name in defaults and _same(value, defaults[name])):
        # A port leaves out what MindSpore has no argument for, where torch's does nothing.
        return {}
    raise Untranslatable(name)


def _by_table(
    known: KnownLayer, source: KnownLayer, name: str, given: Mapping[str, DrawnValue], draw: Draw
) -> dict[str, Any] | None:
    """An argument of a layer as ``attributes.toml`` has it; None where it knows nothing of it."""
    own = next((one for one in source.kind.has.values() if one.torch == name), None)
    if own is None:
        return None
    shared = source.read(given, {}, _input_shape(draw))
    written = known.written(own.name, shared[own.name], _input_shape(draw))
    if written is None:
        raise Untranslatable(name)
    return written


def _takes(pair: Documented, arguments: Iterable[str]) -> bool:
    """Whether MindSpore's class has all of some arguments: the table is one for classes of one, two and three axes."""
    theirs = [parameter for parameter, _ in pair.mindspore_parameters]
    return any(one.startswith("*") for one in theirs) or all(name in theirs for name in arguments)


def _renamed(pair: Documented, name: str) -> str | list[str] | None:
    """MindSpore's name of an argument: by the table, by an equal name, by what is left on both sides."""
    by_table: str | list[str] | None = _tables().get(pair.mindspore, {}).get(name)
    if by_table is not None:
        return by_table
    theirs = [parameter for parameter, _ in pair.mindspore_parameters]
    if name in theirs or (theirs and all(one.startswith("*") for one in theirs)):
        return name
    if not theirs and pair.kind in (Kind.TRANSFORM, Kind.DISTRIBUTION):
        return name
    if known_layer(pair.mindspore) is not None:
        # What attributes.toml does not have of a layer, MindSpore's has not.
        return None
    ours = [parameter for parameter, _ in pair.torch_parameters]
    left = [one for one in ours if one not in theirs and one not in _OF_TORCH_ALONE and one != "maximize"]
    right = [one for one in theirs if one not in ours and one not in _OF_MINDSPORE_ALONE]
    # Of several that are left on both sides nothing says which is which.
    return right[0] if left == [name] and len(right) == 1 else None


@cache
def _tables() -> Mapping[str, Mapping[str, Any]]:
    text = resources.files("trueline.migrate.lab").joinpath("class_arguments.toml").read_text("utf-8")
    return tomllib.loads(text)


def _counterpart(module: Module, pair: Documented) -> Module:
    """A layer or transform of torch that is an argument, as MindSpore's of the same style."""
    rows = pairs_by_name().get(module.name, ())
    home = pair.mindspore.rpartition(".")[0]
    found = next((row for row in rows if row.mindspore.startswith(home)), rows[0] if rows else None)
    if found is None:
        raise Untranslatable(module.name)
    return Module(found.mindspore, mindspore_build(found, module.build, Draw()))


def _inputs(draw: Draw, arrays: _Arrays) -> tuple[list[Spec], dict[str, Spec]]:
    args = [_spec(value, arrays, False) for name, value in draw.values.items() if name not in _BY_NAME]
    kwargs = {name: _spec(value, arrays, False) for name, value in draw.values.items() if name in _BY_NAME}
    return args, kwargs


def _narrowed(pair: Documented, draw: Draw, args: Sequence[Spec], arrays: _Arrays) -> list[Spec]:
    """The inputs of MindSpore's call: classes as int32 where its documentation asks for that."""
    if pair.mindspore not in _NARROW or "int64" in draw.conditions:
        return list(args)
    return [{**spec, "dtype": "int32"} if arrays.held[spec["array"]].dtype == np.int64 else spec for spec in args]


def _input_name(pair: Documented, name: str) -> str:
    found = _tables().get(pair.mindspore, {}).get(name, name)
    return str(found)


def _more(draw: Draw, arrays: _Arrays) -> dict[str, Any]:
    """``more`` of a draw with its arrays as indices."""
    found = dict(draw.more)
    found["fixed"] = [name for name in draw.values if name in _FIXED]
    found["names"] = [name for name in draw.values if name not in _BY_NAME]
    for group in ("weights", "parameters"):
        if group in found:
            found[group] = {name: arrays.place(one) for name, one in found[group].items()}
    if "gradients" in found:
        found["gradients"] = [[arrays.place(one) for one in step] for step in found["gradients"]]
    return found


def _names(pair: Documented, draw: Draw) -> dict[str, Any]:
    """What MindSpore calls the tensors of the call."""
    if pair.kind is Kind.OPTIMIZER:
        norm = layers()["layernorm"]
        renamed = {name: _child_leaf(name, norm) for name in draw.more["parameters"] if name.startswith("norm.")}
        return {} if keeps_torch_names(pair.mindspore) else {"renamed": renamed}
    if "weights" not in draw.more:
        return {}
    drawn = draw.more["weights"]
    layer = layer_of_class(pair.torch)
    if keeps_torch_names(pair.mindspore) or layer is None:
        return {"leaves": {leaf: [leaf] for leaf in drawn}}
    known = {leaf: names for leaf, names in _leaves(layer, drawn).items() if "*" not in leaf}
    return {"leaves": known, "inserted": dict(layer.inserted)}


def _leaves(layer: Layer, drawn: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for leaf in (*layer.leaves, *drawn):
        own = layer.mindspore_leaf(leaf)
        found[leaf] = [own or _child_leaf(leaf, layers()["layernorm"]), *layer.older.get(leaf, ())]
    return found


def _child_leaf(leaf: str, norm: Layer) -> str:
    """The name of a tensor inside a layer of layers."""
    *owners, last = leaf.split(".")
    children = {ours: theirs for layer in layers().values() for ours, theirs in layer.children.items()}
    if owners and owners[-1].startswith("norm"):
        last = norm.mindspore_leaf(last) or last
    return ".".join([*(children.get(owner, owner) for owner in owners), last])


def _input_shape(draw: Draw) -> Sequence[int] | None:
    for value in draw.values.values():
        array = value.array if isinstance(value, Strided) else value
        return array.shape if isinstance(array, np.ndarray) else None
    return None


def _spec(value: DrawnValue, arrays: _Arrays, mindspore: bool) -> Spec:
    if isinstance(value, np.ndarray):
        return {"array": arrays.place(value)}
    if isinstance(value, Strided):
        return {"array": arrays.place(value.array), "strided": True}
    if isinstance(value, DType):
        return {"dtype": value.name}
    if isinstance(value, Module):
        build = {name: _spec(one, arrays, mindspore) for name, one in value.build.items()}
        return {"module": {"name": value.name, "build": build}}
    if isinstance(value, tuple):
        return {"tuple": [_spec(one, arrays, mindspore) for one in value]}
    if isinstance(value, list):
        return [_spec(one, arrays, mindspore) for one in value]
    if isinstance(value, float) and not np.isfinite(value):
        return {"special": "nan" if np.isnan(value) else "inf" if value > 0 else "-inf"}
    return value.item() if isinstance(value, np.generic) else value


def _typed(value: DrawnValue, name: str, pair: Documented) -> DrawnValue:
    """A number of the type that MindSpore asks for, as its default has it; optimizers take floats alone."""
    default = literal_defaults(pair.mindspore_parameters).get(name)
    if isinstance(value, tuple) and isinstance(default, tuple) and len(value) == len(default):
        return tuple(float(one) if type(known) is float else one for one, known in zip(value, default, strict=True))
    if pair.kind is Kind.OPTIMIZER and type(value) is int and default is None:
        return float(value)
    if type(default) is int and type(value) is float and value.is_integer():
        return int(value)
    return float(value) if type(default) is float and type(value) is int else value


def _same(value: object, default: object) -> bool:
    if isinstance(value, np.ndarray | Strided | Module):
        return False
    return value == default or (isinstance(default, list | tuple) and value in (list(default), tuple(default)))


def _source(value: object) -> str:
    if isinstance(value, dict) and "name" in value:
        return str(value["name"]).removeprefix("mindspore.dataset.")
    return repr(value)
