"""What lies beside the model in a file: optimizer, averages, counters; kept where the user asks for it."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from trueline.formats.kinds import Format
from trueline.formats.outgoing import Outgoing
from trueline.formats.stored import Stored
from trueline.formats.weights import MODEL, Weights
from trueline.migrate.optimizer import State, to_mindspore, to_torch
from trueline.migrate.plan import Dropped, Plan
from trueline.migrate.recognising import Naming
from trueline.model.message import message
from trueline.model.trouble import BadUsage

ALL: Final = "all"
_PLAIN: Final = (bool, int, float, str)
_DEEPEST: Final = 32


@dataclass(slots=True)
class Kept:
    """What is written beside the model: trees by section, or arrays under whole names; and what is left."""

    beside: dict[str, Any] = field(default_factory=dict)
    more: list[Outgoing] = field(default_factory=list)
    others: dict[str, Any] = field(default_factory=dict)
    dropped: list[Dropped] = field(default_factory=list)


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
    found = Kept()
    for name, section in sections.items():
        if ALL not in wanted and name not in wanted:
            found.dropped.append(Dropped(name, message("convert.left_section", count=len(section), section=name)))
            continue
        _keep(name, section, weights, plan, format, found)
    _keep_values(weights, sections, format, found, wanted=ALL in wanted)
    return found


def _without_arrays(weights: Weights) -> list[str]:
    """The keys at the top of a file below which there are plain values only: a scheduler, settings."""
    tops = dict.fromkeys(name.partition(".")[0] for name in weights.others if "." in name)
    taken = {name.partition(".")[0] for name in (weights.nested, *weights.sections)}
    return [name for name in tops if name and name not in taken]


def _keep(name: str, section: Mapping[str, Stored], weights: Weights, plan: Plan, format: Format, found: Kept) -> None:
    written = Format(weights.format)
    values = _inner(name, weights.others)
    if written is format or format not in (Format.PTH, Format.CKPT):
        if format is Format.PTH:
            found.beside[name] = _tree(section, values)
        else:
            # MindSpore keeps an optimizer's slots under names of their own.
            before = "" if written is format is Format.CKPT and name == "optimizer" else f"{name}."
            found.more += [Outgoing.of(one, before + inner) for inner, one in section.items()]
            if not section:
                found.dropped.append(Dropped(name, message("convert.foreign_section", section=name)))
        return
    if format is Format.CKPT and section and _is_optimizer(section, values):
        state = to_mindspore(section, _below(name, weights.others), plan, name)
    elif format is Format.PTH and plan.naming is Naming.TORCH and name == "optimizer":
        state = to_torch(section, plan, name)
        found.beside[name] = state.tree
    else:
        state = State(dropped=[Dropped(name, message("convert.foreign_section", section=name))])
    found.more += state.arrays
    found.dropped += state.dropped


def _is_optimizer(section: Mapping[str, Stored], values: Mapping[str, Any]) -> bool:
    names = (*section, *values)
    return bool(names) and all(name.startswith(("state.", "param_groups.")) for name in names)


def _inner(name: str, others: Mapping[str, Any]) -> dict[str, Any]:
    """The plain values of a section, by their names in it."""
    return {one.removeprefix(f"{name}."): value for one, value in _below(name, others).items()}


def _below(name: str, others: Mapping[str, Any]) -> dict[str, Any]:
    return {one: value for one, value in others.items() if one.startswith(f"{name}.")}


def _tree(section: Mapping[str, Stored], values: Mapping[str, Any]) -> dict[Any, Any]:
    """A section as torch saves it: an optimizer's state by number, anything else by name."""
    arrays = {inner: Outgoing.of(one, inner) for inner, one in section.items()}
    if not _is_optimizer(section, values):
        return {**arrays, **_nested(values, arrays)}
    state: dict[Any, dict[str, Any]] = {}
    groups: dict[int, dict[str, Any]] = {}
    for inner, one in (*arrays.items(), *values.items()):
        first, _, rest = inner.partition(".")
        if first == "state":
            number, _, slot = rest.rpartition(".")
            state.setdefault(int(number) if number.isdigit() else number, {})[slot] = one
        elif first == "param_groups":
            place, _, setting = rest.partition(".")
            if place.isdigit():
                value = list(one) if setting == "params" and isinstance(one, tuple) else one
                groups.setdefault(int(place), {})[setting] = value
    return {"state": state, "param_groups": [groups[place] for place in sorted(groups)]}


def _nested(values: Mapping[str, Any], taken: Container[str]) -> dict[str, Any]:
    """Plain values in dictionaries again, as their dotted names say; where a part is taken, under the whole name."""
    found: dict[str, Any] = {}
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


def _keep_values(weights: Weights, sections: Mapping[str, Any], format: Format, found: Kept, *, wanted: bool) -> None:
    """Epochs, steps and the like, which belong to no section."""
    below = tuple(f"{name}." for name in sections)
    values = {name: value for name, value in weights.others.items() if not name.startswith(below or ("\0",))}
    if weights.format == Format.SAFETENSORS or not values:
        # Texts about the file, not of the training.
        return
    if wanted and format is Format.PTH:
        taken = {weights.nested.partition(".")[0], *found.beside}
        found.beside.update(_nested(values, taken))
        return
    if wanted and format is Format.CKPT:
        from trueline.formats.ckpt.writer import cannot_keep

        plain = {name: value for name, value in values.items() if isinstance(value, _PLAIN)}
        found.others.update({name: value for name, value in plain.items() if cannot_keep(name, value) is None})
    left = [name for name in values if name not in found.beside and name not in found.others]
    found.dropped += [Dropped(name, message("convert.left_value")) for name in left]
