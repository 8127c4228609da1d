"""The names a pickle of weights may use, and what each stands for here; torch itself is never asked."""

from __future__ import annotations

from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from trueline.formats.pth import numpy_values
from trueline.formats.pth.machine import Made, put_item
from trueline.formats.pth.trouble import BadPickle, Refused
from trueline.formats.pth.values import DTYPES, STORAGES, Plain, StorageType, Tensor, TensorType, tensor
from trueline.model.budget import Budget

_MAX_DEVICES: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Call(Made):
    """A name that a pickle calls."""

    name: str
    made: Callable[..., object] = field(repr=False)

    def reduce(self, args: tuple[object, ...]) -> object:
        """What it makes of the arguments; other than torch's are an error of the pickle."""
        try:
            return self.made(*args)
        except TypeError:
            raise BadPickle(self.name) from None


def _tensor_v2(
    storage: object,
    offset: object,
    shape: object,
    strides: object,
    _grad: object,
    _hooks: object,
    metadata: object = None,
) -> Tensor:
    _check_lazy(metadata)
    return tensor(storage, offset, shape, strides)


def _tensor_v3(
    storage: object,
    offset: object,
    shape: object,
    strides: object,
    _grad: object,
    _hooks: object,
    dtype: object,
    metadata: object = None,
) -> Tensor:
    _check_lazy(metadata)
    if not isinstance(dtype, TensorType):
        raise BadPickle("dtype")
    if dtype.name not in DTYPES:
        raise Refused(f"torch.{dtype.name}", "unread_type")
    return tensor(storage, offset, shape, strides, DTYPES[dtype.name])


def _check_lazy(metadata: object) -> None:
    """Elements that are still to be conjugated or negated are not those of the storage."""
    if isinstance(metadata, dict) and (metadata.get("conj") or metadata.get("neg")):
        raise Refused("torch.conj" if metadata.get("conj") else "torch._neg_view", "unread_tensor")


def _same(data: object, *_rest: object) -> object:
    if not isinstance(data, Tensor):
        raise BadPickle("parameter")
    return data


def _of_type(made: object, kind: object, args: object, _state: object) -> object:
    if not isinstance(made, Call) or not made.name.startswith("torch._utils._rebuild_"):
        raise BadPickle("tensor")
    if not isinstance(kind, TensorType) or not isinstance(args, tuple):
        raise BadPickle("tensor")
    return made.reduce(args)


def _size(sides: object = ()) -> tuple[object, ...]:
    if not isinstance(sides, tuple):
        raise BadPickle("torch.Size")
    return sides


def _device(kind: object, index: object = None) -> Plain:
    # Only texts and numbers are turned into text: other values may be nested without end.
    if not isinstance(kind, str) or not (index is None or (type(index) is int and 0 <= index < _MAX_DEVICES)):
        raise BadPickle("torch.device")
    return Plain(kind[:40] if index is None else f"{kind[:40]}:{index}")


def _layout(name: object) -> Plain:
    if not isinstance(name, str):
        raise BadPickle("layout")
    return Plain(name[:40])


def _held(items: object = ()) -> object:
    """A set, or a counter of a dictionary: the same things, not copied."""
    if not isinstance(items, (list, tuple, dict)):
        raise BadPickle("set")
    return items


def _complex(real: object, imaginary: object) -> Plain:
    if not isinstance(real, float) or not isinstance(imaginary, float):
        raise BadPickle("complex")
    return Plain(f"{real}{imaginary:+}j")


_UTILS: Final = "torch._utils"
_CALLS: Final[dict[tuple[str, str], Callable[..., object]]] = {
    (_UTILS, "_rebuild_tensor"): lambda storage, offset, shape, strides: tensor(storage, offset, shape, strides),
    (_UTILS, "_rebuild_tensor_v2"): _tensor_v2,
    (_UTILS, "_rebuild_tensor_v3"): _tensor_v3,
    (_UTILS, "_rebuild_parameter"): _same,
    (_UTILS, "_rebuild_parameter_with_state"): _same,
    ("torch._tensor", "_rebuild_from_type_v2"): _of_type,
    ("torch", "Size"): _size,
    ("torch", "device"): _device,
    ("torch.serialization", "_get_layout"): _layout,
    ("builtins", "set"): _held,
    ("builtins", "frozenset"): _held,
    ("builtins", "complex"): _complex,
    # No bytes at all, as protocol 2 writes them.
    ("builtins", "bytes"): lambda: b"",
    ("collections", "Counter"): _held,
    **numpy_values.CALLS,
}
# Tensors that are more than a view of a storage, by the function that would make them.
_UNREAD: Final = {
    "_rebuild_sparse_tensor",
    "_rebuild_sparse_csr_tensor",
    "_rebuild_nested_tensor",
    "_rebuild_qtensor",
    "_rebuild_meta_tensor_no_storage",
    "_rebuild_wrapper_subclass",
    "_rebuild_device_tensor_from_numpy",
    "_rebuild_device_tensor_from_cpu_tensor",
}
_TABLE: Final[dict[tuple[str, str], Made]] = {
    **{name: Call(".".join(name), made) for name, made in _CALLS.items()},
    **{("torch", name): StorageType(DTYPES[dtype]) for name, dtype in STORAGES.items()},
    ("torch.storage", "UntypedStorage"): StorageType(None),
    ("torch", "UntypedStorage"): StorageType(None),
    **{("builtins", name): Plain(name) for name in ("dict", "list", "int", "float", "bool", "str")},
    ("torch", "Tensor"): TensorType("Tensor"),
    ("torch.nn.parameter", "Parameter"): TensorType("Parameter"),
    ("torch.nn.parameter", "Buffer"): TensorType("Buffer"),
    **numpy_values.TYPES,
}
# Names of dtypes; those without a counterpart in NumPy are refused only where a tensor has them.
_DTYPE_NAMES: Final = DTYPES.keys() | {"complex32", "qint8", "quint8", "qint32", "quint4x2", "quint2x4"}
_DTYPE_STARTS: Final = ("float8_", "float4_", "int1", "int2", "int3", "int4", "int5", "int6", "int7", "uint", "bits")


class Allowed:
    """The table for one file: what is copied while it is read is taken from its budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._own = {
            ("collections", "OrderedDict"): Call("collections.OrderedDict", self._ordered),
            ("collections", "defaultdict"): Call("collections.defaultdict", self._default),
        }

    def find(self, module: str, name: str) -> object:
        """What a name stands for; everything that is not on the list is refused by its full name."""
        # Older protocols use the names of Python 2.
        where = NAME_MAPPING.get((module, name), (IMPORT_MAPPING.get(module, module), name))
        found = self._own.get(where) or _TABLE.get(where)
        if found is not None:
            return found
        full = ".".join(where)
        if module == _UTILS and name in _UNREAD:
            raise Refused(full, "unread_tensor")
        if module == "torch" and (name in _DTYPE_NAMES or name.startswith(_DTYPE_STARTS)):
            return TensorType(name)
        if module == "torch" and name.endswith("Storage") and name.startswith("Q"):
            raise Refused(full, "unread_tensor")
        raise Refused(full)

    def _ordered(self, pairs: object = ()) -> dict[object, object]:
        if not isinstance(pairs, (list, tuple)):
            raise BadPickle("OrderedDict")
        self._budget.spend(len(pairs))
        if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in pairs):
            raise BadPickle("OrderedDict")
        made: dict[object, object] = {}
        for key, value in pairs:
            put_item(made, key, value, self._budget)
        return made

    def _default(self, factory: object = None) -> dict[object, object]:
        if factory is not None and not isinstance(factory, Made):
            raise BadPickle("defaultdict")
        return {}
