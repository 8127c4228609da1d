"""Which part of a nested file is the model: state_dict, optimizer, ema and the rest, told apart by key and content."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Final, Generic, TypeVar

from trueline.formats.files import fault
from trueline.formats.printable import printable
from trueline.formats.stored import Stored
from trueline.formats.weights import MODEL, Keys, Nested, Shown, Weights
from trueline.model.budget import Budget

# Where training scripts put the model, the surest first; an average of it counts where there is nothing else.
_MODELS: Final = (
    *("state_dict", "model_state_dict", "model_state", "model", "module", "net", "network", "net_state_dict"),
    *("params", "weights", "ema_state_dict", "state_dict_ema", "model_ema", "params_ema", "ema"),
)
# What lies beside a model, by its whole key in lower case, a part of it, its beginning, its end.
_BESIDE: Final = frozenset(("opt", "amp", "ema", "criterion", "callbacks", "loops", "args", "config"))
_BESIDE_PARTS: Final = ("optim", "sched", "scaler", "rng")
_BESIDE_STARTS: Final = ("ema_", "random")
_BESIDE_END: Final = "_ema"
# Words of a parameter's name, between underscores.
_PARAMETERS: Final = tuple(
    f"_{name}_"
    for name in (
        *("weight", "bias", "gamma", "beta", "running_mean", "running_var", "moving_mean", "moving_variance"),
        *("embedding_table", "kernel", "scale"),
    )
)
_MAX_DEPTH: Final = 64
_MAX_KEY: Final = 4096
# What a leaf takes beside its name: its keys, and its places in the lists of what was found.
_LEAF: Final = 256
_MAX_TEXT: Final = 1000
_SAME_NAMES: Final = 0.9


_Leaf = TypeVar("_Leaf")


@dataclass(slots=True)
class _Leaves(Generic[_Leaf]):
    arrays: list[tuple[Keys, _Leaf]] = field(default_factory=list)
    others: dict[Keys, object] = field(default_factory=dict)


def arrange(
    path: Path,
    format: str,
    tree: object,
    kind: type[_Leaf],
    array: Callable[[_Leaf, str], Stored],
    budget: Budget,
    shown: Callable[[object], object] = str,
) -> Weights:
    """The Weights of a tree of dictionaries, lists, plain values and things of a ``kind`` that ``array`` can place."""
    leaves = _leaves(path, tree, kind, shown, budget)
    if not leaves.arrays:
        raise fault(path, "no_arrays")
    home = _home([keys for keys, _ in leaves.arrays], list(leaves.others))
    sections: dict[str, dict[str, Stored]] = {MODEL: {}}
    places: dict[Keys, Stored] = {}
    own: list[Keys] = []
    for keys, value in leaves.arrays:
        section, name = _address(keys, home)
        held = sections.setdefault(section, {})
        if name in held:
            raise fault(path, "same_name", name=printable(name))
        held[name] = places[keys] = array(value, name)
        if section == MODEL:
            own.append(keys)
    others = {".".join(keys): value for keys, value in leaves.others.items()}
    found = {key: _shared(one) for key, one in sections.items()}
    return Weights(path, format, found, ".".join(home), others, Nested(tree, home, places, frozenset(own)))


def _leaves(
    path: Path, tree: object, kind: type[_Leaf], shown: Callable[[object], object], budget: Budget
) -> _Leaves[_Leaf]:
    """Every leaf by its keys, in order; a tree that refers to itself, or to one part over and over, is cut off."""
    found = _Leaves[_Leaf]()
    waiting: list[tuple[Keys, int, Iterator[tuple[str, object]]]] = []
    keys: Keys = ()
    length, value = 0, tree
    while True:
        if isinstance(value, kind):
            found.arrays.append((keys or ("tensor",), value))
        elif isinstance(value, (dict, list, tuple)):
            if len(waiting) > _MAX_DEPTH:
                raise fault(path, "too_nested")
            budget.spend(1 + len(value))
            if isinstance(value, dict):
                waiting.append((keys, length, ((_spelt(path, key), inside) for key, inside in value.items())))
            elif all(_is_plain(one) for one in value):
                budget.hold(_LEAF * (len(value) // 8))
                found.others[keys] = tuple(map(_plain, value))
            else:
                waiting.append((keys, length, ((str(place), inside) for place, inside in enumerate(value))))
        else:
            found.others[keys] = _plain(value) if _is_plain(value) else Shown(shown(value))
        step = None
        while waiting and (step := next(waiting[-1][2], None)) is None:
            waiting.pop()
        if step is None:
            break
        above, length, _ = waiting[-1]
        key, value = step
        keys, length = (*above, key), length + len(key) + 1
        depth = len(keys)
        # The model's home is looked for level by level, with what is left of the keys at each.
        budget.spend(1 + 2 * depth)
        budget.hold(_LEAF + 4 * length + 4 * depth * depth)
    return found


def _spelt(path: Path, key: object) -> str:
    """A key as a part of a name."""
    parts = key if isinstance(key, tuple) else (key,)
    # Before it is written out: each of the digits of a long number costs as much as all before it.
    size = sum(len(part) if isinstance(part, (str, bytes)) else _digits(part) for part in parts)
    if size > _MAX_KEY:
        raise fault(path, "too_nested")
    return str(key)


def _digits(part: object) -> int:
    """No fewer than the characters of a number, or nearly."""
    return part.bit_length() // 3 + 1 if isinstance(part, int) else 24


def _is_plain(value: object) -> bool:
    return value is None or isinstance(value, (bool, int, float, str, bytes))


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return Shown(f"{len(value)} bytes")
    return Shown(value[:_MAX_TEXT]) if isinstance(value, str) and len(value) > _MAX_TEXT else value


def _home(arrays: Sequence[Keys], others: Sequence[Keys]) -> Keys:
    """The keys above the model; none where its parts lie at the top."""
    groups = _groups(arrays)
    inside = _groups(others)
    known = next((key for key in _MODELS if key in groups), None)
    if known is not None:
        return (known, *_deeper(groups[known]))
    beside = [key for key in groups if _is_beside(key, groups[key], inside.get(key, []))]
    mains = [key for key in groups if key not in beside]
    lying = [keys[0] for keys in arrays if len(keys) == 1 and not _beside(keys[0])]
    if lying:
        return ()
    if not mains:
        return (beside[0],) if beside else ()
    if not beside and not others:
        return ()
    if len(mains) == 1:
        return (mains[0], *_deeper(groups[mains[0]]))
    best = max(mains, key=lambda key: (_parameter_like(groups[key]), len(groups[key])))
    copies = all(_same_names(groups[best], groups[key]) for key in mains)
    return (best,) if copies else ()


@lru_cache(maxsize=1024)
def _beside(key: str) -> bool:
    lower = key.lower()
    return (
        lower in _BESIDE
        or any(part in lower for part in _BESIDE_PARTS)
        or lower.startswith(_BESIDE_STARTS)
        or lower.endswith(_BESIDE_END)
    )


def _deeper(arrays: Sequence[Keys]) -> Keys:
    """A known key once more below the first, where nothing else but what lies beside a model is there."""
    groups = _groups(arrays)
    found = [key for key in groups if key in _MODELS and not _beside(key)]
    rest = [keys[0] for keys in arrays if keys[0] not in found and not _beside(keys[0])]
    return (found[0], *_deeper(groups[found[0]])) if len(found) == 1 and not rest else ()


def _groups(leaves: Sequence[Keys]) -> dict[str, list[Keys]]:
    """What lies below each key, by the rest of its keys."""
    groups: dict[str, list[Keys]] = {}
    for keys in leaves:
        if len(keys) > 1:
            groups.setdefault(keys[0], []).append(keys[1:])
    return groups


def _is_beside(key: str, arrays: Sequence[Keys], others: Sequence[Keys]) -> bool:
    below = {keys[0] for keys in (*arrays, *others)}
    return _beside(key) or {"state", "param_groups"} <= below


def _parameter_like(arrays: Sequence[Keys]) -> int:
    leaves = (f"_{keys[-1].rpartition('.')[2]}_" for keys in arrays)
    return sum(1 for leaf in leaves if any(word in leaf for word in _PARAMETERS))


def _same_names(one: Sequence[Keys], other: Sequence[Keys]) -> bool:
    return len(set(one) & set(other)) >= _SAME_NAMES * max(len(one), len(other))


def _address(keys: Keys, home: Keys) -> tuple[str, str]:
    """The section of an array and its name there."""
    if keys[: len(home)] == home and len(keys) > len(home):
        if not home and len(keys) > 1 and _beside(keys[0]):
            return keys[0], ".".join(keys[1:])
        return MODEL, ".".join(keys[len(home) :])
    common = next((place for place, key in enumerate(home) if keys[place : place + 1] != (key,)), len(home))
    return ".".join(keys[: common + 1]), ".".join(keys[common + 1 :]) or keys[-1]


def _shared(arrays: dict[str, Stored]) -> dict[str, Stored]:
    """The same arrays, those over the same elements marked with the first of their names."""
    first: dict[tuple[object, ...], str] = {}
    for name, stored in arrays.items():
        if stored.nbytes:
            place = (stored.path, stored.member, stored.segments, stored.shape, stored.strides, stored.dtype)
            known = first.setdefault(place, name)
            if known != name:
                arrays[name] = replace(stored, shared_with=known)
    return arrays
