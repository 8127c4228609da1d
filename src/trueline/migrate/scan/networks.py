"""The networks of a project and the order in which to port them: what others are made of comes first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from trueline.script.uses.found import FileUses, Network

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class SubNetwork:
    """A class that derives from Module or Cell, how many places make one, and which others it is made of."""

    network: Network
    made: int
    holds: tuple[str, ...]


def port_order(files: Sequence[FileUses]) -> list[SubNetwork]:
    """All networks, leaves first; those that hold each other stay in the order of the source."""
    networks = {(one.path, one.name): one for file in files for one in file.networks}
    made = Counter((making.path, making.name) for file in files for making in file.made)
    holds: dict[Key, dict[Key, None]] = {key: {} for key in networks}
    for file in files:
        for making in file.made:
            holder, part = (file.path, making.within), (making.path, making.name)
            if holder in networks and part in networks and part != holder:
                holds[holder][part] = None
    for key, network in networks.items():
        holds[key].update(dict.fromkeys((path, name) for name, path in network.bases if (path, name) in networks))
    return [SubNetwork(networks[key], made[key], tuple(name for _, name in holds[key])) for key in _leaves_first(holds)]


def _leaves_first(holds: dict[Key, dict[Key, None]]) -> list[Key]:
    ordered: dict[Key, None] = {}
    for start in holds:
        # Each with the parts that are still to be placed before it.
        waiting = [(start, iter(holds[start]))]
        begun = {start}
        while waiting:
            key, parts = waiting[-1]
            part = next((one for one in parts if one not in ordered and one not in begun), None)
            if part is None:
                ordered[key] = None
                waiting.pop()
            else:
                begun.add(part)
                waiting.append((part, iter(holds[part])))
    return list(ordered)
