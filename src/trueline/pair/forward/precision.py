"""A port that computes in shorter floats than the benchmark, as automatic mixed precision does: one cause, not many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.compare.noise import epsilon, tensor_floor
from trueline.model.message import message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.blame import Blame, Cause, Stage, module_name
from trueline.pair.forward.forced import Check, Checked, Reference

# One module with a cast of its own is a fault of that module.
_SEVERAL: Final = 2
_DEPTH: Final = 2
_MARGIN: Final = 4.0
# Noise is measured by moving values by a rounding of this.
_MOVED: Final = "float32"


@dataclass(frozen=True, slots=True)
class Shorter:
    """The modules whose outputs are of a shorter type than the benchmark's, and both types.

    ``named``: the weights are of that type, which has been told of them.
    """

    paths: Sequence[str]
    port: str
    bench: str
    named: bool = False

    def blames(self) -> list[Blame]:
        """The difference as the one cause it is."""
        if self.named:
            return []
        first = self.paths[0]
        params = {"count": len(self.paths), "module": module_name(first), "port": self.port, "bench": self.bench}
        text = message("pair_stage.shorter", **params)
        return [Blame(Stage.FORWARD, Cause.DTYPE, text, "", "", self.bench, self.port, confirmed=True)]


def shorter(aligned: Aligned, checked: Sequence[Checked], reference: Reference) -> Shorter | None:
    """Whether several modules of the port compute in shorter floats."""
    named = any(pair.bench.dtype != pair.port.dtype for pair in aligned.pairs)
    found: dict[str, tuple[str, str]] = {}
    for call in checked:
        for check in call.checks:
            there = reference.array(call.matched.bench.path, call.matched.bench.call, check.kind, check.index)
            if check.kind == "out" and there is not None and epsilon(check.dtype) > epsilon(there.dtype.name) > 0:
                found.setdefault(call.matched.port.path, (check.dtype, there.dtype.name))
    if len(found) < _SEVERAL:
        return None
    return Shorter(list(found), *next(iter(found.values())), named)


def allowed(checked: Sequence[Checked], found: Shorter | None) -> list[Checked]:
    """What was compared, with room for the shorter type's roundings."""
    if found is None:
        return list(checked)
    floor = _MARGIN * tensor_floor((found.port, found.port), _DEPTH)
    # What one rounding moves, a longer one moves the further.
    longer = _MARGIN * epsilon(found.port) / epsilon(_MOVED)

    def room(check: Check) -> Check:
        return replace(check, floor=max(check.floor, floor, longer * check.noise))

    return [replace(call, checks=[room(check) for check in call.checks]) for call in checked]
