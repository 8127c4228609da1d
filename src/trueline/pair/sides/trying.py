"""One module of a side by itself, as it is or with something changed: what it gives for given arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from trueline.kernel.array import Array
from trueline.pair.sides.side import Side


@dataclass(frozen=True, slots=True)
class Change:
    """What to change in a module for one try.

    ``arguments`` are constructor arguments of its own class, or of the class ``build`` where that is given; ``sets``
    are attributes; ``pads`` a border (before and after each of the last axes) around its first input, filled with
    ``pad_value``; ``tensors`` replace its own.
    """

    arguments: Mapping[str, Any] = field(default_factory=dict)
    build: str = ""
    sets: Mapping[str, Any] = field(default_factory=dict)
    pads: Sequence[tuple[int, int]] = ()
    pad_value: float = 0.0
    tensors: Mapping[str, Array] = field(default_factory=dict)
    positional: Sequence[str] = ()

    def __or__(self, other: Change) -> Change:
        """Both changes at once; what the later says holds."""
        build = other.build or self.build
        return Change(
            {**self.arguments, **other.arguments},
            build,
            {**self.sets, **other.sets},
            other.pads or self.pads,
            other.pad_value if other.pads else self.pad_value,
            {**self.tensors, **other.tensors},
            other.positional or self.positional,
        )


@dataclass(frozen=True, slots=True)
class Ran:
    """What a module gave: its outputs, and the gradients at its inputs and parameters where they were asked for.

    ``after`` are its buffers after a run in training mode, ``dtypes`` those of its tensors. ``failed`` is why it could
    not be run.
    """

    outputs: Sequence[Array] = ()
    gin: Sequence[Array | None] = ()
    grads: Mapping[str, Array] = field(default_factory=dict)
    after: Mapping[str, Array] = field(default_factory=dict)
    dtypes: Sequence[str] = ()
    failed: str = ""


def run_module(
    side: Side,
    path: str,
    arrays: Sequence[Array],
    *,
    call: int = 0,
    train: bool = False,
    gout: Sequence[Array | None] | None = None,
    change: Change | None = None,
    lacking: Mapping[str, Array] | None = None,
    dropout: bool | Sequence[float] = False,
    seed: int = 0,
) -> Ran:
    """Run the module at ``path``, with ``change`` a changed copy of it; the side's model is afterwards as it was.

    ``lacking`` are tensors for what the changed module has and the side's own has not. With ``dropout`` dropout drops;
    numbers are how much each one does, in the order in which they are called.
    """
    change = change or Change()
    lacking = lacking or {}
    content = {
        "do": "run_module",
        "path": path,
        "call": call,
        "train": train,
        "inputs": len(arrays),
        "gout": None if gout is None else [one is not None for one in gout],
        "changes": dict(change.arguments) if change.arguments and not change.build else None,
        "build": {"class": change.build, "arguments": dict(change.arguments)} if change.build else None,
        "sets": dict(change.sets),
        "pads": [list(one) for one in change.pads],
        "pad_value": change.pad_value,
        "positional": list(change.positional),
        "given": list(change.tensors),
        "lacking": list(lacking),
        "dropout": dropout if isinstance(dropout, bool) else list(dropout),
        "seed": seed,
    }
    pulled = [one for one in gout or () if one is not None]
    told, found = side.ask(content, [*arrays, *pulled, *change.tensors.values(), *lacking.values()])
    if "failed" in told:
        return Ran(failed=told["failed"])
    rest = iter(found)
    return Ran(
        [next(rest) for _ in range(told["outputs"])],
        [next(rest) if there else None for there in told["gin"]],
        {name: next(rest) for name in told["grads"]},
        {name: next(rest) for name in told["after"]},
        told["dtypes"],
    )
