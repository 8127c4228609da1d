"""Which layer the tensors of a module belong to: said by a model, else read off their names and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trueline.apitable.layers import keeps_torch_names, layer_of_class
from trueline.migrate.guessing import Guessing
from trueline.migrate.held import Held
from trueline.migrate.modules import Naming, Recognised, modules_of
from trueline.model.finding import Certainty
from trueline.model.message import message


def recognise(arrays: Sequence[Held], naming: Naming, types: Mapping[str, str] | None = None) -> dict[str, Recognised]:
    """Each module of a file by its path; ``types`` are the classes by path where a model is known."""
    found = modules_of(arrays)
    guess = Guessing(found, naming)
    if types is None:
        return {path: guess.of(module) for path, module in found.items()}
    return {path: _by_type(types.get(path, ""), guess.of(module)) for path, module in found.items()}


def _by_type(type_name: str, guessed: Recognised) -> Recognised:
    if not type_name:
        return guessed
    label = type_name.rpartition(".")[2]
    why = message("convert.why_model", type=label)
    layer = layer_of_class(type_name)
    if layer is not None or keeps_torch_names(type_name):
        return Recognised(label, layer, Certainty.CERTAIN, why)
    if guessed.layer is not None and guessed.layer.kind.startswith("batchnorm"):
        # A class of the user's own that keeps the statistics of a BatchNorm stands for one.
        return replace(guessed, label=label, certainty=Certainty.LIKELY)
    return Recognised(label, None, Certainty.LIKELY, why)
