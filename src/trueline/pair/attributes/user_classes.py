"""Classes of the users' own: arguments and attributes of one name that have another value on both sides."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from trueline.model.json_value import Json
from trueline.model.run import ModuleInfo
from trueline.pair.attributes.difference import Difference, Modules, alike, typed
from trueline.pair.blame import Cause
from trueline.pair.questions.module_run import Change

# What says nothing about the numbers that a module computes.
_SILENT: Final = frozenset(
    {"name", "training", "device", "dtype", "inplace", "data_format", "format", "args", "kwargs", "cls_name", "self"}
)
_OBJECT: Final = re.compile(r"<.*>|torch\.|mindspore\.|\bFloat\d|\bInt\d", re.DOTALL)
_SPELLINGS: Final = {
    "epsilon": "eps",
    "norm_eps": "eps",
    "layer_norm_eps": "eps",
    "heads": "num_heads",
    "n_heads": "num_heads",
    "n_head": "num_heads",
    "nhead": "num_heads",
    "num_head": "num_heads",
    "has_bias": "bias",
    "use_bias": "bias",
    "group": "groups",
    "negative_slope": "slope",
    "drop": "dropout",
    "drop_rate": "dropout",
    "dropout_p": "dropout",
    "dropout_rate": "dropout",
    "drop_path": "drop_prob",
    "drop_path_rate": "drop_prob",
    "axis": "dim",
}
_CAUSES: Final = {
    "eps": Cause.EPS,
    "momentum": Cause.MOMENTUM,
    "num_heads": Cause.HEADS,
    "bias": Cause.BIAS,
    "qkv_bias": Cause.BIAS,
    "groups": Cause.GROUPS,
    "slope": Cause.SLOPE,
    "dropout": Cause.DROPOUT,
    "drop_prob": Cause.DROPOUT,
    "p": Cause.DROPOUT,
    "dim": Cause.AXIS,
    "scale": Cause.SCALE,
    "temperature": Cause.SCALE,
    "stride": Cause.STRIDE,
    "padding": Cause.PADDING,
    "dilation": Cause.DILATION,
    "kernel_size": Cause.KERNEL_SIZE,
    "align_corners": Cause.ALIGN_CORNERS,
    "mode": Cause.ATTRIBUTE,
    "activation": Cause.ACTIVATION,
    "act": Cause.ACTIVATION,
}


def own_differences(modules: Modules) -> Iterator[Difference]:
    """Plain values under one name that are not the same; tried by building again, else by setting the attribute."""
    bench, port = modules.bench, modules.port
    there, here = _plain(bench), _plain(port)
    by_name = {_SPELLINGS.get(name, name): name for name in here}
    for name, value in there.items():
        shared = _SPELLINGS.get(name, name)
        spelled = name if name in here else by_name.get(shared)
        if spelled is None or alike(value, here[spelled]) or not _of_a_kind(value, here[spelled]):
            continue
        if shared == "momentum" and len(set(modules.frameworks)) > 1 and _add_up_to_one(value, here[spelled]):
            continue
        yield _difference(_CAUSES.get(shared, Cause.ATTRIBUTE), spelled, value, here[spelled], port)


def _add_up_to_one(first: Json, second: Json) -> bool:
    """As the momenta of the two frameworks' norms do."""
    return isinstance(first, int | float) and isinstance(second, int | float) and alike(first + second, 1.0)


def _difference(cause: Cause, name: str, bench: Json, port: Json, module: ModuleInfo) -> Difference:
    by_argument = Change({name: bench}) if name in (module.arguments or {}) else None
    by_attribute = Change(sets={name: bench}) if name in module.attributes else None
    change = by_argument or by_attribute
    fallback = by_attribute if by_argument is not None else None
    return Difference(cause, name, bench, port, change, typed({name: bench}), typed({name: port}), fallback=fallback)


def _plain(module: ModuleInfo) -> dict[str, Json]:
    """Numbers, texts and lists of them; an attribute says more than the argument it was made from."""
    found = {**(module.arguments or {}), **module.attributes}
    return {name: value for name, value in found.items() if name not in _SILENT and _says_something(value)}


def _says_something(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_says_something, value))
    if isinstance(value, Mapping):
        return False
    return not (isinstance(value, str) and _OBJECT.search(value))


def _of_a_kind(first: Json, second: Json) -> bool:
    """Two numbers, two texts, two lists, or two flags; None may stand against anything."""
    if first is None or second is None:
        return True
    if isinstance(first, bool) or isinstance(second, bool):
        return isinstance(first, bool) and isinstance(second, bool)
    numbers = isinstance(first, int | float) and isinstance(second, int | float)
    return numbers or type(first) is type(second)
