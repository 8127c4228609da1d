"""The name and shape of a tensor in the other framework, by the layers it belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.compare.align import less_sure
from trueline.migrate.held import Held
from trueline.migrate.modules import Naming, Recognised, modules_of
from trueline.model.finding import Certainty
from trueline.model.message import Message, message

_WRAPPERS: Final = ("module.", "_orig_mod.")
# Names that only one framework gives.
_TORCH_ONLY: Final = frozenset({"running_mean", "running_var", "num_batches_tracked"})
_MINDSPORE_ONLY: Final = frozenset({"moving_mean", "moving_variance", "embedding_table"})


@dataclass(frozen=True, slots=True)
class Other:
    """A tensor in the other framework; ``none`` says why it has no counterpart."""

    name: str
    shape: tuple[int, ...]
    done: tuple[Message, ...] = ()
    none: Message | None = None


def wrapper_of(names: Sequence[str]) -> str:
    """What a wrapper has put before every name: "" for nothing."""
    found = ""
    while names:
        longer = (found + one for one in _WRAPPERS)
        one = next((one for one in longer if all(name.startswith(one) and name != one for name in names)), None)
        if one is None:
            break
        found = one
    return found


def naming_of(arrays: Sequence[Held], usual: Naming | None) -> Naming:
    """Whose names they are, by those that only one framework gives; ``usual`` where that does not tell.

    Networks of torch have parameters of their own called gamma and beta: in files that belong to nobody these count
    only where nothing speaks against it, in torch's never.
    """
    kinds = {held.leaf for held in arrays}
    theirs = bool(kinds & _MINDSPORE_ONLY)
    ours = bool(kinds & _TORCH_ONLY)
    if usual is None and not theirs and not ours:
        by_module = {path: module.leaves for path, module in modules_of(arrays).items() if not module.children}
        norms = any(_alike(leaves, "weight", "bias") for leaves in by_module.values())
        theirs = not norms and any(_alike(leaves, "gamma", "beta") for leaves in by_module.values())
    if theirs == ours:
        return usual or Naming.TORCH
    return Naming.MINDSPORE if theirs else Naming.TORCH


def _alike(leaves: Mapping[str, Held], a: str, b: str) -> bool:
    """Whether a module has two vectors of one length."""
    return a in leaves and b in leaves and leaves[a].shape == leaves[b].shape and len(leaves[a].shape) == 1


class Names:
    """Turns names of one framework into the other's."""

    def __init__(self, recognised: Mapping[str, Recognised], to: Naming) -> None:
        self._recognised = recognised
        self._to_mindspore = to is Naming.MINDSPORE
        self._paths: dict[str, str] = {"": ""}
        self._sure: dict[str, Certainty] = {"": Certainty.CERTAIN}

    def other(self, held: Held, path: str | None = None) -> Other:
        """A tensor's name and shape in the other framework; ``path`` is its module's there where the user gave one."""
        recognised = self._recognised[held.path]
        module = self.path(held.path) if path is None else path
        leaf, shape, done, layer = held.leaf, held.shape, list(held.done), recognised.layer
        above, _, inner = held.path.rpartition(".")
        holder = self._recognised[above].layer if inner and not self._to_mindspore else None
        if holder is not None and holder.torch_leaf(f"{inner}.{leaf}") is not None:
            # MindSpore's layer holds another one, torch's holds the tensor itself.
            layer, leaf, module = holder, f"{inner}.{leaf}", self.path(above) if path is None else path
        if layer is not None:
            alone = layer.only_torch if self._to_mindspore else layer.only_mindspore
            if leaf in alone:
                return Other(
                    held.name, shape, none=message("convert.no_counterpart", leaf=leaf, layer=recognised.label)
                )
            theirs = layer.mindspore_leaf(leaf) if self._to_mindspore else layer.torch_leaf(leaf)
            if theirs is not None:
                shape = self._reshaped(shape, layer.inserted.get(leaf if self._to_mindspore else theirs))
                if shape != held.shape:
                    done.append(message("convert.reshaped", before=list(held.shape), after=list(shape)))
                if theirs != held.leaf:
                    done.append(message("convert.renamed", before=held.leaf, after=theirs))
                leaf = theirs
        if module != held.path and module != above:
            done.append(message("convert.moved", before=held.path, after=module or "-"))
        if (module, leaf) == (held.path, held.leaf):
            return Other(held.name, shape, tuple(done))
        return Other(f"{module}.{leaf}" if module else leaf, shape, tuple(done))

    def path(self, path: str) -> str:
        """A module's path in the other framework: some layers call their children otherwise."""
        unknown = []
        # A hostile name may consist of dots: no recursion.
        while path not in self._paths:
            unknown.append(path)
            path = path.rpartition(".")[0]
        found = self._paths[path]
        for one in reversed(unknown):
            above, _, own = one.rpartition(".")
            name = self._name(above, own)
            # What does not change stays as it is, however oddly it is dotted.
            changed = name != own or found != above
            found = self._paths[one] = one if not changed else f"{found}.{name}" if found else name
            sure = self._sure[above]
            self._sure[one] = less_sure(sure, self._recognised[above].certainty) if name != own else sure
        return found

    def sure(self, path: str) -> Certainty:
        """How sure a module's path in the other framework is: as the layers are that call it otherwise."""
        self.path(path)
        return self._sure[path]

    def _name(self, above: str, name: str) -> str:
        """What the other framework calls a child of a module."""
        layer = self._recognised[above].layer if above in self._recognised else None
        if layer is None or not layer.children:
            return name
        children = layer.children if self._to_mindspore else {b: a for a, b in layer.children.items()}
        return children.get(name, name)

    def _reshaped(self, shape: tuple[int, ...], axis: int | None) -> tuple[int, ...]:
        if axis is None:
            return shape
        if self._to_mindspore:
            return (*shape[:axis], 1, *shape[axis:])
        return (*shape[:axis], *shape[axis + 1 :]) if len(shape) > axis and shape[axis] == 1 else shape
