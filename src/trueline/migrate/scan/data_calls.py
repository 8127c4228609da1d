"""What feeds a training: a DataLoader, or a dataset of MindSpore and the ``batch`` that follows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from trueline.script.uses.use import Use, UseKind

_LOADER: Final = "torch.utils.data.DataLoader"
_BATCH: Final = "mindspore.dataset.Dataset.batch"
_PLACES: Final = ("dataset", "batch_size", "shuffle")


def is_loader(name: str) -> bool:
    """Whether a call makes what a loop fetches batches from."""
    if name == _LOADER:
        return True
    package, _, word = name.rpartition(".")
    return package == "mindspore.dataset" and word.endswith("Dataset")


def loader_values(use: Use, uses: Sequence[Use]) -> Mapping[str, tuple[str, bool]]:
    """batch_size, shuffle and drop_last as PyTorch means them, and whether each is written down."""
    given = _given(use)
    if use.name == _LOADER:
        found = {"batch_size": ("1", False), "shuffle": ("False", False), "drop_last": ("False", False)}
        if "sampler" in given or "batch_sampler" in given:
            found.pop("shuffle")
        return found | {name: (given[name], True) for name in found if name in given}
    found = {}
    if "sampler" not in given:
        # A dataset of MindSpore shuffles unless it is told not to.
        found["shuffle"] = (given["shuffle"], True) if "shuffle" in given else ("True", False)
    batch = next((one for one in uses if one.name == _BATCH and one.line >= use.line), None)
    if batch is not None and batch.call is not None:
        named = {argument.name: argument.text for argument in batch.call.arguments}
        places = [argument.text for argument in batch.call.arguments if argument.name is None]
        size = named.get("batch_size", places[0] if places else None)
        drop = named.get("drop_remainder", places[1] if len(places) > 1 else None)
        if size is not None:
            found["batch_size"] = (size, True)
        found["drop_last"] = (drop, True) if drop is not None else ("False", False)
    else:
        found["batch_size"] = ("1", False)
    return found


def _given(use: Use) -> dict[str, str]:
    if use.call is None or use.kind is UseKind.UNDECIDED:
        return {}
    places = _PLACES if use.name == _LOADER else ()
    by_place = [argument for argument in use.call.arguments if argument.name is None]
    found = {name: argument.text for name, argument in zip(places, by_place, strict=False)}
    return found | {argument.name: argument.text for argument in use.call.arguments if argument.name}
