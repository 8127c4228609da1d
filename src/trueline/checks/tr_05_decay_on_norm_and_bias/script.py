"""Weight decay on norms and biases: what a script says of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.checks.tr_05_decay_on_norm_and_bias.parameters import dimension_tests, sorts_for_decay
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.model.numbers import as_float
from trueline.script.analysis.networks import has_norm, networks_given
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event
from trueline.script.values import Const, Seq, Table, Value, constant

_SPARED: Final = re.compile(r"(^|_)(no|non|without|skip)_?(weight_?)?(decay|decayed|wd)($|_)")
# What a group may say besides, without the groups being there for it.
_OF_GROUPS: Final = ("params", "weight_decay", "name")


@check("tr.05")
def from_script(script: Script, *, min_decay: float = 0.02) -> Iterator[Finding]:
    """Optimizers with a weight decay that is felt, and whether norms and biases are kept out of it."""
    built = list(script.trace.of_role(Role.BUILD_OPTIMIZER))
    kept_out: list[str] = []
    reported = 0
    for event in built:
        decay = event.arg(None, "weight_decay")
        groups = _groups(event.arg(0, "params"))
        amounts = _of_groups(groups, decay) if groups is not None else None
        if groups is not None and amounts is not None:
            if len(amounts) > 1 and min(amounts) > 0 and len(set(amounts)) == 1 and _is_for_decay(groups, script):
                reported += 1
                yield found("tr_05.script.groups_alike", _last(groups, event.place), measured=min(amounts), limit=0)
            elif 0 in amounts:
                kept_out.append(str(event.place))
            continue
        value = decay.value if isinstance(decay, Const) else None
        meant = _is_kept_out_nowhere_else(script) and groups is None
        if not isinstance(value, int | float) or value <= 0 or (value < min_decay and not meant):
            continue
        if meant or any(has_norm(network) for network in networks_given(event)):
            reported += 1
            yield found("tr_05.script.on_everything", event.place, measured=value, limit=min_decay)
    for place in _useless_tests(script) if kept_out else ():
        reported += 1
        yield found("tr_05.script.same_for_all", place)
    if kept_out and not reported:
        yield none("tr_05.script.kept_out", evidence=kept_out)
    elif not reported:
        little = bool(built) and all(_is_little(event, min_decay) for event in built)
        yield (na if little else undecided)("tr_05.script.little_or_none")


def _is_little(built: Event, min_decay: float) -> bool:
    """Whether an optimizer is given no weight decay, or so little that it is hardly felt."""
    decay = built.arg(None, "weight_decay")
    written = decay.value if isinstance(decay, Const) else None
    known = decay is None or (isinstance(written, int | float) and written < min_decay)
    return known and _groups(built.arg(0, "params")) is None


def _useless_tests(script: Script) -> list[Location]:
    """Conditions that sort parameters by their dimensions and put vectors where matrices go.

    Of several that belong together, as the one for either group, the first is told.
    """
    tests = list(dimension_tests(script.trace))
    if any(divides for _, divides in tests):
        return []
    return [value.place for value, _ in tests if value.place is not None][:1]


def _last(groups: list[Table], place: Location) -> Location:
    """The last group, which is the one that is kept out where one is."""
    return groups[-1].place or place


def _groups(given: Value | None) -> list[Table] | None:
    """Groups of parameters; None where they are not in groups that can be looked into."""
    if not isinstance(given, Seq) or given.open or not given.items:
        return None
    tables = [value for value in given.items if isinstance(value, Table)]
    # MindSpore: {"order_params": …} says in which order, and holds none.
    return [value for value in tables if "params" in value.items] if len(tables) == len(given.items) else None


def _is_for_decay(groups: list[Table], script: Script) -> bool:
    """Whether groups with the same decay are there for nothing else, and sort out what decay is to spare."""
    if not any("weight_decay" in value.items for value in groups):
        return False
    group_names = {
        name: {repr(constant(value.items.get(name), id(value.items.get(name)))) for value in groups}
        for group in groups
        for name in group.items
        if name not in _OF_GROUPS
    }
    return all(len(said) == 1 for said in group_names.values()) and sorts_for_decay(script.trace)


@lru_cache(maxsize=1)
def _is_kept_out_nowhere_else(script: Script) -> bool:
    """Whether the source has a group without decay, or picks out what decay is to spare, and nothing uses that."""
    used: set[str] = set()
    stored: set[str] = set()
    inside: set[str | None] = set()
    for source in script.files:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else stored).add(node.id)
            elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
                used.add(node.attr)
        inside.update(_functions_with_group(source.tree, None))
    if any(_SPARED.search(name.lower()) for name in stored - used):
        return True
    return any(name is not None and name not in used for name in inside)


def _functions_with_group(node: ast.AST, around: str | None) -> Iterator[str | None]:
    """The functions in which a group without decay is made."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        around = node.name
    pairs: list[tuple[object, ast.expr]] = []
    if isinstance(node, ast.Dict):
        pairs = [
            (key.value, value)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant)
        ]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        pairs = [(child.arg, child.value) for child in node.keywords]
    for name, value in pairs:
        if name == "weight_decay" and isinstance(value, ast.Constant) and value.value == 0:
            yield around
    for inner in ast.iter_child_nodes(node):
        yield from _functions_with_group(inner, around)


def _of_groups(groups: list[Table], decay: Value | None) -> list[float] | None:
    """The decay of each group of parameters; None where one of them is not known."""
    default = decay.value if isinstance(decay, Const) else 0
    amounts: list[float] = []
    for part in groups:
        given = part.items.get("weight_decay")
        value = given.value if isinstance(given, Const) else (default if given is None else None)
        if not isinstance(value, int | float):
            return None
        amounts.append(as_float(value))
    return amounts
