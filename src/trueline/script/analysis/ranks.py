"""Ranks in a script: whether it runs as several processes, and what differs between them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Final

from trueline.apitable.functions import functions_of, names_of, qualified_of
from trueline.apitable.traits import Trait
from trueline.script.analysis.columns import with_indexes
from trueline.script.script import Script
from trueline.script.trace import UNCALLED, Event, Trace
from trueline.script.values import Attribute, Const, Instance, Made, Unknown, Value, ancestry, constant

_BEGINNING: Final = qualified_of(Trait.BEGINS_GROUP)
_WRAPPED: Final = qualified_of(Trait.WRAPS_RANKS)
# Who looks after ranks by itself.
_TRAINERS: Final = ("accelerate.", "lightning.", "transformers.Trainer", "ray.", "deepspeed.")
EXCHANGING: Final = names_of(Trait.COLLECTIVE)
_HANDING_ON: Final = names_of(Trait.HANDS_ON)
_QUALIFIED: Final = qualified_of(Trait.HANDS_ON)
_NAMES: Final = re.compile(r"(LOCAL_|GLOBAL_)?RANK(_ID)?|OMPI_COMM_WORLD_RANK|SLURM_PROCID")
_WORLDS: Final = re.compile(r"WORLD_SIZE|RANK_SIZE|MS_WORKER_NUM|SLURM_NTASKS")
_OWN: Final = re.compile(r"(local_|global_)?rank(_id)?|shard_id|proc_id|process_index")


def begins_group(trace: Trace) -> Event | None:
    """Where the processes are brought together; None where they are not."""
    for event in trace.events:
        if event.name not in _BEGINNING or any(scope.kind == UNCALLED for scope in event.scopes):
            continue
        if constant(event.arg(None, "world_size")) != 1:
            return event
    return None


def is_distributed(trace: Trace) -> bool:
    """Whether the script says that it runs as several processes that train one network."""
    return begins_group(trace) is not None or any(event.name in _WRAPPED for event in trace.events)


def reads_rank(trace: Trace) -> bool:
    """Whether the script asks which process it is, and of how many."""
    rank = world = False
    for event in trace.events:
        for value in (*event.args, *event.kwargs.values()):
            for part in ancestry(value, most=30):
                rank = rank or is_rank(part)
                world = world or is_world(part)
    return rank and world


def knows_rank(trace: Trace) -> bool:
    """Whether anything in the script depends on which process it is."""
    return any(
        is_rank(part)
        for event in trace.events
        for value in (*event.args, *event.kwargs.values())
        for part in ancestry(value, most=30)
    )


def is_looked_after(trace: Trace) -> bool:
    """Whether a library does what is to be done for ranks."""
    return any(event.name.startswith(_TRAINERS) for event in trace.events)


def is_wrapped(trace: Trace) -> bool:
    """Whether a wrapper exchanges gradients between ranks, and gives all of them the same weights."""
    return any(event.name in _WRAPPED for event in trace.events)


def divides_the_model(script: Script) -> bool:
    """Whether ranks hold parts of one model: what passes through it goes from rank to rank, forward or backward."""
    if any(event.name in _QUALIFIED or event.method in _HANDING_ON for event in script.trace.events):
        return True
    return any(
        isinstance(node, ast.ClassDef)
        and any(_named(base).endswith("Function") for base in node.bases)
        and _meets(node)
        for source in script.files
        for node in ast.walk(source.tree)
    )


def _named(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _meets(node: ast.ClassDef) -> bool:
    """Whether a differentiable function exchanges something between ranks."""
    calls = (_named(child.func) for child in ast.walk(node) if isinstance(child, ast.Call))
    return any(name in EXCHANGING | _HANDING_ON for name in calls)


def exchanges(events: Iterable[Event]) -> bool:
    """Whether ranks tell each other numbers here."""
    for event in events:
        name = event.name.removesuffix(".__call__")
        if name.rpartition(".")[2] in EXCHANGING:
            return True
    return False


def is_rank(value: Value) -> bool:
    """Whether a value is the number of this process."""
    if isinstance(value, Made):
        return value.event.method in functions_of(Trait.OWN_RANK)
    if isinstance(value, Attribute):
        return bool(_OWN.fullmatch(value.name))
    if isinstance(value, Unknown):
        if value.why == "environment":
            return any(isinstance(part, Const) and _NAMES.fullmatch(str(part.value)) for part in value.of)
        return bool(_OWN.fullmatch(value.why.removeprefix("parameter ")))
    return False


def depends_on_rank(value: Value | None) -> bool:
    """Whether it is another one in each process."""
    waiting = [value] if value is not None else []
    seen: set[int] = set()
    while waiting:
        for part in with_indexes(waiting.pop()):
            if id(part) in seen:
                continue
            seen.add(id(part))
            if is_rank(part):
                return True
            if isinstance(part, Instance):
                waiting.extend(part.attributes.values())
    return False


def is_world(value: Value) -> bool:
    """Whether a value is the number of processes."""
    if isinstance(value, Made):
        return value.event.method in functions_of(Trait.WORLD_SIZE)
    if isinstance(value, Unknown) and value.why == "environment":
        return any(isinstance(part, Const) and _WORLDS.fullmatch(str(part.value)) for part in value.of)
    return False
