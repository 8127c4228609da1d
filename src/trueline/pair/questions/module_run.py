"""One module of a side by itself, as it is or with something changed: what it gives for given arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trueline.kernel.array import Array
from trueline.model.json_value import Json
from trueline.pair.questions.question import Question


@dataclass(frozen=True, slots=True)
class Change:
    """What to change in a module for one try.

    ``arguments`` are constructor arguments of its own class, or of the class ``build`` where that is given; ``sets``
    are attributes; ``pads`` a border (before and after each of the last axes) around its first input, filled with
    ``pad_value``; ``tensors`` replace its own.
    """

    arguments: Mapping[str, Json] = field(default_factory=dict)
    build: str = ""
    sets: Mapping[str, Json] = field(default_factory=dict)
    pads: Sequence[tuple[int, int]] = ()
    pad_value: float = 0.0
    tensors: Mapping[str, Array] = field(default_factory=dict)
    positional: Sequence[str] = ()

    def __or__(self, change: Change) -> Change:
        """Both changes at once; what the later says holds."""
        build = change.build or self.build
        return Change(
            {**self.arguments, **change.arguments},
            build,
            {**self.sets, **change.sets},
            change.pads or self.pads,
            change.pad_value if change.pads else self.pad_value,
            {**self.tensors, **change.tensors},
            change.positional or self.positional,
        )


UNCHANGED: Final = Change()


@dataclass(frozen=True, slots=True)
class Ran:
    """What a module gave: its outputs, and the gradients at its inputs and parameters where they were asked for.

    ``after`` are its buffers after a run in training mode, ``dtypes`` those of its tensors. ``failed`` is why it could
    not be run. ``dropped`` are the values that dropouts were given, in order: None where they cannot be seen.
    """

    outputs: Sequence[Array] = ()
    gin: Sequence[Array | None] = ()
    grads: Mapping[str, Array] = field(default_factory=dict)
    after: Mapping[str, Array] = field(default_factory=dict)
    dtypes: Sequence[str] = ()
    failed: str = ""
    dropped: Sequence[Array | None] = ()


@dataclass(frozen=True, slots=True)
class RunModule(Question[Ran]):
    """Run the module at ``path``, with ``change`` a changed copy of it; the side's model is afterwards as it was.

    ``lacking`` are tensors for what the changed module has and the side's own has not. With ``dropout`` dropout drops;
    numbers are how much each one does, in the order in which they are called. With ``masks`` each multiplies what it is
    given, in that order, by its mask instead, or by nothing.
    """

    path: str
    inputs: Sequence[Array]
    call: int = 0
    train: bool = False
    gout: Sequence[Array | None] | None = None
    change: Change = UNCHANGED
    lacking: Mapping[str, Array] = field(default_factory=dict)
    dropout: bool | Sequence[float] = False
    masks: Sequence[Array | None] | None = None
    seed: int = 0
