"""The parameter table of a weight file or a model: what each tensor is, and what all of them come to."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from trueline.apitable.layers import Layer, layer_of_class
from trueline.compare.align.leaves import STATISTICS
from trueline.formats.kinds import Format
from trueline.formats.stored import Stored
from trueline.formats.weights import MODEL, Weights
from trueline.migrate.held import held
from trueline.migrate.modules import Naming
from trueline.migrate.naming import naming_of
from trueline.migrate.params_numbers import numbers_of
from trueline.migrate.planning import USUAL, Known
from trueline.migrate.recognising import recognise
from trueline.model.finding import Certainty
from trueline.model.run import ParamInfo
from trueline.model.summary import Summary
from trueline.model.trouble import BadUsage

_BITS: Final = re.compile(r"\d+")
_WHOLE: Final = ("int", "uint", "bool")

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Listed:
    """One tensor; what is not known of it is None, and ``layer`` is "" for a parameter of the user's own.

    ``buffer`` says that it is kept and not trained, as statistics are. ``aliases`` are its other names in a model whose
    checkpoints hold it under one. ``row`` is its layer in the table of layers.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    layer: str = ""
    certainty: Certainty | None = None
    trainable: bool | None = None
    buffer: bool | None = None
    shared_with: str | None = None
    aliases: Sequence[str] = ()
    summary: Summary | None = None
    stored: Stored | None = None
    row: Layer | None = None

    @property
    def count(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes they take."""
        bits = _BITS.search(self.dtype)
        return self.count * (max(1, int(bits[0]) // 8) if bits is not None else 1)

    @property
    def path(self) -> str:
        """The module it belongs to."""
        return self.name.rpartition(".")[0]

    @property
    def leaf(self) -> str:
        """Its name there."""
        return self.name.rpartition(".")[2]


@dataclass(frozen=True, slots=True)
class Totals:
    """Numbers of tensors, of elements, of bytes; a shared tensor counts once. ``trainable`` is None for a file."""

    tensors: int
    elements: int
    buffers: int
    trainable: int | None
    bytes: int

    @property
    def parameters(self) -> int:
        """Elements that are not kept apart from training."""
        return self.elements - self.buffers

    @classmethod
    def of(cls, tensors: Sequence[Listed], *, model: bool) -> Totals:
        """What they come to."""
        own = [tensor for tensor in tensors if tensor.shared_with is None]
        return cls(
            len(own),
            sum(tensor.count for tensor in own),
            sum(tensor.count for tensor in own if tensor.buffer),
            sum(tensor.count for tensor in own if tensor.trainable) if model else None,
            sum(tensor.nbytes for tensor in own),
        )


@dataclass(frozen=True, slots=True)
class Listing:
    """All tensors of a file's section or of a model, in their order.

    ``beside`` are the other sections of the file, ``others`` its plain values; ``left_out`` are the tensors of a model
    that no checkpoint holds.
    """

    source: str
    naming: Naming
    tensors: Sequence[Listed]
    model: bool = False
    format: str | None = None
    section: str = MODEL
    types: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, Totals] = field(default_factory=dict)
    others: Mapping[str, object] = field(default_factory=dict)
    left_out: Sequence[str] = ()

    @property
    def totals(self) -> Totals:
        """What all come to."""
        return Totals.of(self.tensors, model=self.model)

    def layer_at(self, path: str) -> Layer | None:
        """The layer of a module, as a model's classes tell it."""
        return layer_of_class(self.types.get(path, ""))

    def by_size(self) -> Listing:
        """The same, the largest first."""
        return replace(self, tensors=sorted(self.tensors, key=lambda tensor: -tensor.count))


def list_file(weights: Weights, source: str, *, section: str | None = None) -> Listing:
    """The tensors of a file; their layers are told by names and shapes."""
    asked = MODEL if section is None else section
    arrays = weights.sections.get(asked)
    if arrays is None:
        there = ", ".join(name for name in weights.sections if name) or "-"
        raise BadUsage("params.no_section", file=source, section=asked, there=there)
    naming = naming_of(held(arrays), USUAL.get(Format(weights.format)))
    known = recognise(held(arrays), naming)
    tensors = []
    for name, stored in arrays.items():
        recognised = known[name.rpartition(".")[0]]
        dtype = stored.dtype.name
        statistic = _is_statistic(name.rpartition(".")[2], recognised.layer)
        tensors.append(
            Listed(
                name,
                stored.shape,
                dtype,
                recognised.label,
                recognised.certainty if recognised.label else None,
                # Nothing that is not real can be trained, and files do not say what was frozen.
                False if statistic or dtype.startswith(_WHOLE) else None,
                True if statistic else None,
                stored.shared_with,
                stored=stored,
                row=recognised.layer,
            )
        )
    beside = {name: _totals(held) for name, held in weights.sections.items() if name != asked and held}
    return Listing(
        source, naming, tensors, format=weights.format, section=asked, beside=beside, others=dict(weights.others)
    )


def list_model(
    source: str, known: Known, *, aliases: Mapping[str, str] | None = None, left_out: Sequence[str] = ()
) -> Listing:
    """The tensors of a model as its checkpoints have them; ``aliases`` are further names, each with the first."""
    also: dict[str, list[str]] = {}
    for alias, name in (aliases or {}).items():
        also.setdefault(name, []).append(alias)
    tensors = [_of_model(parameter, known, also.get(parameter.name, ())) for parameter in known.params]
    return Listing(source, known.framework, tensors, model=True, types=known.types, left_out=left_out)


def with_numbers(listing: Listing, progress: Progress | None = None) -> Listing:
    """The same with the numbers of every tensor, read once where names share elements."""
    found: dict[str, Summary | None] = {}
    tensors = []
    for tensor in listing.tensors:
        if tensor.stored is None:
            tensors.append(tensor)
            continue
        shared = tensor.shared_with in found and tensor.shared_with is not None
        found[tensor.name] = found[tensor.shared_with or ""] if shared else numbers_of(tensor.stored)
        tensors.append(replace(tensor, summary=found[tensor.name]))
        if progress is not None and not shared:
            progress(tensor.nbytes)
    return replace(listing, tensors=tensors)


def _of_model(parameter: ParamInfo, known: Known, aliases: Sequence[str]) -> Listed:
    path, _, leaf = parameter.name.rpartition(".")
    type_name = known.types.get(path, "")
    row = layer_of_class(type_name)
    return Listed(
        parameter.name,
        parameter.shape,
        parameter.dtype,
        type_name.rpartition(".")[2],
        Certainty.CERTAIN if type_name else None,
        parameter.trainable,
        parameter.buffer or _is_statistic(leaf, row),
        parameter.shared_with,
        aliases,
        parameter.initial,
        row=row,
    )


def _is_statistic(leaf: str, layer: Layer | None) -> bool:
    """Whether a tensor is what a layer has seen, not what it has learnt."""
    if layer is None:
        return leaf in STATISTICS
    return leaf in layer.statistics or layer.torch_leaf(leaf) in layer.statistics


def _totals(arrays: Mapping[str, Stored]) -> Totals:
    own = [stored for stored in arrays.values() if stored.shared_with is None]
    return Totals(len(own), sum(stored.count for stored in own), 0, None, sum(stored.nbytes for stored in own))
