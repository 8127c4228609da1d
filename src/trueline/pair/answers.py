"""One cause on a few lines: its sentence, both places, the edit, the numbers before and after, and how far it goes."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from trueline.formats.source_lines import source_around
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Answer, Place, Source, Table, Text
from trueline.pair.blame import Blame, Cause, Setting, Stage
from trueline.pair.grouping import Group, Grouped, modules_of, sized
from trueline.pair.places import by_file, short_file, with_short_files

CODES: Final = {
    Stage.DATA: "pr.02",
    Stage.PARAMETERS: "pr.03",
    Stage.WEIGHTS: "pr.04",
    Stage.FORWARD: "pr.05",
    Stage.INITIAL: "pr.06",
    Stage.LOSS: "pr.07",
    Stage.BACKWARD: "pr.08",
    Stage.UPDATE: "pr.09",
    Stage.CURVE: "pr.10",
    Stage.METRICS: "pr.11",
}
_SHOWN_SOURCES: Final = 3


def answers(grouped: Grouped, sides: tuple[str, str]) -> list[Answer]:
    """Causes by number, then what was only suspected; ``sides`` are the benchmark's and the port's names."""
    return [_answer(group, sides) for group in grouped.groups]


def _answer(group: Group, sides: tuple[str, str]) -> Answer:
    first = group.first
    said = first.general or first.message
    edit = first.edit_alone
    return Answer(
        ", ".join(CODES[stage] for stage in group.stages),
        with_short_files(said),
        group.number if group.found else None,
        list(_marks(first)),
        list(_places(group)),
        with_short_files(edit) if edit is not None else None,
        [*_effect(group), *_held(group), *_at_size(group), *_followed(group)],
        list(_details(group, sides)),
    )


def _marks(blame: Blame) -> Iterator[Message]:
    if not blame.confirmed:
        yield message("pair.not_confirmed")
    if blame.latent:
        yield message("pair.is_latent")


def _places(group: Group) -> Iterator[Place]:
    if group.lines:
        yield Place(None, by_file(group.lines))
    if group.other_lines:
        yield Place(message("pair.side_bench"), by_file(group.other_lines))


def _effect(group: Group) -> Iterator[Message]:
    """The numbers before and after: of several lines those of the largest effect."""
    blame = group.worst
    if blame.cause is Cause.DROPOUT and blame.measured is not None and blame.limit is not None:
        # Random values are compared by how much dropping spreads them.
        words = {"port": _few(blame.measured), "bench": _few(blame.limit)}
        if blame.left is None:
            yield message("pair.effect_dropout", **words)
        else:
            yield message("pair.effect_dropout_left", left=_few(blame.left), **words)
    elif blame.stage is Stage.INITIAL:
        yield from _initial(blame.bench, blame.port)
    elif blame.measured is not None:
        yield _relative(blame, blame.measured)


def _relative(blame: Blame, measured: float) -> Message:
    before = message("pair.effect", level=_few(measured))
    limit = message("pair.effect_allowed", limit=_few(blame.limit)) if blame.limit else ""
    if blame.left is not None:
        return message("pair.effect_left", before=before, left=_few(blame.left), allowed=limit)
    if blame.confirmed:
        return message("pair.effect_gone", before=before, allowed=limit)
    return message("pair.effect_before", before=before, allowed=limit)


def _initial(bench: Setting, port: Setting) -> Iterator[Message]:
    """What both draw, in numbers: the sentence has the rules."""
    if isinstance(bench, Mapping) and isinstance(port, Mapping):
        yield message("pair.effect_initial", port=_drawn(port), bench=_drawn(bench))


def _drawn(values: Mapping[str, object]) -> Message:
    if "constant" in values:
        return message("pair.drawn_constant", value=_few(values["constant"]))
    return message("pair.drawn", mean=_few(values.get("mean")), std=_few(values.get("std")))


def _few(value: object) -> str:
    if not isinstance(value, int | float):
        return str(value)
    return f"{value:.2g}" if math.isfinite(value) else str(value)


def _held(group: Group) -> Iterator[Message]:
    paths = group.modules
    if group.first.stage is Stage.INITIAL:
        # The sentences count all parameters, the evidence names the first of them.
        counts = [blame.message.params.get("count") for blame in group.blames]
        count, names = sum(each for each in counts if isinstance(each, int)), group.first.evidence
        if count and names:
            yield message("pair.held_parameters", count=count, name=names[0])
        return
    if not paths[0]:
        return
    if len(paths) > 1:
        yield message("pair.held_more", count=len(paths), name=paths[0])
    elif group.first.general is not None:
        yield message("pair.held", name=paths[0])


def _at_size(group: Group) -> Iterator[Message]:
    """Where only another size of input shows it."""
    sizes = [sized(blame) for blame in group.blames]
    if sizes[0] is not None and None not in sizes:
        yield message("pair_stage.sizes", here=sizes[0][0], there=sizes[0][1])


def _followed(group: Group) -> Iterator[Message]:
    if group.following:
        codes = Counter(CODES[blame.stage] for blame in group.following)
        shown = ", ".join(f"{code} x{count}" if count > 1 else code for code, count in codes.items())
        yield message("pair.followed", codes=shown)


def _details(group: Group, sides: tuple[str, str]) -> Iterator[Text | Table | Source]:
    """Where it is, line by line, what follows, and the source of the first lines."""
    if len(group.blames) > 1 or len(group.modules) > 1:
        yield _where(group)
        for blame in group.blames:
            yield Text(message("pair.modules_at", place=_at(blame.line), names=", ".join(modules_of(blame))))
    for blame in group.following:
        yield Text(blame.message)
    for lines, side in ((group.lines, sides[1]), (group.other_lines, sides[0])):
        for line in lines[:_SHOWN_SOURCES]:
            yield from source_around(line, side)


def _where(group: Group) -> Table:
    """Line by line; the numbers are those of the line's first module."""
    columns = [message(f"pair.column_{name}") for name in ("port", "bench", "before", "after", "modules")]
    rows = [
        [_at(blame.line), _at(blame.other_line), blame.measured, blame.left, len(modules_of(blame))]
        for blame in group.blames
    ]
    return Table(message("pair.where"), columns, rows)


def _at(line: Location | None) -> str:
    return f"{short_file(line.file)}:{line.line}" if line is not None else ""
