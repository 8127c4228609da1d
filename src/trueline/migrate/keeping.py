"""What lies beside the model in a file: optimizer, averages, counters; kept where the user asks for it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trueline.formats.kinds import Format
from trueline.formats.outgoing import Outgoing
from trueline.formats.stored import Stored
from trueline.formats.weights import MODEL, Shown, Weights
from trueline.migrate.kept_tree import kept_tree
from trueline.migrate.modules import Naming
from trueline.migrate.optimizer import State, to_mindspore, to_torch
from trueline.migrate.plan import Dropped, Plan
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage

ALL: Final = "all"
_PLAIN: Final = (bool, int, float, str)
_DEEPEST: Final = 32


@dataclass(slots=True)
class Kept:
    """What is written beside the model: trees by section, or arrays under whole names; and what is left."""

    beside: dict[str, object] = field(default_factory=dict)
    more: list[Outgoing] = field(default_factory=list)
    others: dict[str, int | float | bool | str] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)
    tree: dict[str, object] | None = None
    count: int = 0


def keep(weights: Weights, plan: Plan, format: Format, wanted: Sequence[str]) -> Kept:
    """The sections that are wanted in the shape that the format has for them; the rest is named."""
    sections = {name: one for name, one in weights.sections.items() if name != MODEL}
    plain = _without_arrays(weights)
    for name in wanted:
        if name != ALL and name not in sections and name not in plain:
            there = ", ".join((*sections, *plain)) or "-"
            raise BadUsage("convert.no_section", section=name, there=there)
    # An optimizer that has not kept an array yet is one all the same.
    sections |= {name: {} for name in plain if name in wanted or _is_optimizer({}, _inner(name, weights.others))}
    kept = Kept()
    whole = weights.whole if Format(weights.format) is format and wanted else None
    for name, section in sections.items():
        if ALL not in wanted and name not in wanted:
            kept.dropped.append(Dropped(name, message("convert.left_section", count=len(section), section=name)))
        elif whole is None:
            _keep(name, section, weights, plan, format, kept)
    if whole is None or ALL not in wanted:
        _keep_values(weights, sections, format, kept, wanted=ALL in wanted)
    if whole is not None and isinstance(whole.tree, dict):
        tops = {name.partition(".")[0] for name in wanted}
        model = {outgoing.name: outgoing for outgoing in plan.outgoing()}
        kept.tree, dropped = kept_tree(whole, model, lambda top: ALL in tops or top in tops)
        kept.dropped += dropped
    kept.count = len(kept.more) + sum(1 for _ in arrays_of(kept.beside))
    if kept.tree is not None:
        kept.count = sum(1 for _ in arrays_of(kept.tree)) - len(plan.moves)
    return kept


def arrays_of(tree: object) -> Iterator[Outgoing]:
    """The arrays of a tree of what is kept."""
    if isinstance(tree, Outgoing):
        yield tree
    elif isinstance(tree, Mapping | list | tuple):
        for one in tree.values() if isinstance(tree, Mapping) else tree:
            yield from arrays_of(one)


def _without_arrays(weights: Weights) -> list[str]:
    """The keys at the top of a file below which there are plain values only: a scheduler, settings."""
    tops = dict.fromkeys(name.partition(".")[0] for name in weights.others if "." in name)
    taken = {name.partition(".")[0] for name in (weights.nested, *weights.sections)}
    return [name for name in tops if name and name not in taken]


def _keep(name: str, section: Mapping[str, Stored], weights: Weights, plan: Plan, format: Format, kept: Kept) -> None:
    written = Format(weights.format)
    values = _inner(name, weights.others)
    if written is format or format not in (Format.PTH, Format.CKPT):
        if format is Format.PTH:
            kept.beside[name] = {inner: Outgoing.of(stored, inner) for inner, stored in section.items()}
        else:
            # MindSpore keeps an optimizer's slots under names of their own.
            before = "" if written is format is Format.CKPT and name == "optimizer" else f"{name}."
            kept.more += [Outgoing.of(stored, before + inner) for inner, stored in section.items()]
            if not section:
                kept.dropped.append(Dropped(name, message("convert.foreign_section", section=name)))
        return
    if format is Format.CKPT and section and _is_optimizer(section, values):
        state = to_mindspore(section, _below(name, weights.others), plan, name)
    elif format is Format.PTH and plan.naming is Naming.TORCH and name == "optimizer":
        state = to_torch(section, plan, name)
        kept.beside[name] = state.tree
    else:
        state = State(dropped=[Dropped(name, message("convert.foreign_section", section=name))])
    kept.more += state.arrays
    kept.dropped += state.dropped
    kept.notes += state.notes


def _is_optimizer(section: Mapping[str, Stored], values: Mapping[str, object]) -> bool:
    names = (*section, *values)
    return bool(names) and all(name.startswith(("state.", "param_groups.")) for name in names)


def _inner(name: str, others: Mapping[str, object]) -> dict[str, object]:
    """The plain values of a section, by their names in it."""
    return {one.removeprefix(f"{name}."): value for one, value in _below(name, others).items()}


def _below(name: str, others: Mapping[str, object]) -> dict[str, object]:
    return {one: value for one, value in others.items() if one.startswith(f"{name}.")}


def _nested(values: Mapping[str, object], taken: Container[str]) -> dict[str, object]:
    """Plain values in dictionaries again, as their dotted names say; where a part is taken, under the whole name."""
    found: dict[str, object] = {}
    for name, value in values.items():
        *above, last = name.split(".")
        if above and (above[0] in taken or len(above) > _DEEPEST):
            above, last = [], name
        place: Any = found
        for part in above:
            place = place.setdefault(part, {}) if isinstance(place, dict) else None
        if isinstance(place, dict) and last not in place:
            place[last] = value
        else:
            found[name] = value
    return found


def _keep_values(weights: Weights, sections: Mapping[str, object], format: Format, kept: Kept, *, wanted: bool) -> None:
    """Epochs, steps and the like, which belong to no section."""
    below = tuple(f"{name}." for name in sections)
    values = {name: value for name, value in weights.others.items() if not name.startswith(below or ("\0",))}
    if weights.format == Format.SAFETENSORS or not values:
        # Texts about the file, not of the training.
        return
    if wanted and format is Format.PTH:
        taken = {weights.nested.partition(".")[0], *kept.beside}
        kept.beside.update(_nested(values, taken))
        return
    if wanted and format is Format.CKPT:
        from trueline.formats.ckpt.writer import cannot_keep

        plain = {
            name: value for name, value in values.items() if isinstance(value, _PLAIN) and not isinstance(value, Shown)
        }
        kept.others.update({name: value for name, value in plain.items() if cannot_keep(name, value) is None})
    left = [name for name in values if name not in kept.beside and name not in kept.others]
    why = message("convert.not_plain") if wanted else message("convert.left_value")
    kept.dropped += [Dropped(name, why) for name in left]
