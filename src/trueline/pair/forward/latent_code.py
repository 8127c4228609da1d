"""Code between layers that agrees on ordinary values: shown by values that its layers could give as well."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from trueline.apitable.layers import layer_of_class
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.blame import Blame, Cause, Stage
from trueline.pair.forward.causes import block_kinds
from trueline.pair.forward.forced import Reference
from trueline.pair.ops.explaining import explain_graphs
from trueline.pair.ops.op_level import BlockCall, InnerCall, op_graphs
from trueline.pair.ops.parting import sinks_apart
from trueline.pair.sides.recorded import Recording
from trueline.pair.sides.side import Side
from trueline.pair.sides.trouble import SideTrouble
from trueline.pair.sides.wire import Array
from trueline.pair.verify import coarse_kinds

# What no ordinary value shows must stand out from any noise.
_FLOOR: Final = 1e-4
_CLEAR: Final = 1e-2
# Layers whose outputs may have any sign, whatever they are given.
_LINEAR: Final = ("conv", "linear")


@dataclass(frozen=True)
class LatentCode:
    """Two live sides, and what was recorded of the port last."""

    bench: Side
    port: Side
    aligned: Aligned
    recording: Recording

    def of(self, reference: Reference, known: Collection[tuple[str, Cause]]) -> Iterator[Blame]:
        """What shows where linear layers give negative numbers only; ``known`` are causes found, by the port's path."""
        for block in block_kinds(self.aligned, reference, self.recording, silent=()):
            provoked = self._provoked(block)
            if provoked is not None:
                yield from (one for one in self._shown(block, provoked) if (one.module, one.cause) not in known)

    def _provoked(self, block: BlockCall) -> BlockCall | None:
        linear = [self._is_linear(one) for one in block.inner]
        if not any(linear):
            return None
        inner = [
            replace(one, outs=[_negative(each) for each in one.outs or ()]) if is_linear else one
            for one, is_linear in zip(block.inner, linear, strict=True)
        ]
        return replace(block, inner=inner)

    def _is_linear(self, one: InnerCall) -> bool:
        layer = layer_of_class(self.aligned.bench.classes.get(one.other_path, ""))
        return layer is not None and layer.kind.startswith(_LINEAR)

    def _shown(self, block: BlockCall, provoked: BlockCall) -> Iterator[Blame]:
        coarse = coarse_kinds(self.aligned.bench.framework, self.aligned.port.framework)
        try:
            graphs = op_graphs(self.bench, self.port, provoked)
            apart = sinks_apart(*graphs, _FLOOR)
            if not apart:
                return
            apart -= sinks_apart(*op_graphs(self.bench, self.port, block), _FLOOR)
        except SideTrouble:
            return
        for one in explain_graphs(*graphs, _FLOOR, coarse) if apart else ():
            if one.confirmed and one.sink in apart and one.measured is not None and one.measured > _CLEAR:
                yield replace(one.blame(Stage.FORWARD, block.path, block.other_path, _FLOOR), latent=True)


def _negative(array: Array) -> Array:
    """The same sizes, all of them negative, where there are both signs."""
    if array.dtype.kind != "f" or not array.size or not float(array.min()) < 0 < float(array.max()):
        return array
    return np.asarray(-np.abs(array))
