"""Labels that do not count: which can be tried, and which a loss's settings alone tell of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from trueline.kernel.array import Array
from trueline.model.message import message
from trueline.pair.blame import Blame, Cause, Stage
from trueline.pair.questions.parts import About

# torch's and MindSpore's own default: a loss that says it ignores this has been told nothing.
_DEFAULT: Final = -100
# So many labels that could be ignored are tried.
_MAX_LABELS: Final = 3


@dataclass(frozen=True, slots=True)
class Ignoring:
    """``tried`` are labels to give to both losses, ``told`` those that only the benchmark's settings name.

    ``real`` are those of them that the user's data have, as far as that is known.
    """

    tried: tuple[int, ...] = ()
    stated: tuple[int, ...] = ()
    real: frozenset[int] = frozenset()

    def blames(self, bench: About, port: About) -> list[Blame]:
        """What the settings alone tell."""
        here = ", ".join(str(one) for one in port.ignored) or "-"
        return [
            Blame(
                Stage.LOSS,
                Cause.IGNORED_INDEX,
                message("pair_parts.loss_ignored", bench=str(label), port=here),
                bench=label,
                port=here,
                latent=label not in self.real,
                line=port.line(),
                other_line=bench.line(),
                edit=message("pair_parts.edit_loss", what=str(Cause.IGNORED_INDEX), value=str(label)),
            )
            for label in self.stated
        ]


def ignoring(labels: Array | None, classes: int, bench: About, port: About) -> Ignoring:
    """What to try; MindSpore reads beyond the outputs at a label that is neither a class nor ignored, and may crash."""
    named = {one for one in (*bench.ignored, *port.ignored) if one != _DEFAULT}
    real = _outside(labels, classes) if labels is not None else frozenset(named)
    tried: list[int] = []
    stated: list[int] = []
    for label in sorted(real | named)[:_MAX_LABELS]:
        if 0 <= label < classes or (_safe(label, bench) and (_safe(label, port) or _risked(label, labels, port))):
            tried.append(label)
        elif label in bench.ignored:
            stated.append(label)
    return Ignoring(tuple(tried), tuple(stated), real)


def _safe(label: int, about: About) -> bool:
    return about.framework == "torch" or label in about.ignored


def _risked(label: int, labels: Array | None, about: About) -> bool:
    """A loss of the user's own may handle by hand what its data really have."""
    own = about.defined is not None and not about.ignored
    return own and labels is not None and bool((labels == label).any())


def _outside(labels: Array, classes: int) -> frozenset[int]:
    if labels.dtype.kind != "i":
        return frozenset()
    return frozenset(int(one) for one in np.unique(labels) if one < 0 or one >= classes)
