"""Modules that hold the same tensors as one around them: which of them is which is not for the tensors to say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from trueline.pair.aligning.aligned import Aligned


def outermost_first(aligned: Aligned) -> Aligned | None:
    """Of modules that hold the same tensors, the outermost matched with the outermost; None where that is so already.

    A layer that has the tensors itself stays matched with the one that has them.
    """
    holders = (
        _holders((one.bench_path for one in aligned.pairs), {one.path for one in aligned.bench.modules}),
        _holders((one.port_path for one in aligned.pairs), {one.path for one in aligned.port.modules}),
    )
    owners = {one.port_path.rpartition(".")[0] for one in aligned.pairs}
    modules = dict(aligned.modules)
    for held, here in holders[1].items():
        there = holders[0].get(held, [])
        if len(here) == len(there) == 1 or not there:
            continue
        fixed = {path: modules[path] for path in here if path in owners and path in modules}
        for path in here:
            modules.pop(path, None)
        loose = zip(_without(here, fixed), _without(there, fixed.values()), strict=False)
        modules |= {**dict(loose), **fixed}
    return replace(aligned, modules=modules) if modules != dict(aligned.modules) else None


def _without(paths: Sequence[str], fixed: Iterable[str]) -> list[str]:
    known = set(fixed)
    return [path for path in paths if path not in known]


def _holders(names: Iterable[str], paths: set[str]) -> dict[frozenset[int], list[str]]:
    """Modules by the tensors that they hold, themselves or below, from the outermost to the innermost."""
    held: dict[str, set[int]] = {}
    for place, name in enumerate(names):
        while name:
            name = name.rpartition(".")[0]
            held.setdefault(name, set()).add(place)
    found: dict[frozenset[int], list[str]] = {}
    for path in sorted(held, key=lambda one: (one.count(".") + bool(one), one)):
        if path in paths:
            found.setdefault(frozenset(held[path]), []).append(path)
    return found
