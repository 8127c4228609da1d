"""Which parameter of a correct port is which of its benchmark: modules in the order they are defined, then leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy.typing as npt

_LEAVES = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}


def pairs(bench: Mapping[str, npt.NDArray[Any]], port: Mapping[str, npt.NDArray[Any]]) -> dict[str, str]:
    """The benchmark's names by the port's; a ValueError where the two do not fit together."""
    one, other = _groups(bench), _groups(port)
    if len(one) != len(other):
        raise ValueError(f"{len(one)} modules with parameters against {len(other)}")
    found: dict[str, str] = {}
    for first, second in zip(one, other, strict=True):
        if first.keys() != second.keys():
            raise ValueError(f"{sorted(first.values())} against {sorted(second.values())}")
        for leaf, name in second.items():
            if bench[first[leaf]].size != port[name].size:
                raise ValueError(f"{first[leaf]} {bench[first[leaf]].shape} against {name} {port[name].shape}")
            found[name] = first[leaf]
    return found


def _groups(state: Mapping[str, npt.NDArray[Any]]) -> list[dict[str, str]]:
    """Names by leaf, module by module, those of the network itself first."""
    found: dict[str, dict[str, str]] = {"": {}}
    for name in state:
        path, _, leaf = name.rpartition(".")
        found.setdefault(path, {})[_LEAVES.get(leaf, leaf)] = name
    return list(found.values())
