"""The parameters that an optimizer keeps for itself."""

from __future__ import annotations

from collections.abc import Iterator

import mindspore as ms

from trueline.adapters.nouns import Optimizer, Value


def slots(optimizer: Optimizer) -> Iterator[tuple[str, Value]]:
    """All of an optimizer's own parameters, each under a name that is the same in a fresh optimizer."""
    seen: set[int] = set()
    for parameter in optimizer.get_parameters():
        seen.add(id(parameter))
        yield parameter.name, parameter
    for place, group in enumerate(getattr(optimizer, "param_groups", ())):
        for name, value in group.items():
            if isinstance(value, ms.Parameter) and id(value) not in seen:
                yield f"group.{place}/{name}", value
