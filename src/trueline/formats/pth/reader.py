"""Weights out of a file of torch.save."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from trueline.formats.files import fault, map_file
from trueline.formats.nesting import arrange
from trueline.formats.printable import printable
from trueline.formats.pth.allowed import Allowed
from trueline.formats.pth.machine import Persistent
from trueline.formats.pth.numpy_values import NumpyArray
from trueline.formats.pth.opcodes import unpickled
from trueline.formats.pth.places import Place, storage, stored
from trueline.formats.pth.trouble import BadPickle, Refused, pth_fault
from trueline.formats.pth.values import Plain, Tensor, TensorType
from trueline.formats.stored import Stored
from trueline.formats.weights import Weights
from trueline.formats.zips import Member, inflated, is_zip, members
from trueline.model.budget import READ_PER_UNIT, Budget

_MAX_PICKLE: Final = 256 << 20
_MAGIC: Final = 0x1950A86A20F9469CFC6C
_VERSION: Final = 1001
_HEAD_BYTES: Final = 1 << 20


def read_pth(path: Path) -> Weights:
    """The tensors of a file, found without torch; whatever is not a tensor or a plain value is refused by name."""
    data = map_file(path)
    if is_zip(data):
        return _read_zip(path, len(data))
    # A pickle that begins with its protocol, then the format's own number.
    if bytes(data[:1]) == b"\x80" or bytes(data[:1]) in (b"L", b"I"):
        return _read_legacy(path, data)
    raise pth_fault(path, "not_torch")


def _budget(path: Path, size: int) -> Budget:
    """What reading may cost: large tensors only have to be found, so that they add nothing to it."""
    return Budget(path, min(size, _MAX_PICKLE))


def _read_zip(path: Path, size: int) -> Weights:
    found = members(path)
    budget = _budget(path, size)
    pickles = [name for name in found if name.count("/") == 1 and name.endswith("/data.pkl")]
    if len(pickles) != 1:
        raise pth_fault(path, "not_torch")
    root = pickles[0].removesuffix("data.pkl")
    if f"{root}constants.pkl" in found or any(name.startswith(f"{root}code/") for name in found):
        raise pth_fault(path, "torch_script")
    member = found[pickles[0]]
    if member.size > _MAX_PICKLE:
        raise pth_fault(path, "bad_pickle", reason="too long")
    order = found.get(f"{root}byteorder")
    big = order is not None and order.size < 16 and inflated(path, order.name).strip() == b"big"
    budget.hold(member.size)
    code = memoryview(inflated(path, member.name))
    value, _ = _unpickled(path, code, 0, lambda id: storage(id, 5), budget)

    def place(key: str) -> Place | None:
        return _place(found.get(f"{root}data/{key}"))

    return _arranged(path, value, place, budget, big_endian=big)


def _place(member: Member | None) -> Place | None:
    if member is None:
        return None
    return Place(0, member.size, member.name) if member.compressed else Place(member.start, member.size)


def _read_legacy(path: Path, data: memoryview) -> Weights:
    """The format before torch 1.6: pickles one after another, then the storages."""
    about, at = [], 0
    budget = _budget(path, len(data))
    kept: dict[str, int] = {}

    def persistent(id: object) -> object:
        found = storage(id, 6)
        kept[found.key] = found.dtype.itemsize if found.dtype is not None else 1
        return found

    for number in range(5):
        value, at = _unpickled(path, data[: at + _MAX_PICKLE], at, persistent, budget)
        about.append(value)
        if number == 0 and value != _MAGIC:
            raise pth_fault(path, "not_torch")
    _, version, system, value, keys = about
    big = isinstance(system, dict) and system.get("little_endian") is False
    if version != _VERSION or not isinstance(keys, list):
        raise pth_fault(path, "not_torch")
    places = _legacy_places(path, data, at, keys, kept, "big" if big else "little")
    return _arranged(path, value, places.get, budget, big_endian=big)


def _legacy_places(
    path: Path, data: memoryview, at: int, keys: list[object], sizes: Mapping[str, int], order: str
) -> dict[str, Place]:
    places: dict[str, Place] = {}
    for key in keys:
        if not isinstance(key, str) or key not in sizes or key in places:
            raise pth_fault(path, "bad_pickle", reason="storages")
        count = int.from_bytes(data[at : at + 8], "big" if order == "big" else "little", signed=True)
        nbytes = count * sizes[key]
        at += 8
        if count < 0 or at + nbytes > len(data):
            raise fault(path, "cut_short")
        places[key] = Place(at, nbytes)
        at += nbytes
    return places


def _unpickled(path: Path, data: memoryview, at: int, persistent: Persistent, budget: Budget) -> tuple[object, int]:
    try:
        return unpickled(data, at, Allowed(budget).find, persistent, budget)
    except Refused as refused:
        kind = "whole_model" if refused.kind == "refused" and _is_module(data) else refused.kind
        raise pth_fault(path, kind, name=refused.name) from None
    except BadPickle as error:
        raise pth_fault(path, "bad_pickle", reason=printable(str(error)) or "?") from None


def _is_module(data: memoryview) -> bool:
    """Whether a pickle holds the attributes that every torch.nn.Module has."""
    start = bytes(data[:_HEAD_BYTES])
    return b"_parameters" in start and b"_modules" in start


def _arranged(
    path: Path, value: object, place: Callable[[str], Place | None], budget: Budget, *, big_endian: bool
) -> Weights:
    def array(found: Tensor, name: str) -> Stored:
        made = stored(path, name, found, place(found.storage.key), big_endian=big_endian)
        # Views may repeat the same few bytes: what they come to is what whoever measures them reads.
        budget.spend(made.nbytes // READ_PER_UNIT)
        return made

    return arrange(path, "pth", value, Tensor, array, budget, _shown)


def _shown(value: object) -> str:
    """A value that is neither tensor nor plain."""
    if isinstance(value, Plain):
        return value.text
    if isinstance(value, TensorType):
        return f"torch.{value.name}"
    if isinstance(value, NumpyArray):
        return f"array of {value.dtype} {list(value.shape)}"
    return type(value).__name__
