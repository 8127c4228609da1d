"""Which key of one run is which key of the other: by names, never by order and shape alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from trueline.model.key import Key, Kind

_LEAVES: Final[Mapping[str, str]] = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}
_SLOTS: Final[Mapping[str, str]] = {"moments": "momentum_buffer", "moment1": "exp_avg", "moment2": "exp_avg_sq"}
_WRAPPERS: Final = ("module", "network", "backbone", "_backbone", "_orig_mod")
_NAMED: Final = frozenset({Kind.PARAM, Kind.GRAD, Kind.BUFFER, Kind.OPT})


class Reason(StrEnum):
    """Why two keys are taken for the same."""

    NAME = "name"
    LEAF = "leaf"
    WRAPPER = "wrapper"


@dataclass(frozen=True, slots=True)
class Pair:
    """A key here, the same one there, and why."""

    a: Key
    b: Key
    reason: Reason


@dataclass(frozen=True, slots=True)
class Alignment:
    """Pairs in the order of side b, and what is left over on both sides."""

    pairs: Sequence[Pair]
    only_a: Sequence[Key]
    only_b: Sequence[Key]


def align(keys_a: Iterable[Key], keys_b: Iterable[Key]) -> Alignment:
    """Pair keys of equal names, then of renamed leaves, then below a wrapper; a doubtful name stays a leftover."""
    left_a, left_b = dict.fromkeys(keys_a), dict.fromkeys(keys_b)
    order = {key: place for place, key in enumerate(left_b)}
    pairs: list[Pair] = []
    for reason, spell in _SPELLINGS.items():
        spelled_a, spelled_b = _unambiguous(left_a, spell), _unambiguous(left_b, spell)
        for spelling in [one for one in spelled_a if one in spelled_b]:
            pair = Pair(spelled_a[spelling], spelled_b[spelling], reason)
            pairs.append(pair)
            del left_a[pair.a], left_b[pair.b]
    pairs.sort(key=lambda pair: order[pair.b])
    return Alignment(pairs, list(left_a), list(left_b))


def _unambiguous(keys: Iterable[Key], spell: Callable[[Key], Key]) -> dict[Key, Key]:
    """Keys by their spelling, without those that two keys share."""
    spelled = [(spell(key), key) for key in keys]
    count = Counter(spelling for spelling, _ in spelled)
    return {spelling: key for spelling, key in spelled if count[spelling] == 1}


def _as_written(key: Key) -> Key:
    return key


def _leaf(key: Key) -> Key:
    if key.kind not in _NAMED:
        return key
    leaf, colon, slot = key.index.partition(":")
    # A moving average is a parameter in one framework and a buffer in the other.
    kind = Kind.PARAM if key.kind is Kind.BUFFER else key.kind
    return replace(key, kind=kind, index=_LEAVES.get(leaf, leaf) + colon + _SLOTS.get(slot, slot))


def _unwrapped(key: Key) -> Key:
    parts = key.module.split(".")
    while parts and parts[0] in _WRAPPERS:
        del parts[0]
    return replace(_leaf(key), module=".".join(parts))


_SPELLINGS: Final[Mapping[Reason, Callable[[Key], Key]]] = {
    Reason.NAME: _as_written,
    Reason.LEAF: _leaf,
    Reason.WRAPPER: _unwrapped,
}
