"""Weight decay on norms and biases: what a script says of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from trueline.checks.check import check, found, na, none
from trueline.checks.of_script.networks import has_norm, networks_given
from trueline.model.finding import Finding
from trueline.script.place import Place
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.values import Const, Seq, Table, Value


@check("tr.05")
def from_script(script: Script, *, min_decay: float = 0.02) -> Iterator[Finding]:
    """Optimizers with a weight decay that is felt, and whether norms and biases are kept out of it."""
    built = list(script.trace.of_role(Role.BUILD_OPTIMIZER))
    kept_out: list[str] = []
    open_cases = 0
    for one in built:
        decay = one.arg(None, "weight_decay")
        groups = one.arg(0, "params")
        amounts = _of_groups(groups, decay)
        if amounts is not None:
            if len(amounts) > 1 and min(amounts) > 0 and len(set(amounts)) == 1 and _all_say(groups):
                yield found(
                    "tr_05_in_script.groups_alike", _last(groups, one.place).where(), measured=min(amounts), limit=0
                )
            elif 0 in amounts:
                kept_out.append(str(one.place))
            else:
                open_cases += 1
            continue
        value = decay.value if isinstance(decay, Const) else None
        meant = _is_kept_out_somewhere(script)
        if not isinstance(value, int | float) or value <= 0 or (value < min_decay and not meant):
            open_cases += 1
            continue
        if meant or any(has_norm(network) for network in networks_given(one)):
            yield found("tr_05_in_script.on_everything", one.place.where(), measured=value, limit=min_decay)
        else:
            open_cases += 1
    if kept_out:
        yield none("tr_05_in_script.kept_out", evidence=kept_out)
    elif open_cases or not built:
        yield na("tr_05_in_script.little_or_none")


def _last(groups: Value | None, place: Place) -> Place:
    """The last group, which is the one that is kept out where one is."""
    last = groups.items[-1] if isinstance(groups, Seq) else None
    return last.place if isinstance(last, Table) and last.place is not None else place


def _all_say(groups: Value | None) -> bool:
    return isinstance(groups, Seq) and all(
        isinstance(one, Table) and "weight_decay" in one.items for one in groups.items
    )


@lru_cache(maxsize=1)
def _is_kept_out_somewhere(script: Script) -> bool:
    """Whether the source has a group without decay, which then nothing uses."""
    for source in script.files:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    named = isinstance(key, ast.Constant) and key.value == "weight_decay"
                    if named and isinstance(value, ast.Constant) and value.value == 0:
                        return True
    return False


def _of_groups(groups: Value | None, decay: Value | None) -> list[float] | None:
    """The decay of each group of parameters; None where they are not in groups that can be looked into."""
    if not isinstance(groups, Seq) or groups.open or not groups.items:
        return None
    default = decay.value if isinstance(decay, Const) else 0
    amounts: list[float] = []
    for one in groups.items:
        if not isinstance(one, Table):
            return None
        given = one.items.get("weight_decay")
        value = given.value if isinstance(given, Const) else (default if given is None else None)
        if not isinstance(value, int | float):
            return None
        amounts.append(float(value))
    return amounts
