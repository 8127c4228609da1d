"""Shares of the data in a script: parts that processes cut out for themselves, and workers that read the same."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.model.location import Location
from trueline.script.analysis.columns import columns_of, with_indexes
from trueline.script.analysis.pipeline import is_drawing, way_of
from trueline.script.analysis.ranks import is_rank, is_world
from trueline.script.loops import training_loops
from trueline.script.trace import Trace, iterated
from trueline.script.values import (
    Const,
    Derived,
    Function,
    Instance,
    Item,
    Made,
    Unknown,
    Value,
    ancestry,
    constant,
    options,
)
from trueline.script.walking import walk

# Lengths that are not written down are taken for this many, which can be divided by nearly everything.
_LENGTH: Final = 10_080
MAX_SAMPLES: Final = 1e15
_COLUMNS: Final = (0, 1)
_WORKER: Final = "get_worker_info"


def overlapping_parts(trace: Trace) -> Iterator[tuple[Location, int]]:
    """Cuts of the training data whose bounds are computed from the rank, where the next rank's begins before the end.

    One sample more, as a sequence needs it for its last target, is none; nor are samples that are windows of a cut.
    """
    for loop in training_loops(trace):
        for index in (*_COLUMNS, *_names(loop.loader)):
            for column in columns_of(loop.loader, index, trace):
                for value in way_of(column, trace).values:
                    if _is_window(value):
                        break
                    common = _in_common(value)
                    if (
                        isinstance(value, Item)
                        and isinstance(value.index, Derived)
                        and common > 1
                        and value.index.place
                    ):
                        yield value.index.place, common


def _names(loader: Value | None) -> list[str]:
    at = iterated(loader)
    while isinstance(at, Made) and at.event.receiver is not None:
        at = at.event.receiver
    data = at.event.arg(0, "data") if isinstance(at, Made) else None
    return [str(name) for name in getattr(data, "items", {})] if hasattr(data, "key") else []


def _is_window(value: Value) -> bool:
    """``x[i : i + length]`` of a sample's number."""
    if not isinstance(value, Item) or not isinstance(value.index, Derived) or value.index.op != "Slice":
        return False
    first = value.index.of[0]
    return not isinstance(first, Const) and not any(is_rank(part) for part in ancestry(first, most=40))


def _in_common(value: Value) -> int:
    """How many samples of a cut the next process has as well."""
    if not isinstance(value, Item) or not isinstance(value.index, Derived) or value.index.op != "Slice":
        return 0
    first, last, step = value.index.of
    if constant(step, 0) not in (None, 1) or not any(is_rank(part) for part in ancestry(first, most=40)):
        return 0
    end, begin, own = _number(last, 0), _number(first, 1), _number(first, 0)
    if end is None or begin is None or own is None or begin <= own:
        return 0
    return max(0, int(end - begin))


@walk(None)
def _number(value: Value, rank: int) -> float | None:
    """What a bound is for the first or second of two processes."""
    if is_rank(value):
        return rank
    if is_world(value):
        return 2
    if isinstance(value, Const):
        return _countable(value.value) if isinstance(value.value, int | float) else None
    if isinstance(value, Derived) and len(value.of) == 2:
        numbers = [_number(part, rank) for part in value.of]
        return _countable(_computed(value.op, numbers[0], numbers[1]))
    if isinstance(value, Made):
        last = value.event.method
        if last in functions_of(Trait.ROUNDS) | {"int", "float"} and value.event.args:
            return _number(value.event.args[0], rank)
        if last in functions_of(Trait.SIZE) | {"__len__"}:
            return _LENGTH
    if isinstance(value, Item) and getattr(value.of, "name", "") == "shape":
        return _LENGTH
    return None


def _countable(number: float | None) -> float | None:
    """A number that a place in a dataset can be, which NaN, infinities and thousands of digits cannot."""
    return number if number is not None and abs(number) < MAX_SAMPLES else None


def _computed(operator: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return None
    if operator in ("Div", "FloorDiv", "Mod") and right == 0:
        return None
    match operator:
        case "Add":
            return left + right
        case "Sub":
            return left - right
        case "Mult":
            return left * right
        case "Div":
            return left / right
        case "FloorDiv":
            return left // right
    return None


def unshared_workers(trace: Trace) -> Iterator[Location]:
    """Streams that several workers of a loader read, each all of it: none of them asks which it is, or cares."""
    for loop in training_loops(trace):
        for loader in options(loop.loader):
            if not isinstance(loader, Made) or loader.name != "torch.utils.data.DataLoader" or loader.event.open:
                continue
            workers = constant(loader.event.arg(5, "num_workers"))
            stream = loader.event.arg(0, "dataset")
            if not isinstance(workers, int) or workers < 2 or loader.event.arg(10, "worker_init_fn") is not None:
                continue
            if isinstance(stream, Instance) and stream.is_a("torch.utils.data.IterableDataset"):
                place = _read_whole(stream, trace)
                if place is not None:
                    yield place


def _read_whole(stream: Instance, trace: Trace) -> Location | None:
    method = next((cls.attributes["__iter__"] for cls in stream.cls.lineage() if "__iter__" in cls.attributes), None)
    if not isinstance(method, Function) or isinstance(method.node, ast.Lambda) or _uses_worker(stream, method):
        return None
    if any(_may_share(part) for value in stream.attributes.values() for part in options(value)):
        return None
    columns = [part for index in _COLUMNS for value in trace.samples_of(stream) for part in _at(value, index)]
    way = [value for column in columns[:1] for value in way_of(column, trace).values]
    # What is drawn is another thing in every worker; of what is not known, nothing is known.
    if not way or any(is_drawing(value) for value in way) or not _is_known(way[-1]):
        return None
    return _taken_at(stream, method, {id(value) for column in columns[:1] for value in with_indexes(column)})


def _may_share(value: Value) -> bool:
    """What a stream goes through may take the worker's share itself: another dataset, an object of some library."""
    if isinstance(value, Made):
        return value.is_object and not value.name.startswith(("pathlib.", "numpy."))
    return isinstance(value, Instance | Unknown)


def _taken_at(stream: Instance, method: Function, used: set[int]) -> Location:
    """The line of ``__iter__`` that takes what the samples come from."""
    held = {
        name
        for name, value in stream.attributes.items()
        if any(id(part) in used for part in ancestry(value, most=5) if not isinstance(part, Const))
    }
    taken = [node for node in ast.walk(method.node) if isinstance(node, ast.Attribute) and node.attr in held]
    first = min(taken, key=lambda node: (node.lineno, node.col_offset), default=None)
    return Location.of(method.module.file, first if first is not None else method.node)


def _at(value: Value, index: int) -> list[Value]:
    held = getattr(value, "items", [])
    if getattr(value, "kind", "") == "generator" and held:
        held = getattr(held[0], "items", held)
    return [held[index]] if isinstance(held, list) and index < len(held) else []


def _is_known(value: Value) -> bool:
    """Whether data comes from files, or from what the object was given and is known."""
    return isinstance(value, Made | Const | Derived) or hasattr(value, "items")


def _uses_worker(stream: Instance, method: Function) -> bool:
    """Whether the number of the worker has any influence: its name is read again, or it is handed on."""
    for cls in stream.cls.lineage():
        for value in cls.attributes.values():
            if isinstance(value, Function) and value.node is not method.node and _WORKER in ast.dump(value.node):
                return True
    text = ast.dump(method.node)
    if _WORKER not in text:
        return "worker" in text.lower() or _calls_others(method.node)
    names = {
        target.id
        for node in ast.walk(method.node)
        if isinstance(node, ast.Assign) and _reads_number(node.value)
        for target in _targets(node)
    }
    used = {node.id for node in ast.walk(method.node) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)}
    if names & used:
        return True
    # Read where it is needed, without a name of its own.
    inside = {
        id(child) for node in ast.walk(method.node) if isinstance(node, ast.Assign) for child in ast.walk(node.value)
    }
    return any(_is_number(node) and id(node) not in inside for node in ast.walk(method.node))


def _targets(node: ast.Assign) -> list[ast.Name]:
    return [child for target in node.targets for child in ast.walk(target) if isinstance(child, ast.Name)]


def _reads_number(node: ast.AST) -> bool:
    return any(_is_number(child) for child in ast.walk(node))


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("id", "num_workers")


def _calls_others(node: ast.AST) -> bool:
    """Functions of the project or of libraries that may take the share."""
    return any(
        isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and not hasattr(builtins, child.func.id)
        for child in ast.walk(node)
    )
