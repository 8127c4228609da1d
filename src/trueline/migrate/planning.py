"""From what the user asked for to a plan."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from trueline.compare.align import Rules
from trueline.formats.kinds import Format
from trueline.formats.printable import printable
from trueline.formats.weights import Weights
from trueline.migrate.by_layer import plan_by_layer
from trueline.migrate.by_target import plan_by_target
from trueline.migrate.held import Held, held
from trueline.migrate.modules import Naming
from trueline.migrate.naming import naming_of, wrapper_of
from trueline.migrate.plan import Dropped, Plan
from trueline.migrate.target import Target
from trueline.model.message import message
from trueline.model.run import ParamInfo
from trueline.model.trouble import BadUsage

USUAL: Final = {Format.PTH: Naming.TORCH, Format.CKPT: Naming.MINDSPORE}


@dataclass(frozen=True, slots=True)
class Known:
    """A user's model: its framework, its tensors as a checkpoint names them, and its classes by path."""

    framework: Naming
    params: Sequence[ParamInfo]
    types: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user said about names."""

    names: Naming | None = None
    keep_names: bool = False
    models: Sequence[Known] = ()
    like: Weights | None = None
    rules: Rules = field(default_factory=Rules)
    strip: str | None = None
    add: str = ""
    drop: Sequence[str] = ()


def plan(weights: Weights, format: Format, wish: Wish) -> Plan:
    """What becomes of each array of the model's section."""
    arrays, dropped = _without(held(weights.model), wish.drop)
    arrays, prefix = _stripped(arrays, wish.strip)
    rules = _unprefixed(wish.rules, prefix)
    written = Format(weights.format)
    source = naming_of(arrays, USUAL.get(written))
    to = _towards(source, written, format, wish)
    target, types = _models(wish, source, to)
    if target is not None:
        if wish.add:
            raise BadUsage("convert.add_with_target")
        plan = plan_by_target(arrays, target, (source, to), types, rules)
    else:
        plan = plan_by_layer(arrays, source, to, types, rules, wish.add)
    return replace(plan, dropped=[*dropped, *plan.dropped], stripped=prefix, orders=_orders(wish))


def _orders(wish: Wish) -> list[list[str]]:
    """What an optimizer may hold of a torch model: what is trained, or every parameter."""
    known = next((model for model in wish.models if model.framework is Naming.TORCH), None)
    if known is None:
        return []
    own = [parameter for parameter in known.params if not parameter.buffer and parameter.shared_with is None]
    return [[parameter.name for parameter in own if parameter.trainable], [parameter.name for parameter in own]]


def _towards(source: Naming, written: Format, format: Format, wish: Wish) -> Naming:
    if wish.keep_names:
        return source
    if wish.names is not None:
        return wish.names
    if wish.like is not None:
        return naming_of(held(wish.like.model), USUAL.get(format, source))
    usual = USUAL.get(format)
    if usual is None:
        # These files belong to no framework: a model of the other one says that its names are meant.
        other = next((known.framework for known in wish.models if known.framework is not source), None)
        return other or source
    return source if written is format else usual


def _models(wish: Wish, source: Naming, to: Naming) -> tuple[Target | None, Mapping[str, str] | None]:
    """The names to reach, and the classes of the file's own modules."""
    types = next((model.types for model in wish.models if model.framework is source and source is not to), None)
    if wish.like is not None:
        return Target.of_file(wish.like), types
    # Of two models the second is the one to reach.
    known = next((model for model in reversed(wish.models) if model.framework is to), None)
    return (Target.of_model(known.params, known.types) if known is not None else None), types


def _without(arrays: Sequence[Held], patterns: Sequence[str]) -> tuple[list[Held], list[Dropped]]:
    dropped = []
    for pattern in patterns:
        found = [held.name for held in arrays if fnmatch.fnmatchcase(held.name, pattern)]
        if not found:
            raise BadUsage("convert.drop_unused", pattern=pattern)
        dropped += [Dropped(name, message("convert.asked")) for name in found]
    gone = {left_out.name for left_out in dropped}
    return [held for held in arrays if held.name not in gone], dropped


def _stripped(arrays: Sequence[Held], asked: str | None) -> tuple[list[Held], str]:
    prefix = wrapper_of([held.name for held in arrays]) if asked is None else asked
    if not prefix:
        return list(arrays), ""
    if not any(held.name.startswith(prefix) and held.name != prefix for held in arrays):
        raise BadUsage("convert.strip_unused", prefix=prefix)
    seen: set[str] = set()
    found = []
    for array in arrays:
        name = array.name.removeprefix(prefix)
        if asked and name != array.name:
            # A user may leave out the dot at the end.
            name = name.removeprefix(".")
        name = name or array.name
        if name in seen:
            raise BadUsage("convert.strip_twice", prefix=prefix, name=printable(name))
        seen.add(name)
        shared = array.shared_with.removeprefix(prefix) if array.shared_with is not None else None
        found.append(replace(array, name=name, parts=(array.name,), shared_with=shared))
    return found, prefix


def _unprefixed(rules: Rules, prefix: str) -> Rules:
    """The user may write names as they are in the file, or without the wrapper."""
    mapping = [(a.removeprefix(prefix), b) for a, b in rules.mapping]
    return Rules(mapping, rules.ignore)
