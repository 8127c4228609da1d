"""The way of inputs in a script: from a network's first layer back to where the data is made."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from trueline.checks.of_script.columns import batch_index, columns_of
from trueline.script.place import Place
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import BRANCH, Event, Trace, iterated
from trueline.script.values import (
    Attribute,
    Const,
    Derived,
    Either,
    Function,
    Instance,
    Item,
    Made,
    Seq,
    Symbol,
    Table,
    Value,
    ancestry,
    constant,
    options,
)

_MOST: Final = 400
_DRAWING: Final = re.compile(
    r"rand|normal|uniform|exponential|poisson|gamma|choice|choices|integers|standard_\w+|bernoulli|multinomial|shuffle|"
    r"randint|randn|randperm|random|permutation|rand_like|randn_like|sample|gauss|beta|binomial|randrange"
)
# What puts several things together: behind it there is no single way.
_JOINING: Final = frozenset(("stack", "cat", "concatenate", "hstack", "vstack", "column_stack", "where", "concat"))
_SAME_NUMBERS: Final = frozenset(("T", "mT", "data", "values", "real"))
_NORMALISER: Final = re.compile(r"norm|standard|scal|prep|transform|whiten|z_?score|to_input|to_unit", re.IGNORECASE)
_STATISTIC: Final = frozenset(("mean", "std", "nanmean", "nanstd", "median", "min", "max", "amin", "amax", "var"))
# A factor of so much makes numbers too large for a network out of numbers that fit.
_LARGE_FACTOR: Final = 100.0
_SCALED_STEPS: Final = ("Rescale", "ToTensor", "ConvertImageDtype", "ToDtype", "rescale", "to_tensor")
_CASTS: Final = frozenset(("float", "astype", "to", "type", "FloatTensor", "float32", "tensor", "Tensor", "TypeCast"))


@dataclass(slots=True)
class Way:
    """What an input was before it entered, nearest to the network first; and the datasets that held it on the way."""

    values: list[Value] = field(default_factory=list)
    datasets: list[Value] = field(default_factory=list)


def way_of(value: Value | None, trace: Trace) -> Way:
    """The way of one input."""
    way = Way()
    waiting = [value] if value is not None else []
    seen: set[int] = set()
    while waiting and len(way.values) < _MOST:
        one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        way.values.append(one)
        at = batch_index(one)
        if at is None:
            waiting.extend(_before(one))
            continue
        loader = iterated(at[0])
        way.datasets.extend(datasets_of(loader))
        for step in _operations(loader, at[1]):
            waiting.extend((isinstance(step, Function) and trace.returns_of(step)) or [step])
        waiting.extend(columns_of(loader, at[1], trace))
    return way


def _before(value: Value) -> Sequence[Value]:
    """What a value was before something was done to all of it."""
    if isinstance(value, Either):
        return value.options
    if isinstance(value, Item):
        return (value.of,)
    if isinstance(value, Attribute):
        return (value.of,) if value.name in _SAME_NUMBERS else ()
    if isinstance(value, Seq):
        return value.items if len(value.items) == 1 else ()
    if isinstance(value, Derived):
        return _operand(value)
    if isinstance(value, Made):
        event = value.event
        if event.method in _JOINING:
            first = event.arg(0)
            return first.items if isinstance(first, Seq) and len(first.items) == 1 else ()
        if is_drawing(value):
            return ()
        if event.receiver is not None and event.method != "__call__" and not isinstance(event.receiver, Symbol):
            return (event.receiver,)
        return event.args[:1]
    return ()


def _operand(value: Derived) -> Sequence[Value]:
    """The side of an operator that the data stands on."""
    if value.op not in ("Add", "Sub", "Mult", "Div", "FloorDiv", "Pow", "USub"):
        return ()
    data = [one for one in value.of if not isinstance(one, Const)]
    if len(data) > 1 and value.op in ("Sub", "Div", "FloorDiv", "Pow"):
        return data[:1]
    still = [one for one in data if not is_random(one)]
    return (still or data)[:1]


def is_drawing(value: Value) -> bool:
    """Whether a call draws numbers by chance."""
    return isinstance(value, Made) and bool(_DRAWING.fullmatch(value.event.method.rstrip("_")))


def is_random(value: Value | None) -> bool:
    """Whether it is made of numbers that are drawn."""
    return any(is_drawing(one) for one in ancestry(value, most=60))


def datasets_of(loader: Value | None) -> Iterator[Value]:
    """A loader, and the datasets in it, outermost first."""
    at = loader
    for _ in range(30):
        if isinstance(at, Item):
            at = at.of
        elif isinstance(at, Made) and at.name.startswith(("torch.utils.data.", "mindspore.dataset.")):
            yield at
            at = at.event.receiver if at.event.receiver is not None else at.event.arg(0, "dataset", "source", "data")
        else:
            break
    if isinstance(at, Instance):
        yield at


def _operations(loader: Value | None, index: object) -> Iterator[Value]:
    """What a pipeline of MindSpore does to a column, the last first."""
    at = loader
    name = _column(loader, index)
    while isinstance(at, Made) and at.event.receiver is not None:
        event = at.event
        if event.method == "map":
            columns = event.arg(1, "input_columns")
            named = [constant(one) for one in columns.items] if isinstance(columns, Seq) else [constant(columns)]
            if columns is None or name is None or name in named:
                yield from reversed(list(_flat(event.arg(0, "operations"))))
        at = event.receiver


def _flat(value: Value | None) -> Iterator[Value]:
    for one in options(value):
        if isinstance(one, Seq):
            for inner in one.items:
                yield from _flat(inner)
        elif isinstance(one, Made) and one.name.endswith(".Compose"):
            yield from _flat(one.event.arg(0))
        else:
            yield one


def _column(loader: Value | None, index: object) -> str | None:
    if isinstance(index, str):
        return index
    source = next((one for one in reversed(list(datasets_of(loader))) if isinstance(one, Made)), None)
    if source is None or not isinstance(index, int):
        return None
    names = source.event.arg(1, "column_names")
    if isinstance(names, Seq) and -len(names.items) <= index < len(names.items):
        name = constant(names.items[index])
        return name if isinstance(name, str) else None
    data = source.event.arg(0, "data")
    if isinstance(data, Table) and index < len(data.items):
        return str(list(data.items)[index])
    return None


def dataset_place(way: Way) -> Place | None:
    """Where the data is put into a dataset: the innermost; of one of the project, the line that gives a sample."""
    for one in reversed(way.datasets):
        if isinstance(one, Made):
            return one.event.place
        if isinstance(one, Instance):
            return _giving(one) or one.place
    return None


def random_place(way: Way) -> Place | None:
    """The line that changes an input by chance: by numbers that are drawn, or where a draw decides."""
    for one in way.values:
        if isinstance(one, Derived) and one.op in ("Add", "Sub", "Mult", "Div") and one.place is not None:
            data = way_operand(one)
            if any(is_random(part) for part in one.of if part is not data):
                return one.place
        elif isinstance(one, Made):
            for scope in reversed(one.event.scopes):
                if scope.kind == BRANCH and is_random(scope.value):
                    return scope.place
            given = (*one.event.args[0 if one.event.receiver is not None else 1 :], *one.event.kwargs.values())
            if not is_drawing(one) and any(is_random(part) for part in given):
                return one.event.place
    return None


def way_operand(value: Derived) -> Value | None:
    """The operand that the data stands on."""
    return next(iter(_operand(value)), None)


def _giving(dataset: Instance) -> Place | None:
    for name in ("__getitem__", "__iter__", "__next__"):
        for cls in dataset.cls.lineage():
            method = cls.attributes.get(name)
            if isinstance(method, Function):
                return _returning(method.node, method.module.file)
    return None


def _returning(node: ast.AST, file: str) -> Place:
    """The line on which a function gives its result."""
    given = [one for one in ast.walk(node) if isinstance(one, ast.Return | ast.Yield | ast.YieldFrom)]
    return Place.of(file, given[-1] if given else node)


def scale_place(value: Value | None, script: Script) -> Place | None:
    """The line that leaves an input as large as it is, or makes it so; None where the way to it is not seen."""
    trace = script.trace
    way = way_of(value, trace)
    raw = any(_is_whole_bytes(one) for one in way.values)
    brought_down = any(_brings_down(one) for one in way.values)
    untouched = True
    idle = _idle_normalisers(script)
    for at, one in enumerate(way.values):
        if _is_whole_bytes(one):
            # Before it, the data is made.
            break
        if _makes_large(one):
            return place_of_step(one)
        if isinstance(one, Made) and one.name.endswith(".Normalize") and not brought_down:
            return one.event.place
        if raw and not brought_down and _casts(one):
            return place_of_step(one)
        if is_scaling(one):
            untouched = False
        if untouched and at and id(one) in idle:
            return idle[id(one)]
    return dataset_place(way)


def place_of_step(value: Value) -> Place | None:
    """Where something is done."""
    if isinstance(value, Made):
        return value.event.place
    if isinstance(value, Function):
        return Place.of(value.module.file, value.node)
    return value.place if isinstance(value, Derived) else None


def _makes_large(value: Value) -> bool:
    numbers = [constant(one) for one in value.of] if isinstance(value, Derived) else []
    if isinstance(value, Made) and value.event.method in ("mul", "mul_", "multiply", "div", "div_", "divide"):
        numbers = [constant(value.event.args[-1])] if value.event.args else []
    known = [abs(one) for one in numbers if isinstance(one, int | float) and not isinstance(one, bool)]
    if not known:
        return False
    if (isinstance(value, Derived) and value.op == "Mult") or _is_method(value, "mul", "mul_", "multiply"):
        return max(known) >= _LARGE_FACTOR
    if (isinstance(value, Derived) and value.op == "Div") or _is_method(value, "div", "div_", "divide"):
        return 0 < min(known) <= 1 / _LARGE_FACTOR and not isinstance(constant(_left(value)), int | float)
    return False


def _left(value: Value) -> Value | None:
    return value.of[0] if isinstance(value, Derived) else None


def _is_method(value: Value, *names: str) -> bool:
    return isinstance(value, Made) and value.event.method in names


def is_scaling(value: Value) -> bool:
    """Whether something is subtracted or divided by."""
    return (isinstance(value, Derived) and value.op in ("Div", "Sub")) or _is_method(
        value, "div", "div_", "sub", "sub_", "normalize", "transform", "fit_transform", "log1p", "tanh"
    )


def _brings_down(value: Value) -> bool:
    """Whether pixels of 0..255 are small after it."""
    if isinstance(value, Made):
        if value.name.rpartition(".")[2] in _SCALED_STEPS:
            return True
        if value.event.method in ("div", "div_", "divide", "true_divide"):
            number = constant(value.event.args[-1]) if value.event.args else None
            return not isinstance(number, int | float) or number > 1
    if isinstance(value, Function):
        # An operation of a pipeline that was not read by itself.
        return any(isinstance(one, ast.BinOp) for one in ast.walk(value.node))
    if isinstance(value, Derived) and value.op in ("Div", "Mult"):
        number = constant(value.of[1])
        if value.op == "Mult":
            small = [constant(one) for one in value.of]
            return any(isinstance(one, float) and 0 < one <= 0.1 for one in small)
        return not isinstance(number, int | float) or number > 1
    return False


def _is_whole_bytes(value: Value) -> bool:
    if not isinstance(value, Made):
        return False
    given = (*value.event.args, *value.event.kwargs.values())
    return any(
        (isinstance(one, Symbol) and one.name.endswith("uint8")) or constant(one) in ("uint8", "u1") for one in given
    )


def _casts(value: Value) -> bool:
    if isinstance(value, Function):
        return any(isinstance(one, ast.Attribute) and one.attr in _CASTS for one in ast.walk(value.node))
    if not isinstance(value, Made) or value.event.method not in _CASTS or _is_whole_bytes(value):
        return False
    if value.event.method in ("float", "FloatTensor", "float32"):
        return True
    given = (*value.event.args, *value.event.kwargs.values())
    return any(isinstance(one, Symbol) and "float" in one.name.rpartition(".")[2] for one in given)


def _idle_normalisers(script: Script) -> dict[int, Place]:
    """What functions gave that are there to normalise, by their name or by the statistics that their object keeps."""
    found: dict[int, Place] = {}
    trace = script.trace
    statistics = _statistical_classes(trace)
    for source in script.files:
        for owner, node in _functions(source.tree):
            named = _NORMALISER.search(node.name) or (owner is not None and _NORMALISER.search(owner.name))
            kept = owner is not None and owner.name in statistics
            if node.name.startswith("__") and node.name != "__call__":
                continue
            if not (named or kept):
                continue
            for value in trace.returned.get(id(node), ()):
                for one in _single(value):
                    found.setdefault(id(one), _returning(node, source.shown))
    return found


def _single(value: Value) -> Iterator[Value]:
    for one in options(value):
        yield one
        if isinstance(one, Seq) and one.kind == "tuple":
            yield from one.items


def _functions(tree: ast.Module) -> Iterator[tuple[ast.ClassDef | None, ast.FunctionDef]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield None, node
        elif isinstance(node, ast.ClassDef):
            yield from ((node, one) for one in node.body if isinstance(one, ast.FunctionDef))


def _statistical_classes(trace: Trace) -> set[str]:
    """The project's classes that keep a mean or a deviation of data."""
    found: set[str] = set()
    for event in trace.events:
        instance = event.result
        if event.method == "__new__" and isinstance(instance, Instance):
            held = [one for one in instance.attributes.values() if isinstance(one, Made)]
            if any(one.event.method in _STATISTIC for one in held):
                found.add(instance.cls.name)
    return found


def entering(events: Sequence[Event]) -> Event | None:
    """The call of a network, or of its first layer, that takes what is fed in."""
    for event in events:
        if event.role is Role.FORWARD and event.args:
            return event
    return None
