"""Classes are unbalanced: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from trueline.apitable.functions import functions_of, names_of
from trueline.apitable.traits import Trait
from trueline.checks.ds_03_unbalanced.run import from_run
from trueline.checks.engine.check import check, found, undecided
from trueline.formats.run_folder.reader import Run
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.script.analysis.columns import batch_index, columns_of, plain
from trueline.script.loops import training_loops
from trueline.script.roles import Role
from trueline.script.script import Script
from trueline.script.trace import Event, Trace
from trueline.script.values import Attribute, Const, Derived, Instance, Item, Made, Seq, Value, constant
from trueline.script.walking import walk

_BALANCING: Final = names_of(Trait.BALANCES)
_LOSSES: Final = names_of(Trait.CLASS_WEIGHTS)
_WEIGHTS: Final = ("weight", "pos_weight", "alpha", "class_weight")


@check("ds.03", decides=False)
def from_script(script: Script, *, max_ratio: float = 10.0) -> Iterator[Finding]:
    """How a script balances classes, and how uneven it draws them itself."""
    trace = script.trace
    handled = list(_handled(trace))
    if handled:
        # How uneven the classes are, and whether this makes up for it, only the data can tell.
        yield undecided("ds_03.script.handled", evidence=[str(place) for place in handled])
        return
    for loop in training_loops(trace):
        for event in loop.of(Role.LOSS):
            at = batch_index(plain(event.arg(1, "target", "labels", "label")))
            if at is None:
                continue
            for column in columns_of(at[0], at[1], trace):
                ratio = _ratio(column, trace)
                if ratio is not None and ratio >= max_ratio:
                    place = loop.loader.event.place if isinstance(loop.loader, Made) else loop.scope.place
                    yield found(
                        "ds_03.script.uneven",
                        place,
                        certainty=Certainty.LIKELY,
                        measured=ratio,
                        limit=max_ratio,
                        ratio=f"{ratio:.3g}",
                    )
                    return
    yield undecided("ds_03.script.only_the_data")


@check("ds.03", decides=False)
def from_script_and_run(script: Script, run: Run, *, max_ratio: float = 10.0) -> Iterator[Finding]:
    """Classes that a run has counted, where only the script shows that its loss makes nothing up for them."""
    trace = script.trace
    counted = [finding for finding in from_run(run, max_ratio=max_ratio) if finding.conclusion is Conclusion.SUSPECT]
    losses = [(loop, event) for loop in training_loops(trace) for event in loop.of(Role.LOSS) if _knows_classes(event)]
    if not counted or not losses or any(True for _ in _handled(trace)):
        yield undecided("ds_03.script.only_the_data")
        return
    loop, _ = losses[0]
    place = loop.loader.event.place if isinstance(loop.loader, Made) else loop.scope.place
    yield found(
        "ds_03.script.uneven",
        place,
        measured=counted[0].measured,
        limit=max_ratio,
        evidence=counted[0].evidence,
        ratio=f"{counted[0].measured:.3g}",
    )


def _knows_classes(event: Event) -> bool:
    last = event.name.removesuffix(".__call__").rpartition(".")[2]
    return last in names_of(Trait.CLASS_LOSS, Trait.CLASS_WEIGHTS)


def _handled(trace: Trace) -> Iterator[Location]:
    """Samplers that balance, and losses with weights."""
    for event in trace.events:
        last = event.name.removesuffix(".__call__").rpartition(".")[2]
        own = any(isinstance(event.arg(None, name), Instance) for name in ("sampler", "batch_sampler"))
        if last in _BALANCING or "Focal" in last or own or (_is_loss(event) and _is_weighted(event)):
            yield event.place


def _is_weighted(event: Event) -> bool:
    if any(_is_some(event.arg(None, name)) for name in _WEIGHTS):
        return True
    first = event.arg(0 if event.method[:1].isupper() else 2)
    return event.receiver is None and first is not None and not isinstance(first, Const)


def _is_loss(event: Event) -> bool:
    return event.name.rpartition(".")[2] in _LOSSES


def _is_some(value: Value | None) -> bool:
    return value is not None and not (isinstance(value, Const) and value.value is None)


@walk(None)
def _ratio(value: Value | None, trace: Trace) -> float | None:
    """How many more there are of the most frequent class than of the rarest, where the source says so."""
    value = plain(value)
    if value is None:
        return None
    if isinstance(value, Item):
        return _ratio(value.of, trace)
    if isinstance(value, Attribute):
        return None
    if isinstance(value, Made) and value.event.method in ("repeat", "repeat_interleave"):
        counts = value.event.arg(1 if value.event.receiver is None or len(value.event.args) > 1 else 0, "repeats")
        if isinstance(counts, Seq) and not counts.open and len(counts.items) > 1:
            numbers = [constant(number) for number in counts.items]
            if all(isinstance(number, int) and number > 0 for number in numbers):
                return float(max(numbers) / min(numbers))
        return None
    if isinstance(value, Derived) and len(value.of) == 2:
        return _of_comparison(value)
    return None


def _of_comparison(value: Derived) -> float | None:
    """``rand(n) < 0.05`` and ``arange(n) % 16 == 0``."""
    left, right = value.of[0], constant(value.of[1])
    drawn = isinstance(left, Made) and left.event.method in functions_of(Trait.DRAWS_UNIFORM)
    if value.op in ("Lt", "Gt", "LtE", "GtE") and drawn and isinstance(right, float) and 0 < right < 1:
        return max(right, 1 - right) / min(right, 1 - right)
    if value.op == "Eq" and isinstance(left, Derived) and left.op == "Mod" and isinstance(right, int):
        number = constant(left.of[1])
        return float(number - 1) if isinstance(number, int) and number > 1 else None
    return None
