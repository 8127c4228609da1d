"""Every worker draws the same augmentations: what a script says of it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from trueline.checks.engine.check import check, found, na, none, undecided
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.followed import is_training_followed
from trueline.script.analysis.passes import training_data
from trueline.script.analysis.randomness import (
    SEEDS,
    drawn_from,
    generators,
    happens_in,
    has_fixed_seed,
    root_of,
    seeds_generator,
)
from trueline.script.script import Script
from trueline.script.trace import CALL, UNCALLED, Event, Trace
from trueline.script.values import Attribute, Const, Function, Instance, Item, Made, Partial, Value, constant, options
from trueline.script.walking import walk_each

_SAMPLE: Final = ("__getitem__", "__getitems__")
_STREAM: Final = ("__iter__", "__next__")


@check("tr.14")
def from_script(script: Script) -> Iterator[Finding]:
    """Seeds and generators of datasets that several workers, or all samples, share."""
    trace = script.trace
    loaders = [value for value in training_data(trace) if isinstance(value, Made)]
    if not loaders:
        yield undecided("tr_14.script.no_training_loop")
        return
    reported: set[str] = set()
    for said, place in _faults(loaders, trace):
        if str(place) not in reported:
            reported.add(str(place))
            yield found(f"tr_14.script.{said}", place)
    if reported:
        return
    several = [value for value in loaders if _workers(value)]
    if several:
        yield none("tr_14.script.apart", evidence=[str(value.event.place) for value in several])
    else:
        yield (na if is_training_followed(trace) else undecided)("tr_14.script.one_process")


def _faults(loaders: list[Made], trace: Trace) -> Iterator[tuple[str, Location]]:
    for loader in loaders:
        sources = list(_datasets(loader))
        if _workers(loader):
            yield from _seeded_workers(loader, trace)
            yield from _shared_generators(sources, trace)
        yield from _same_for_all(sources, trace)
        yield from _mapped(loader, trace)


def _workers(loader: Made) -> bool:
    """Whether several processes make the samples."""
    at: Value | None = loader
    while isinstance(at, Made):
        event = at.event
        if at.name == "torch.utils.data.DataLoader":
            number = constant(event.arg(5, "num_workers"), 0)
            return isinstance(number, int) and number > 0
        if at.name == "mindspore.dataset.GeneratorDataset":
            number = constant(event.arg(None, "num_parallel_workers"), 1)
            together = constant(event.arg(None, "python_multiprocessing"), True)
            return isinstance(number, int) and number > 1 and together is not False
        at = event.receiver
    return False


@walk_each()
def _datasets(value: Value | None) -> Iterator[Instance]:
    """The datasets of the project that a loader takes samples from."""
    for part in options(value):
        if isinstance(part, Instance):
            yield part
        elif isinstance(part, Made):
            inner = part.event.receiver if part.event.receiver is not None else part.event.arg(0, "dataset", "source")
            yield from _datasets(inner)
        elif isinstance(part, Item | Attribute):
            yield from _datasets(part.of)


def _seeded_workers(loader: Made, trace: Trace) -> Iterator[tuple[str, Location]]:
    """``worker_init_fn`` gives every worker the same seed."""
    for given in options(loader.event.arg(None, "worker_init_fn")):
        function = given.function if isinstance(given, Partial) else given
        if not isinstance(function, Function):
            continue
        if isinstance(function.node, ast.Lambda):
            if _seeds_constantly(function.node):
                yield "worker_seed", Location.of(function.module.file, function.node)
            continue
        for event in trace.events:
            if event.name in SEEDS and _is_read_in(event, function) and has_fixed_seed(event):
                yield "worker_seed", event.place


def _seeds_constantly(node: ast.Lambda) -> bool:
    for call in ast.walk(node.body):
        if isinstance(call, ast.Call) and ast.unparse(call.func).endswith(("random.seed", "manual_seed")):
            return bool(call.args) and all(isinstance(child, ast.Constant) for child in call.args)
    return False


def _is_read_in(event: Event, function: Function) -> bool:
    return any(
        scope.kind in (CALL, UNCALLED) and isinstance(scope.value, Function) and scope.value.node is function.node
        for scope in event.scopes
    )


def _shared_generators(sources: list[Instance], trace: Trace) -> Iterator[tuple[str, Location]]:
    """A generator that the dataset keeps, or makes anew with one seed, goes into every worker as it is."""
    for source in sources:
        own = {id(cls.node) for cls in source.cls.lineage()}
        kept = {str(root_of(value).event.place) for value in source.attributes.values() if isinstance(value, Made)}
        for generator in generators(trace):
            seed = seeds_generator(generator, trace)
            if seed is not None and not has_fixed_seed(seed):
                continue
            place = generator.event.place
            if str(place) in kept:
                used = [event for event in drawn_from(generator, trace) if happens_in(event, *_SAMPLE, *_STREAM)]
            elif happens_in(generator.event, *_STREAM) and seed is not None:
                used = list(drawn_from(generator, trace))
            else:
                continue
            if any(_is_method_of(event, own) for event in used):
                yield "shared_generator", _seed_place(seed) if seed is not None else place


def _seed_place(seed: Event) -> Location:
    """Where the seed is written down, if that is in the function that uses it; else where it is used."""
    given = seed.arg(0, "seed")
    origin = given.origin if isinstance(given, Const) else None
    around = next((scope.value for scope in reversed(seed.scopes) if scope.kind in (CALL, UNCALLED)), None)
    if origin is None or not isinstance(around, Function) or origin.file != seed.place.file:
        return seed.place
    return origin if around.node.lineno <= origin.line <= seed.place.line else seed.place


def _is_method_of(event: Event, classes: set[int]) -> bool:
    for scope in event.scopes:
        owner = scope.value.owner if isinstance(scope.value, Function) else None
        if scope.kind in (CALL, UNCALLED) and owner is not None and id(owner.node) in classes:
            return True
    return False


def _same_for_all(sources: list[Instance], trace: Trace) -> Iterator[tuple[str, Location]]:
    """A seed that is set for each sample, and is the same for all of them."""
    for source in sources:
        own = {id(cls.node) for cls in source.cls.lineage()}
        for event in trace.events:
            if not happens_in(event, *_SAMPLE) or not _is_method_of(event, own) or not has_fixed_seed(event):
                continue
            if event.name in SEEDS:
                yield "same_for_all", event.place
        for generator in generators(trace):
            seed = seeds_generator(generator, trace)
            if seed is None or not happens_in(generator.event, *_SAMPLE) or not _is_method_of(generator.event, own):
                continue
            if has_fixed_seed(seed) and any(True for _ in drawn_from(generator, trace)):
                yield "same_for_all", _seed_place(seed)


def _mapped(loader: Made, trace: Trace) -> Iterator[tuple[str, Location]]:
    """MindSpore: a function of the project that several processes run, with a generator from outside of it."""
    at: Value | None = loader
    while isinstance(at, Made):
        event = at.event
        if event.method == "map" and at.name.startswith("mindspore.dataset."):
            number = constant(event.arg(None, "num_parallel_workers"), 1)
            together = constant(event.arg(None, "python_multiprocessing"), False)
            functions = list(_operations(event.arg(0, "operations")))
            for generator in generators(trace):
                seed = seeds_generator(generator, trace)
                if seed is None or not has_fixed_seed(seed):
                    continue
                for function in functions:
                    used = any(_is_read_in(event, function) for event in drawn_from(generator, trace))
                    inside = _is_read_in(generator.event, function)
                    if used and inside:
                        yield "same_for_all", generator.event.place
                    elif used and together is True and isinstance(number, int) and number > 1:
                        yield "mapped", event.place
        at = event.receiver


@walk_each()
def _operations(value: Value | None) -> Iterator[Function]:
    for part in options(value):
        if isinstance(part, Function):
            yield part
        elif isinstance(part, Instance):
            called = next(
                (cls.attributes["__call__"] for cls in part.cls.lineage() if "__call__" in cls.attributes), None
            )
            if isinstance(called, Function):
                yield called
        elif hasattr(part, "items") and isinstance(part.items, list):
            for inner in part.items:
                yield from _operations(inner)
