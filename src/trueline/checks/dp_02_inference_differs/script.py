"""Data is prepared otherwise for inference than for training: what a script says of it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeGuard

from trueline.apitable.functions import functions_of
from trueline.apitable.traits import Trait
from trueline.checks.dp_02_inference_differs.run import from_run
from trueline.checks.engine.check import check, found, na, none, suspect, undecided
from trueline.checks.engine.lines import at_lines
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Finding
from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of
from trueline.script.analysis.followed import is_training_followed
from trueline.script.analysis.passes import Pass, evaluation_passes, keys_of, shares, training_data
from trueline.script.analysis.pipeline import (
    dataset_place,
    datasets_of,
    is_scaling,
    place_of_step,
    random_place,
    way_of,
)
from trueline.script.analysis.pipeline import is_random as is_drawn
from trueline.script.analysis.statistics import Normalised, normalised, reached
from trueline.script.analysis.transforms import (
    Transforms,
    final_size,
    is_random,
    normalising,
    numbers_of,
    transforms_of,
)
from trueline.script.script import Script
from trueline.script.trace import Event, Trace, iterated
from trueline.script.values import Const, Derived, Function, Instance, Item, Made, Value, ancestry, options
from trueline.script.walking import walk_each

_FLAG: Final = re.compile(r"(is_?)?(train|training|augment|aug|augmented|with_aug)")
_STATISTICS: Final = functions_of(Trait.MEAN, Trait.MEDIAN, Trait.DEVIATION, Trait.SMALLEST, Trait.LARGEST)
_SAME: Final = functions_of(Trait.SAME)
_CHANCE: Final = re.compile(r"rand|jitter|augment|noise|flip|shuffle|drop|crop|corrupt")


@check("dp.02")
def from_script(script: Script) -> Iterator[Finding]:
    """The transforms, flags and statistics of what is evaluated against those of what is trained on."""
    trace = script.trace
    trained = training_data(trace)
    known = frozenset().union(*(keys_of(value) for value in trained)) if trained else frozenset()
    passes = [evaluation for evaluation in evaluation_passes(trace) if not shares(keys_of(evaluation.data), known)]
    if not trained or not passes:
        absent = is_training_followed(trace) and not evaluation_passes(trace)
        yield (na if absent else undecided)("dp_02.script.nothing_to_compare")
        return
    reported: set[str] = set()
    for evaluation in passes:
        # A folder may hold the same training for two frameworks.
        own = [data for data in trained if _may_belong(data, evaluation.data)]
        for finding in (
            *(_compared(transforms_of(own[0]), transforms_of(evaluation.data), evaluation, script) if own else ()),
            *_flagged(own, evaluation, trace),
            *_statistics(own, evaluation),
            *_only_in_training(own, evaluation, trace),
        ):
            key = f"{finding.where.file}:{finding.where.line}"
            if key not in reported:
                reported.add(key)
                yield finding
    if reported:
        return
    looked = [
        evaluation for evaluation in passes if transforms_of(evaluation.data).steps or list(normalised(evaluation.data))
    ]
    if len(looked) == len(passes):
        yield none("dp_02.script.alike", evidence=[str(_built(evaluation)) for evaluation in looked])
    else:
        yield undecided("dp_02.script.no_transforms")


@check("dp.02", decides=False)
def from_script_and_run(script: Script, run: Run, *, max_changed: float = 0.1) -> Iterator[Finding]:
    """What a run shows to differ, at the line of the pipeline that makes the difference."""
    passes = evaluation_passes(script.trace)

    def place(finding: Finding) -> Location | None:
        by_chance = finding.message.id == "dp_02.augmented"
        ways = [(evaluation, way_of(_entering(evaluation), script.trace)) for evaluation in passes]
        random = [at for _, way in ways if (at := random_place(way)) is not None]
        if by_chance:
            return random[0] if random else None
        return next((at for _, way in ways if (at := dataset_place(way)) is not None), None)

    measured = from_run(run, max_changed=max_changed)
    yield from at_lines(from_script(script), measured, place, "dp_02.script.nothing_to_place")


def _entering(evaluation: Pass) -> Value | None:
    return (
        evaluation.forward.args[0] if evaluation.forward.args else next(iter(evaluation.forward.kwargs.values()), None)
    )


def _only_in_training(trained: Sequence[Value], evaluation: Pass, trace: Trace) -> Iterator[Finding]:
    """Two datasets of one class, of which one standardises what it gives and the other does not."""
    at = next((found_ for step in way_of(_entering(evaluation), trace).values if (found_ := batch_index(step))), None)
    if at is None:
        return
    mine = _instance(at[0])
    for data in trained:
        instance = _instance(data)
        if mine is None or instance is None or mine.cls is not instance.cls:
            continue
        ways = [
            [step for column in columns_of(loader, at[1], trace) for step in way_of(column, trace).values]
            for loader in (data, iterated(at[0]))
        ]
        first, second = ({str(step.place): step for step in way if _is_standardising(step)} for way in ways)
        if second or not any(ways[1]) or any(is_scaling(step) and not _is_shared(step, ways[0]) for step in ways[1]):
            continue
        for step in first.values():
            if isinstance(step, Derived) and step.place is not None:
                yield found("dp_02.script.only_in_training", step.place)
                return


def _instance(loader: Value | None) -> Instance | None:
    return next((value for value in datasets_of(iterated(loader)) if isinstance(value, Instance)), None)


def _is_standardising(value: Value) -> TypeGuard[Derived]:
    """``(x - mean) / std`` with nothing in it that is drawn."""
    if not isinstance(value, Derived) or value.op != "Div" or value.place is None:
        return False
    left = value.of[0]
    if not isinstance(left, Derived) or left.op != "Sub":
        return False
    # A statistic of data that was drawn is none of chance.
    parts = [
        part for part in (left.of[1], value.of[1]) if not (isinstance(part, Made) and part.event.method in _STATISTICS)
    ]
    return not any(is_drawn(part) for part in parts)


def _is_shared(step: Value, values: Sequence[Value]) -> bool:
    return any(str(place_of_step(value)) == str(place_of_step(step)) for value in values)


def _may_belong(first: Value, second: Value) -> bool:
    """Whether two loaders may be of one framework: both are, or it is not known of one."""
    frameworks = [
        {value.name.partition(".")[0] for value in ancestry(data) if isinstance(value, Made)}
        for data in (first, second)
    ]
    known = [found & {"torch", "torchvision", "mindspore"} for found in frameworks]
    return not all(known) or ("mindspore" in known[0]) == ("mindspore" in known[1])


def _built(evaluation: Pass) -> Location:
    return evaluation.data.event.place if isinstance(evaluation.data, Made) else evaluation.forward.place


def _compared(train: Transforms, own: Transforms, evaluation: Pass, script: Script) -> Iterator[Finding]:
    for step in own.steps:
        if is_random(step):
            place = _apart(step.event, [value.event for value in train.steps])
            if _says_no(script, place):
                # The call asks for none of it: what it leads to gives it all the same.
                place = step.event.place
            yield found("dp_02.script.random", place, name=step.name.rpartition(".")[2])
    first, second = normalising(train.steps), normalising(own.steps)
    if first is not None and second is None and own.known:
        place = own.steps[-1].event.place if own.steps else _built(evaluation)
        yield found("dp_02.script.not_normalised", place)
    elif first is not None and second is not None:
        for at, name in ((0, "mean"), (1, "std")):
            numbers = [numbers_of(value.event.arg(at, name)) for value in (first, second)]
            if None not in numbers and numbers[0] != numbers[1]:
                yield found(
                    "dp_02.script.other_numbers",
                    second.event.place,
                    name=name,
                    train=numbers[0],
                    evaluation=numbers[1],
                )
                break
    sizes = final_size(train.steps), final_size(own.steps)
    if sizes[0] is not None and sizes[1] is not None and sizes[0][1] != sizes[1][1]:
        said = suspect if is_random(sizes[0][0]) or "CenterCrop" in sizes[1][0].name else found
        yield said("dp_02.script.other_size", sizes[1][0].event.place, train=sizes[0][1], evaluation=sizes[1][1])


def _apart(event: Event, events: Sequence[Event]) -> Location:
    """The call that leads here and not to the same line in training; the line where training does not share it."""
    same = [other_event for other_event in events if other_event.place == event.place]
    if not same:
        return event.place
    elsewhere = {str(place) for other_event in same for place in other_event.callers()}
    for place in event.callers():
        if str(place) not in elsewhere:
            return place
    return event.place


def _says_no(script: Script, place: Location) -> bool:
    """Whether a call passes False for something."""
    for source in script.files:
        if source.shown == place.file:
            for node in ast.walk(source.tree):
                if isinstance(node, ast.Call) and node.lineno == place.line:
                    given = (*node.args, *(child.value for child in node.keywords))
                    if any(isinstance(node, ast.Constant) and node.value is False for node in given):
                        return True
    return False


def _flagged(trained: Sequence[Value], evaluation: Pass, trace: Trace) -> Iterator[Finding]:
    """A dataset of the project that is built for evaluation with the flag that switches augmentation on."""
    del trace
    flags = {name for data in trained for dataset in _datasets(data) for name in _raised(dataset)}
    for dataset in _datasets(evaluation.data):
        for name in _raised(dataset):
            if name in flags and _augments(dataset, name):
                yield found("dp_02.script.augmented", dataset.place, name=name)


@walk_each()
def _datasets(value: Value | None) -> Iterator[Instance]:
    for part in options(value):
        if isinstance(part, Instance):
            yield part
        elif isinstance(part, Made):
            inner = part.event.receiver if part.event.receiver is not None else part.event.arg(0, "dataset", "source")
            yield from _datasets(inner)
        elif isinstance(part, Item):
            yield from _datasets(part.of)


def _raised(dataset: Instance) -> Iterator[str]:
    """Flags for training that it keeps, and that are on."""
    for name, held in dataset.attributes.items():
        if _FLAG.fullmatch(name.strip("_")) and isinstance(held, Const) and held.value is True:
            yield name


def _augments(dataset: Instance, flag: str) -> bool:
    """Whether something random in the class, or in what it hands the flag to, depends on it."""
    for cls in dataset.cls.lineage():
        for method in cls.attributes.values():
            if not isinstance(method, Function):
                continue
            for node in ast.walk(method.node):
                by_flag = isinstance(node, ast.If | ast.IfExp) and flag in ast.unparse(node.test)
                if by_flag and _CHANCE.search(ast.unparse(node).lower()):
                    return True
                if isinstance(node, ast.Call) and any(flag in ast.unparse(arg) for arg in node.args):
                    called = _function(node, method)
                    if called is not None and _CHANCE.search(ast.unparse(called.node).lower()):
                        return True
    return False


def _function(node: ast.Call, method: Function) -> Function | None:
    if not isinstance(node.func, ast.Name) or method.around is None:
        return None
    value = method.around.get(node.func.id)
    return value if isinstance(value, Function) else None


def _statistics(trained: Sequence[Value], evaluation: Pass) -> Iterator[Finding]:
    """Training and evaluation data that are each normalised with their own statistics, or only the one."""
    train = [scaling for data in trained for scaling in normalised(_samples(data))]
    samples = _samples(evaluation.data)
    own = list(normalised(samples))
    if not any(scaling.own for scaling in train):
        return
    separate = [
        scaling
        for scaling in own
        if scaling.own and not any(_is_same(scaling, other_scaling) for other_scaling in train)
    ]
    if separate and not any(not scaling.own for scaling in own):
        place = _apart(separate[0].statistic, [scaling.statistic for scaling in train])
        yield found("dp_02.script.own_statistics", place)
    elif not own and _is_by_statistics(trained) and (numbers := _written_numbers(samples)) is not None:
        yield found("dp_02.script.written_numbers", numbers[0], numbers=numbers[1])
    elif not own and _has_same_origin(train, evaluation):
        yield found("dp_02.script.not_scaled", _put_together(evaluation))


def _is_by_statistics(trained: Sequence[Value]) -> bool:
    """Whether the last that is done to the training data is to standardise it, not by numbers that are written down."""
    last = [_samples(data) for data in trained]
    return all(_is_standardising(value) and _written_numbers(value) is None for value in last)


def _written_numbers(value: Value) -> tuple[Location, str] | None:
    """``(x - 0.5) / 0.5`` as the last that is done to data, and the numbers."""
    if not isinstance(value, Derived) or value.op != "Div" or not isinstance(value.of[0], Derived):
        return None
    numbers = [numbers_of(part) for part in (value.of[0].of[-1], value.of[1])]
    if value.of[0].op != "Sub" or value.place is None or None in numbers:
        return None
    return value.place, ", ".join(f"{number:g}" for some in numbers for number in some or ())


def _put_together(evaluation: Pass) -> Location:
    """Where what is evaluated is put into a dataset."""
    at = batch_index(evaluation.data)
    loader = iterated(at[0]) if at is not None else evaluation.data
    inner = [value.event.place for value in datasets_of(loader) if isinstance(value, Made)]
    return inner[-1] if inner else _built(evaluation)


def _is_same(scaling: Normalised, other_scaling: Normalised) -> bool:
    return keys_of(scaling.data) == keys_of(other_scaling.data)


def _has_same_origin(train: Sequence[Normalised], evaluation: Pass) -> bool:
    """Whether what is evaluated comes, unscaled, from where the training data came before it was scaled."""
    if any(isinstance(value, Instance) for value in reached(evaluation.data)):
        return False
    raw = {str(_origin(scaling.data)) for scaling in train} - {"None"}
    return str(_origin(_samples(evaluation.data))) in raw


def _samples(value: Value) -> Value:
    """The inputs that a loader is built over, without the loader."""
    for _ in range(20):
        at = batch_index(value)
        inner: Value | None
        if at is not None:
            inner = at[0]
        elif iterated(value) is not value:
            inner = iterated(value)
        elif isinstance(value, Made) and value.name.startswith(("torch.utils.data.", "mindspore.dataset.")):
            inner = value.event.receiver if value.event.receiver is not None else value.event.arg(0, "dataset", "data")
        elif isinstance(value, Made) and value.event.method in _SAME:
            inner = value.event.receiver if value.event.receiver is not None else value.event.arg(0)
        elif hasattr(value, "items") and isinstance(value.items, list) and value.items:
            inner = value.items[0]
        elif hasattr(value, "items") and isinstance(value.items, dict) and value.items:
            inner = next(iter(value.items.values()))
        else:
            break
        if inner is None:
            break
        value = inner
    return value


def _origin(value: Value) -> Location | None:
    """Where an array is made that a cut of it goes back to."""
    at: Value = value
    for _ in range(20):
        if isinstance(at, Item):
            at = at.of
        elif isinstance(at, Made) and at.event.method in _SAME:
            inner = at.event.receiver if at.event.receiver is not None else at.event.arg(0)
            if inner is None:
                return None
            at = inner
        else:
            break
    if isinstance(at, Made):
        return at.event.place
    return at.place if isinstance(at, Derived) else None
