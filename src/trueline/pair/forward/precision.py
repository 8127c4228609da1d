"""A port that computes in shorter floats than the benchmark, as automatic mixed precision does: one cause, not many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.apitable.attributes import known_layer
from trueline.compare.noise import epsilon
from trueline.model.message import message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.blame import Blame, Cause, Stage, module_name
from trueline.pair.forward.forced import Check, Checked, Reference, short_floor

# One module with a cast of its own is a fault of that module.
_SEVERAL: Final = 2


@dataclass(frozen=True, slots=True)
class Shorter:
    """The modules whose outputs are of a shorter type than the benchmark's, and both types.

    ``named``: the weights are of that type, which has been told of them. ``whole``: every layer that multiplies by a
    matrix of weights computes in it, so that it is the network's format and not a cast somewhere in it.
    """

    paths: Sequence[str]
    port: str
    bench: str
    named: bool = False
    whole: bool = False

    def blames(self) -> list[Blame]:
        """The difference as the one cause it is; a format that the network as a whole was given is a choice."""
        if self.named:
            return []
        first = self.paths[0]
        params = {"count": len(self.paths), "module": module_name(first), "port": self.port, "bench": self.bench}
        text = message("pair_stage.shorter", **params)
        return [Blame(Stage.FORWARD, Cause.DTYPE, text, "", "", self.bench, self.port, confirmed=not self.whole)]


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
    formats = next(iter(found.values()))
    multiplying = [call.matched.port.path for call in checked if call.matched.unit and _multiplies(aligned, call)]
    whole = len(set(multiplying)) >= _SEVERAL and all(found.get(path) == formats for path in multiplying)
    return Shorter(list(found), *formats, named, whole)


def _multiplies(aligned: Aligned, checked: Checked) -> bool:
    """Whether a call's module has a matrix of weights."""
    path = checked.matched.port.path
    return any(pair.port_path.startswith(f"{path}.") and _is_matrix(pair) for pair in aligned.pairs)


def _is_matrix(pair: ParamPair) -> bool:
    return not pair.bench.buffer and sum(side != 1 for side in pair.bench.shape) > 1


def shorter_weights(aligned: Aligned) -> tuple[str, str] | None:
    """The benchmark's and the port's format where all matrices of weights are of a shorter one in the port."""
    matrices = [pair for pair in aligned.pairs if _is_matrix(pair)]
    formats = {(pair.bench.dtype, pair.port.dtype) for pair in matrices}
    if len(matrices) < _SEVERAL or len(formats) != 1:
        return None
    bench, port = formats.pop()
    return (bench, port) if epsilon(port) > epsilon(bench) > 0 else None


def allowed(aligned: Aligned, checked: Sequence[Checked], found: Shorter | None) -> list[Checked]:
    """What was compared, with room for the shorter type's roundings.

    Values that it makes equal have no greatest one: what selects among them may give its gradient to another.
    """
    if found is None:
        return list(checked)
    rounding = epsilon(found.port)

    def says(call: Checked, check: Check) -> bool:
        return check.kind != "gin" or not _selects(aligned.port.classes.get(call.matched.port.path, ""))

    def room(check: Check) -> Check:
        return replace(check, floor=max(check.floor, short_floor(check.kind, rounding, check.ulps)))

    return [replace(call, checks=[room(check) for check in call.checks if says(call, check)]) for call in checked]


def _selects(name: str) -> bool:
    layer = known_layer(name)
    return layer is not None and layer.kind.kind in ("maxpool", "adaptivemaxpool")
