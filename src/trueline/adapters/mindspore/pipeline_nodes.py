"""The operators of a dataset tree, each called in this thread without the engine, so that tracebacks are the user's."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final

import mindspore as ms
import numpy as np
from mindspore.dataset import GeneratorDataset, RandomSampler, SequentialSampler
from mindspore.dataset.transforms import Compose

from trueline.adapters.guest.faults import is_users
from trueline.adapters.mindspore.build import package
from trueline.adapters.mindspore.internals import FunctionWrapper, datasets, is_vision_transform
from trueline.adapters.mindspore.pipeline_batches import BATCHES, Values, batched, column, listed
from trueline.adapters.nouns import Foreign, Function, Loader, Value
from trueline.adapters.pipeline import BuiltAt, Meter, Nothing, Operator, Row, Unfit
from trueline.adapters.steps import defined, name_of, settings_of
from trueline.adapters.user_code import line_of_users_function

# Nodes that change the order or the number of rows, and no row.
# Operators that look at an image as height, width, channels.
_ON_IMAGES: Final = ("Resize", "Crop", "Flip", "Rotat", "Affine", "Perspective", "HWC2CHW")
_PASSING: Final = (datasets.ShuffleDataset, datasets.RepeatDataset, datasets.SyncWaitDataset)


def source_of(leaf: Loader) -> Foreign:
    """The user's object that a leaf reads from; None where the engine reads by itself."""
    return leaf.source if isinstance(leaf, GeneratorDataset) else None


def has_indexes(leaf: Loader) -> bool:
    """Whether a leaf's samples are accessible by index."""
    source = source_of(leaf)
    return source is not None and hasattr(source, "__getitem__") and hasattr(source, "__len__")


class Nodes:
    """All operators of a tree, registered with a meter once, then run as often as needed."""

    def __init__(self, meter: Meter, built: BuiltAt) -> None:
        self._meter, self._built = meter, built
        self._places: dict[int, list[tuple[Foreign, int]]] = {}

    def register(self, node: Foreign) -> None:
        """Register the operators of a node and of those below it, in data order."""
        for child in node.children:
            self.register(child)
        self._places[id(node)] = [(call, self._meter.operator(operator)) for call, operator in self._operators(node)]

    def call(self, place: int) -> Function | None:
        """The operator at a place."""
        calls = (call for calls in self._places.values() for call, at in calls if at == place)
        return next((call for call in calls if callable(call)), None)

    def rows(self, node: Foreign, wanted: Sequence[int] | None, count: int) -> Iterator[Row]:
        """The rows out of a node: of the samples ``wanted`` where its leaf has indexes, else the first ``count``."""
        if not node.children:
            yield from self._leaf(node, wanted, count)
        elif isinstance(node, datasets.ConcatDataset):
            yield from self._concat(node, count)
        elif isinstance(node, datasets.ZipDataset):
            yield from self._zip(node, count)
        elif isinstance(node, datasets.SkipDataset):
            yield from islice(self.rows(node.children[0], None, count + int(node.count)), int(node.count), None)
        elif isinstance(node, datasets.TakeDataset):
            most = int(node.count) if node.count > 0 else count
            yield from islice(self.rows(node.children[0], None, min(count, most)), most)
        elif isinstance(node, _PASSING):
            yield from self.rows(node.children[0], wanted, count)
        else:
            for row in self.rows(node.children[0], wanted, count):
                yield from self._through(node, row)

    def batch(self, node: Foreign, samples: Sequence[Values]) -> Values:
        """Rows batched as a batch node does."""
        (_, place), *_ = self._places[id(node)]
        return dict(self._meter.run(place, lambda: batched(node, samples), None))

    def after(self, node: Foreign, row: Values) -> Values | None:
        """A row after one row-wise node; None where it is filtered out."""
        if isinstance(node, datasets.MapDataset):
            return self._map(node, row)
        if isinstance(node, datasets.FilterDataset):
            return self._filter(node, row)
        if isinstance(node, datasets.RenameDataset):
            return self._renamed(node, row)
        if isinstance(node, datasets.ProjectDataset):
            return {name: column(row, name) for name in listed(node.columns)}
        return row

    def _through(self, node: Foreign, row: Row) -> Iterator[Row]:
        if row.error is not None:
            yield row
            return
        passed = self._placed(node, attempt(row.index, lambda: self.after(node, row.value)))
        if passed.error is not None or passed.value is not None:
            yield passed

    def _placed(self, node: Foreign, row: Row) -> Row:
        """Attribute a column mismatch to its node."""
        if isinstance(row.error, Unfit) and row.error.place is None:
            places = self._places[id(node)]
            row.error.place, row.error.line = places[0][1] if places else None, self._built(node)
        return row

    def _operators(self, node: Loader) -> Iterator[tuple[Foreign, Operator]]:
        line = self._built(node)
        if isinstance(node, datasets.MapDataset):
            for call in _steps(node.operations):
                own = defined(call, package()) or self._built(call) or line
                columns = list(node.input_columns or ())
                last = is_vision_transform(call) and any(word in name_of(call) for word in _ON_IMAGES)
                yield call, Operator(name_of(call), "map", settings_of(call), own, columns, last)
        elif isinstance(node, datasets.FilterDataset):
            call = _inside(node.predicate)
            yield (
                call,
                Operator(name_of(call), "filter", {}, defined(call, package()) or line, listed(node.input_columns)),
            )
        elif isinstance(node, BATCHES):
            call = getattr(node, "per_batch_map", None)
            name = name_of(call) if call is not None else type(node).__name__.removesuffix("Dataset").lower()
            own = (defined(call, package()) if call is not None else None) or line
            yield call, Operator(name, "batch", {}, own)
        elif not node.children:
            source = source_of(node)
            method = "__getitem__" if has_indexes(node) else "__iter__"
            function = source if hasattr(source, "__code__") else getattr(type(source), method, None)
            own = line_of_users_function(function, package()) if source is not None else None
            shown = source if source is not None and not isinstance(source, list | tuple) else node
            if type(shown).__module__.startswith("mindspore"):
                shown = node
            yield (
                source,
                Operator(name_of(shown), "source", {}, own or line, list(getattr(node, "column_names", None) or ())),
            )
        elif isinstance(node, datasets.RenameDataset | datasets.ProjectDataset):
            yield None, Operator(type(node).__name__.removesuffix("Dataset").lower(), "other", {}, line)

    def _leaf(self, leaf: Loader, wanted: Sequence[int] | None, count: int) -> Iterator[Row]:
        source, (_, place) = source_of(leaf), self._places[id(leaf)][0]
        if source is None:
            yield from self._engine(leaf, place, count)
        elif has_indexes(leaf):
            for index in wanted if wanted is not None else range(min(count, len(source))):
                self._meter.sample(index)
                yield self._one(leaf, place, index)
        else:
            yield from self._stream(leaf, place, count)

    def _one(self, leaf: Loader, place: int, index: int) -> Row:
        row = attempt(index, lambda: _named(leaf, place, self._meter.run(place, lambda: leaf.source[index], None)))
        return self._placed(leaf, row)

    def _stream(self, leaf: Loader, place: int, count: int) -> Iterator[Row]:
        self._meter.sample(0)
        first = attempt(0, lambda: iter(leaf.source() if callable(leaf.source) else leaf.source))
        if first.error is not None:
            yield first
            return
        for index in range(count):
            self._meter.sample(index)
            try:
                row = attempt(index, lambda: self._meter.run(place, lambda: next(first.value), None))
            except StopIteration:
                return
            if row.error is not None:
                yield row
                return
            yield self._placed(leaf, attempt(index, lambda row=row: _named(leaf, place, row.value)))  # type: ignore[misc]

    def _engine(self, leaf: Loader, place: int, count: int) -> Iterator[Row]:
        """The rows of a leaf that MindSpore reads by itself, in file order."""
        own = in_order(leaf)
        self._meter.sample(0)
        iterator = own.create_dict_iterator(output_numpy=True, num_epochs=1)
        for index in range(count):
            self._meter.sample(index)
            try:
                row = attempt(index, lambda: self._meter.run(place, lambda: next(iterator), None))
            except StopIteration:
                return
            yield row
            if row.error is not None:
                return

    def _concat(self, node: Foreign, count: int) -> Iterator[Row]:
        left = count
        before = 0
        for child in node.children:
            seen = -1
            for row in self.rows(child, None, left):
                seen, left = max(seen, row.index), left - 1
                yield Row(before + row.index, row.value, row.error)
            before += seen + 1

    def _zip(self, node: Foreign, count: int) -> Iterator[Row]:
        for rows in zip(*(self.rows(child, None, count) for child in node.children), strict=False):
            failed = next((row for row in rows if row.error is not None), None)
            yield failed or self._placed(node, attempt(rows[0].index, lambda rows=rows: _merged(rows)))  # type: ignore[misc]

    def _map(self, node: Foreign, row: Values) -> Values:
        names = list(node.input_columns or ()) or list(row)[:1]
        given: tuple[Value, ...] = tuple(column(row, name) for name in names)
        for call, place in self._places[id(node)]:
            made = self._called(place, call, given)
            if made is None:
                raise Nothing(place)
            # Consecutive functions hand on what they like: images too.
            given = made if isinstance(made, tuple) else (made,)
        given = tuple(_array(value) for value in given)
        wanted = list(node.output_columns or ()) or names
        if len(given) != len(wanted):
            raise Unfit(wanted=wanted, given=len(given))
        rest = {name: value for name, value in row.items() if name not in names}
        if set(wanted) == set(names):
            return {name: dict(zip(wanted, given, strict=True)).get(name, value) for name, value in row.items()}
        return {**dict(zip(wanted, given, strict=True)), **rest}

    def _called(self, place: int, call: Function, given: tuple[Value, ...]) -> Value:
        return self._meter.run(place, lambda: call(*given), given)

    def _filter(self, node: Foreign, row: Values) -> Values | None:
        names = listed(node.input_columns) or list(row)
        given = tuple(column(row, name) for name in names)
        (call, place), *_ = self._places[id(node)]
        return row if self._called(place, call, given) else None

    def _renamed(self, node: Foreign, row: Values) -> Values:
        names = dict(zip(listed(node.input_column_names), listed(node.output_column_names), strict=False))
        for name in names:
            column(row, name)
        return {names.get(name, name): value for name, value in row.items()}


def attempt(index: int, call: Callable[[], Value]) -> Row:
    """A row, or the exception raised instead; StopIteration is passed on."""
    try:
        return Row(index, call())
    except (KeyboardInterrupt, StopIteration):
        raise
    except BaseException as error:  # noqa: BLE001 - the user's code may raise anything, which is an answer too
        return Row(index, error=error)


def in_order(leaf: Loader) -> Loader:
    """A copy of a leaf that reads in order."""
    own = copy.copy(leaf)
    own.parent = []
    if isinstance(getattr(leaf, "sampler", None), RandomSampler):
        own.sampler = SequentialSampler()
    if hasattr(own, "shuffle_flag"):
        own.shuffle_flag = 0
    return own


def _merged(rows: Sequence[Row]) -> dict[str, Value]:
    """The columns of zipped rows."""
    merged: dict[str, Value] = {}
    for row in rows:
        twice = next((name for name in row.value if name in merged), None)
        if twice is not None:
            raise Unfit(wanted=list(merged), twice=twice)
        merged |= row.value
    return merged


def _steps(operations: Foreign) -> list[Foreign]:
    """The operators of a map, with Compose flattened."""
    steps: list[Foreign] = []
    for operation in operations if isinstance(operations, list | tuple) else [operations]:
        inside = operation.transform if type(operation) is FunctionWrapper else operation
        steps += _steps(inside.transforms) if type(inside) is Compose else [inside]
    return steps


def _inside(predicate: Foreign) -> Foreign:
    """The user's function inside MindSpore's wrapper."""
    cells = getattr(predicate, "__closure__", None) or ()
    inner = next((cell.cell_contents for cell in cells if callable(cell.cell_contents)), None)
    code = getattr(predicate, "__code__", None)
    return inner if inner is not None and code is not None and not is_users(code.co_filename) else predicate


def _named(leaf: Loader, place: int, value: Value) -> dict[str, Value]:
    """A source's values by column name."""
    if value is None:
        raise Nothing(place)
    names = list(leaf.column_names or ())
    values = _tuple(value)
    if len(values) != len(names):
        raise Unfit(wanted=names, given=len(values))
    return dict(zip(names, values, strict=True))


def _tuple(value: Value) -> tuple[Value, ...]:
    """The engine's conversion of a function's return value."""
    if isinstance(value, ms.Tensor | np.ndarray | np.generic | int | float | str | bytes | dict):
        return (_array(value),)
    return tuple(_array(part) for part in value)


def _array(value: Value) -> Value:
    if isinstance(value, ms.Tensor):
        return value.asnumpy()
    if isinstance(value, dict):
        return value
    array = np.array(value, copy=False)
    if array.dtype == np.dtype(object):
        raise TypeError(
            f"no array can be made of {type(value).__name__}: it holds Python objects, or rows of other lengths"
        )
    return array
