"""Why two pipelines' data differ, as blames."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from trueline.kernel.array import Array
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.pair.blame import Blame, Cause, Stage
from trueline.pair.data.forms import Relation, alike, apart, relate
from trueline.pair.data.passages import Chance
from trueline.pair.data.rows import labels, padding

# Relations that hold exactly for every sample are no accident of a random crop or mirror.
_EXACT: Final = (Cause.DATA_LAYOUT, Cause.CHANNEL_ORDER, Cause.FACTOR_255, Cause.MEAN_STD, Cause.DATA_PADDING)
_LABEL_DIMENSIONS: Final = 1


@dataclass(frozen=True, slots=True)
class Lines:
    """Where the two pipelines are written."""

    bench: Location | None = None
    port: Location | None = None


def compare_field(
    port: Sequence[Array], bench: Sequence[Array], *, chance: bool, lines: Lines, is_label: bool
) -> list[Blame] | None:
    """The causes for one field of all samples, none where they are alike; None where chance could be the reason."""
    blames = list(_dtype(port, bench, lines, is_label))
    if alike(port, bench) and not (is_label and apart(port, bench)):
        return blames
    if is_label:
        return [*blames, relation_blame(labels(port, bench), apart(port, bench), 0.0, lines)]
    filled = padding(port, bench)
    if filled is not None:
        return [*blames, relation_blame(filled, apart(port, bench), 0.0, lines)]
    differing = [(a, b) for a, b in zip(port, bench, strict=True) if not alike([a], [b])]
    related = relate([a for a, _ in differing], [b for _, b in differing])
    if (
        related is not None
        and related.relations
        and (not chance or all(relation.cause in _EXACT for relation in related.relations))
    ):
        measured = apart(port, bench)
        return [*blames, *(relation_blame(relation, measured, related.left, lines) for relation in related.relations)]
    if chance:
        return None
    return [*blames, unexplained(port, bench, lines)]


def is_label(samples: Sequence[Array], place: int, fields: int) -> bool:
    """Whether a field holds labels: the last of several, and a number or a vector for each sample."""
    return place == fields - 1 and fields > 1 and samples[0].ndim <= _LABEL_DIMENSIONS


def _dtype(port: Sequence[Array], bench: Sequence[Array], lines: Lines, is_label: bool) -> list[Blame]:
    here, there = port[0].dtype, bench[0].dtype
    # Whole numbers of another width hold the same classes and tokens.
    whole = here.kind in "iub" and there.kind in "iub" and (is_label or (here.kind == there.kind))
    if here == there or whole:
        return []
    return [
        Blame(
            Stage.DATA,
            Cause.DATA_DTYPE,
            message("pair_parts.data_dtype", bench=there.name, port=here.name),
            bench=there.name,
            port=here.name,
            confirmed=True,
            line=lines.port,
            other_line=lines.bench,
            edit=message("pair_parts.data_edit", cause=str(Cause.DATA_DTYPE), bench=there.name),
        )
    ]


def relation_blame(
    relation: Relation, measured: float, left: float, lines: Lines, where: Message | None = None
) -> Blame:
    """A relation that was tried, as a cause."""
    text = message(f"pair_parts.data_{relation.cause}", bench=relation.bench, port=relation.port)
    if relation.cause is Cause.DATA:
        text = message("pair_parts.data_mirrored")
    return Blame(
        Stage.DATA,
        relation.cause,
        text if where is None else message("pair_parts.data_where", what=text, where=where),
        bench=relation.bench,
        port=relation.port,
        confirmed=True,
        measured=_finite(measured),
        left=left,
        line=lines.port,
        other_line=lines.bench,
        edit=message("pair_parts.data_edit", cause=str(relation.cause), bench=str(relation.bench)),
    )


def _finite(level: float) -> float | None:
    """How far apart, where that can be said: nothing was measured between other shapes."""
    return level if math.isfinite(level) else None


def unexplained(port: Sequence[Array], bench: Sequence[Array], lines: Lines, where: Message | None = None) -> Blame:
    """Data that differ, and nothing that was tried brings them together."""
    shapes = ["x".join(map(str, side[0].shape)) or "()" for side in (bench, port)]
    level = apart(port, bench)
    if shapes[0] != shapes[1]:
        text, cause = message("pair_parts.data_shape", bench=shapes[0], port=shapes[1]), Cause.SHAPE
    else:
        text, cause = message("pair_parts.data_other", level=level), Cause.DATA
    return Blame(
        Stage.DATA,
        cause,
        text if where is None else message("pair_parts.data_where", what=text, where=where),
        bench=shapes[0],
        port=shapes[1],
        measured=_finite(level),
        line=lines.port,
        other_line=lines.bench,
    )


def chance_blame(bench: Chance, port: Chance, cause: Cause, lines: Lines) -> Blame:
    """One pipeline is random, the other is not."""
    random = "port" if port is not Chance.NONE else "bench"
    return Blame(
        Stage.DATA,
        cause,
        message("pair_parts.data_random_port") if random == "port" else message("pair_parts.data_random_bench"),
        bench=str(bench),
        port=str(port),
        confirmed=True,
        line=lines.port,
        other_line=lines.bench,
    )
