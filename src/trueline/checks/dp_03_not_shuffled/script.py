"""Training data is not shuffled: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.dp_03_not_shuffled.loaders import Order, order_of
from trueline.checks.dp_03_not_shuffled.run import from_run
from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.checks.engine.lines import at_lines
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.pipeline import datasets_of
from trueline.script.loops import TrainingLoop, training_loops
from trueline.script.script import Script
from trueline.script.trace import Trace, iterated
from trueline.script.values import Function, Instance, Made, Value, constant, options


@check("dp.03")
def from_script(script: Script) -> Iterator[Finding]:
    """The loaders of training loops, and whether they shuffle."""
    loops = training_loops(script.trace)
    if not loops:
        yield undecided("dp_03.script.no_training_loop")
        return
    reported: set[int] = set()
    shuffled: list[str] = []
    unknown = False
    for loop in loops:
        order = order_of(loop.loader)
        if id(order.loader) in reported:
            continue
        reported.add(id(order.loader))
        place = order.place or loop.scope.place
        if order.kind is Order.SEQUENTIAL:
            yield found("dp_03.script.not_shuffled", place, loader=order.name)
        elif order.kind is Order.SHUFFLED:
            again = _begun_again(loop, script.trace)
            if again is not None:
                yield suspect("dp_03.script.same_shuffle", again, seed=str(_seed(script.trace)))
            else:
                shuffled.append(str(place))
        elif order.kind is Order.UNSHUFFLABLE:
            yield found("dp_03.script.cannot_be_shuffled", place, loader=order.name)
        else:
            unknown = True
            yield undecided("dp_03.script.order_unknown", where=place)
    if shuffled:
        yield (undecided if unknown else none)("dp_03.script.shuffled", evidence=shuffled)


@check("dp.03", decides=False)
def from_script_and_run(script: Script, run: Run, *, min_repeat: float = 0.99) -> Iterator[Finding]:
    """An order that a run shows to be the same, at the line that gives it."""
    measured = from_run(run, min_repeat=min_repeat)
    yield from at_lines(from_script(script), measured, lambda _: _given_at(script), "dp_03.script.nothing_to_place")


def _given_at(script: Script) -> Location | None:
    """Where the order of the training samples comes from: a sampler or a stream of the project, or the loader."""
    for loop in training_loops(script.trace):
        for loader in options(iterated(loop.loader)):
            if not isinstance(loader, Made):
                continue
            held = [loader.event.arg(None, name) for name in ("batch_sampler", "sampler")]
            held += [value for value in datasets_of(loader) if isinstance(value, Instance)]
            for value in held:
                method = _iterating(value) if isinstance(value, Instance) else None
                if method is not None:
                    return Location.of(method.module.file, method.node)
            source = [value for value in datasets_of(loader) if isinstance(value, Made)]
            if source:
                return source[-1 if source[0].name.startswith("mindspore.") else 0].event.place
    return None


def _iterating(value: Instance) -> Function | None:
    found_ = next((cls.attributes["__iter__"] for cls in value.cls.lineage() if "__iter__" in cls.attributes), None)
    return found_ if isinstance(found_, Function) else None


def _seed(trace: Trace) -> Location | None:
    """Where MindSpore's pipelines are given a seed, once and for all."""
    for event in trace.named("mindspore.set_seed", "mindspore.dataset.config.set_seed"):
        if not event.loops() and not event.conditional_within(None):
            return event.place
    return None


def _begun_again(loop: TrainingLoop, trace: Trace) -> Location | None:
    """The line where a pipeline of MindSpore is begun anew in every epoch: with a seed it gives the same order again.

    Seen with MindSpore 2.10: after ``set_seed`` each new iterator, and each ``for`` over the dataset itself, begins
    with the order of the first; one iterator that is gone through again and again shuffles anew.
    """
    epochs = [scope for scope in loop.around if scope.name != "comprehension"]
    if not epochs or epochs[-1].name == "epochs" or _seed(trace) is None or not _is_pipeline(loop.loader):
        return None
    value: Value | None = loop.scope.value
    while isinstance(value, Made) and not value.name.startswith("mindspore.dataset."):
        value = value.event.arg(0)
    if not isinstance(value, Made):
        return None
    is_iterator = value.event.method in ("create_tuple_iterator", "create_dict_iterator")
    if is_iterator and not value.event.inside(epochs[-1]):
        return None
    if value.event.inside(epochs[-1]) and not is_iterator:
        # The pipeline itself is built anew.
        return None
    rounds = epochs[-1].value
    once = isinstance(rounds, Made) and rounds.name == "builtins.range" and constant(rounds.event.arg(0)) == 1
    return None if once else (value.event.place if is_iterator else loop.scope.place)


def _is_pipeline(value: Value | None) -> bool:
    """One whose samples are put in order by MindSpore itself, not by a sampler of the project's."""
    at = value
    while isinstance(at, Made) and at.event.receiver is not None:
        at = at.event.receiver
    if not isinstance(at, Made) or not at.name.startswith("mindspore.dataset."):
        return False
    return not isinstance(at.event.arg(None, "sampler"), Instance)
