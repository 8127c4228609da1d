"""What differences in how samples are made, read and prepared are about."""

from __future__ import annotations

import math
import re
from typing import Final

from trueline.apitable.functions import words_of
from trueline.apitable.traits import Trait
from trueline.script.diff.contexts import Contexts, data_function
from trueline.script.diff.difference import Difference, Kind, Thing
from trueline.script.diff.naming import input_of, word_of
from trueline.script.diff.shapes import operation_of, plain
from trueline.script.diff.subject import Subject
from trueline.script.diff.surroundings import Surroundings
from trueline.script.roles import Role
from trueline.script.trace import Event
from trueline.script.values import Const, Derived, Either, Item, Made, Seq, Unknown, Value, ancestry

_SEEDS: Final = words_of(Trait.SEEDS, Trait.GENERATES)
_MIXED: Final = words_of(Trait.PERMUTES) | {"choice"}
_DRAWN: Final = _MIXED | words_of(
    *(Trait.DRAWS_NORMAL, Trait.DRAWS_UNIFORM, Trait.DRAWS_WHOLE, Trait.COUNTS_UP, Trait.EVENLY),
    *(Trait.FILLS, Trait.UNFILLED, Trait.CUMULATES),
)
_SCALING_STEPS: Final = words_of(Trait.STANDARDISES, Trait.SCALES_PIXELS)
_SCALES: Final = _SCALING_STEPS | words_of(Trait.SCALER, Trait.MEAN, Trait.DEVIATION) | {"Sub", "Div", "Mult"}
_FILLED: Final = words_of(Trait.FILLS, Trait.FILLS_LIKE, Trait.PADS)
_PADDED: Final = words_of(Trait.PADS, Trait.FILLS_VALUE)
_REPEATED: Final = words_of(Trait.REPEATS) | {"cat"}
_HOLDING: Final = words_of(Trait.HOLDS_SAMPLES, Trait.SAVES_ARRAYS) | {"map"}
_OF_A_RANK: Final = words_of(Trait.OWN_RANK, Trait.OWN_WORKER, Trait.WORLD_SIZE)
_MISSING_MARKS: Final = (999.0, 9999.0, 99999.0, 99.0)
_RANDOM: Final = re.compile(r"^random|jitter|mixup|cutout|autoaugment")


def samples(one: Difference, around: Surroundings) -> Subject | None:
    """Everything that samples are made with."""
    if one.kind is Kind.CONDITION:
        return _under_condition(one, around)
    if one.kind in (Kind.SHARED, Kind.APART, Kind.ORDER):
        return None
    if one.owner is not None and one.owner[0].method == "__setitem__" and _is_filled(one.owner[0].receiver):
        return _written_otherwise(one)
    if one.mine is not None and one.mine.event is not None and one.mine.event.method == "__setitem__":
        return _written(one.mine.event, around.mine) if one.kind is Kind.EXTRA else None
    if not _is_of_data(one, around):
        return None
    if one.kind in (Kind.SETTING, Kind.REPLACED) and around.is_of_training(one) and _goes_into_evaluation(one, around):
        return Subject.HELD_OUT_SAMPLES
    word = _word(one)
    owner = word_of(one.owner[0].name) if one.owner is not None else ""
    if owner in _PADDED and one.kind is Kind.SETTING and one.argument in (
        "padding_value", "padding_side", "batch_first", "1", "fill_value", "value", "constant_values"):  # fmt: skip
        return Subject.PADDING if one.argument != "batch_first" else None
    if one.kind is Kind.SETTING and _is_filling(one):
        return Subject.PADDING
    if "sorted" in word and one.kind is Kind.MISSING:
        return Subject.SHARDING
    if owner == "glob" or owner == "listdir":
        return Subject.SAMPLES
    if owner == "__setitem__":
        return _written_otherwise(one)
    if (word == "index" and one.kind is not Kind.REPLACED) or "index" in one.path:
        return _picked(one, around)
    if owner in _SEEDS and one.kind is Kind.SETTING:
        return _another(one, around)
    if (
        one.kind is Kind.SETTING
        and (owner in _DRAWN or _numbers(one))
        and owner not in _SCALING_STEPS | words_of(Trait.RESIZES)
    ):
        return _another(one, around) if owner in _DRAWN else None
    if _is_label(one, around):
        return _label(one)
    if word in ("roll",):
        return Subject.LABEL_SHIFT
    if word in _REPEATED and one.kind in (Kind.EXTRA, Kind.REPLACED):
        return Subject.CLASS_BALANCE
    if _RANDOM.search(word) and one.kind is Kind.EXTRA:
        return Subject.EVALUATION_AUGMENTATION if _only_evaluated(one, around) else None
    if word in _SCALES or owner in _SCALING_STEPS or set(one.path) & {"Sub", "Div"}:
        return _scaled(one, around)
    if one.kind is Kind.EXTRA and word in words_of(Trait.ROUNDS, Trait.CLAMPS):
        return Subject.SAMPLES
    return None


def _under_condition(one: Difference, around: Surroundings) -> Subject | None:
    """Some samples only: those that get a mark instead of values."""
    if one.mine is None or not _is_of_data(one, around):
        return None
    return Subject.MISSING_VALUES if any(_is_mark(value) for value in ancestry(one.mine.value, most=6)) else None


def _is_filled(value: Value | None) -> bool:
    """Whether an array was made of one number, to be written into."""
    return any(isinstance(one, Made) and word_of(one.name) in _FILLED for one in _chain(value))


def _scaled(one: Difference, around: Surroundings) -> Subject | None:
    """Shifting and scaling of inputs: of all samples, or of those that are evaluated only."""
    if one.kind is Kind.SETTING and not _numbers(one):
        return None
    return Subject.EVALUATION_SCALE if _only_evaluated(one, around) else Subject.INPUT_SCALE


def _goes_into_evaluation(one: Difference, around: Surroundings) -> bool:
    """Whether what differs is handed to what is evaluated, and not to what is trained."""
    owner = one.owner[0] if one.owner is not None else None
    if owner is None:
        return False
    if one.mine is not None and id(one.mine.value) in around.mine.train_values:
        return True
    if id(owner.result) in around.mine.of_training or id(owner) in around.mine.train_loaders:
        return False
    return id(owner.result) in around.mine.of_evaluation or not around.mine.is_in_training(owner)


def _only_evaluated(one: Difference, around: Surroundings) -> bool:
    """Whether what differs is no part of what is trained on, of the one that has it."""
    thing, side = (one.bench, around.bench) if one.kind is Kind.MISSING else (one.mine, around.mine)
    owner = one.owner[0 if side is around.mine else 1] if one.owner is not None else None
    if thing is not None and id(thing.value) in side.of_training:
        return False
    if owner is not None and (id(owner.result) in side.of_training or id(owner) in side.train_loaders):
        return False
    if owner is not None and side.is_in_training(owner) and not side.is_without_gradient(owner):
        return False
    if thing is not None and id(thing.value) in side.of_evaluation:
        return True
    if owner is not None and id(owner.result) in side.of_evaluation:
        return True
    return owner is not None and owner.role in (Role.FORWARD, Role.LOSS) and not side.is_in_training(owner)


def _written(event: Event, side: Contexts) -> Subject | None:
    """``x[3::40] = …``: what is put into the samples."""
    value = plain(event.args[1]) if len(event.args) > 1 else None
    labels = _is_label_value(event.receiver, side)
    if _is_mark(value) and not (labels and isinstance(value, Const)):
        return Subject.MISSING_VALUES
    if not (labels or _is_input_value(event.receiver, side)):
        return None
    if labels and isinstance(value, Either) and any(isinstance(one, Const) for one in value.options):
        return Subject.CLASS_BALANCE
    if labels:
        return Subject.LABELS
    # Samples that are copied over others, whose labels stay.
    return Subject.LABELS if any(isinstance(one, Item) for one in ancestry(value, most=12)) else None


def _is_mark(value: Value | None) -> bool:
    if isinstance(value, Const):
        number = value.value
        if isinstance(number, str):
            return number.lower().lstrip("+-") in words_of(Trait.NOT_FINITE)
        if isinstance(number, int | float) and not isinstance(number, bool):
            return not math.isfinite(number) or abs(float(number)) in _MISSING_MARKS
        return False
    operation = operation_of(value)
    if operation is not None and operation[0] == "Div":
        divisor = plain(operation[1][-1])
        return isinstance(divisor, Const) and divisor.value == 0
    from trueline.script.values import Symbol

    return isinstance(value, Symbol) and value.name.rpartition(".")[2].lower() in words_of(Trait.NOT_FINITE)


def _written_otherwise(one: Difference) -> Subject | None:
    """``x[:n] = tokens[:-1]``: another place is the padding's side, another part of the tokens a shift."""
    if one.argument == "1":
        return Subject.PADDING
    if one.argument == "2" and "index" in (*one.path, _word(one)):
        return Subject.LABEL_SHIFT
    return None


def _picked(one: Difference, around: Surroundings) -> Subject | None:
    """Samples that are picked by an index, or another part of them."""
    index = plain(one.mine.value.index) if one.mine is not None and isinstance(one.mine.value, Item) else None
    others = [
        other
        for other in around.found
        if other is not one
        and other.kind is one.kind
        and other.mine is not None
        and isinstance(other.mine.value, Item)
        and other.owner == one.owner
    ]
    if one.kind is Kind.SETTING:
        return _other_part(one, around)
    if one.kind is Kind.MISSING:
        return Subject.SHARDING if _is_shared_out(one.bench) else Subject.SAMPLES
    if index is None:
        return None
    if any(_is_random(value) for value in ancestry(index, most=30)):
        return Subject.LABELS if _is_label(one, around) else None
    if _is_shared_out(one.mine):
        return Subject.SHARDING
    if isinstance(index, Derived) and index.op == "Slice":
        differ = [other for other in others if not _same_slice(one, other)]
        return Subject.LABEL_SHIFT if differ else Subject.SAMPLES
    if isinstance(index, Const):
        return None
    return Subject.CLASS_BALANCE


def _other_part(one: Difference, around: Surroundings) -> Subject | None:
    if one.owner is not None and word_of(one.owner[0].name) == "subset":
        return Subject.SAMPLES
    if not _is_label(one, around):
        return Subject.SAMPLES
    # Inputs and labels that are cut alike are other samples, and no shift.
    alike = [
        other
        for other in around.found
        if other is not one and other.kind is Kind.SETTING and "index" in other.path and _is_beside(one, other)
    ]
    return Subject.SAMPLES if any(_same_slice(one, other) for other in alike) else Subject.LABEL_SHIFT


def _is_beside(one: Difference, other: Difference) -> bool:
    """Whether both stand in one line, or go into one call."""
    places = [each.mine.place for each in (one, other) if each.mine is not None and each.mine.place is not None]
    return other.owner == one.owner or (
        len(places) == 2 and places[0].file == places[1].file and places[0].line == places[1].line
    )


def _same_slice(one: Difference, other: Difference) -> bool:
    bounds = []
    for each in (one, other):
        index = plain(each.mine.value.index) if each.mine is not None and isinstance(each.mine.value, Item) else None
        parts = [plain(part) for part in index.of] if isinstance(index, Derived) else []
        bounds.append([part.value if isinstance(part, Const) else type(part).__name__ for part in parts])
    return bounds[0] == bounds[1]


def _is_shared_out(thing: Thing | None) -> bool:
    """Whether an index goes by the number of a process or worker."""
    value = thing.value if thing is not None else None
    index = value.index if isinstance(value, Item) else None
    for one in ancestry(index, most=40):
        if isinstance(one, Unknown) and ("environment" in one.why or "rank" in one.why):
            return True
        if isinstance(one, Made) and word_of(one.name) in _OF_A_RANK:
            return True
    return False


def _is_random(value: Value) -> bool:
    return isinstance(value, Made) and word_of(value.name) in _MIXED | words_of(Trait.SHUFFLES)


def _label(one: Difference) -> Subject | None:
    word = _word(one)
    if word in ("roll", "Add", "Sub", "Mod"):
        return Subject.LABEL_SHIFT
    if word in _MIXED:
        return Subject.LABELS
    if word in _REPEATED:
        return Subject.CLASS_BALANCE
    return None


def _another(one: Difference, around: Surroundings) -> Subject | None:
    """Other samples are drawn: by another seed, or another number of them; those of training are no new ones."""
    if one.owner is None:
        return None
    return Subject.HELD_OUT_SAMPLES if _repeats_training(one.owner[0], around.mine) else Subject.DRAWN_SAMPLES


def _repeats_training(event: Event, side: Contexts) -> bool:
    """Whether the same place has drawn the same for training already."""
    for other in side.script.trace.events:
        if other is not event and other.place == event.place and other.name == event.name and other.index < event.index:
            same = [getattr(plain(a), "value", None) == getattr(plain(b), "value", object()) for a, b in
                    zip(other.args, event.args, strict=False) if isinstance(plain(b), Const)]  # fmt: skip
            if same and all(same):
                return True
    return False


# What a difference is about


def _word(one: Difference) -> str:
    thing = one.bench if one.kind is Kind.MISSING else one.mine
    return thing.name if thing is not None else ""


def _is_of_data(one: Difference, around: Surroundings) -> bool:
    for thing, side in ((one.mine, around.mine), (one.bench, around.bench)):
        if thing is not None and thing.value is not None and not isinstance(thing.value, Const):
            if id(thing.value) in side.of_training or id(thing.value) in side.of_evaluation:
                return True
            if thing.event is not None and data_function(thing.event) is not None:
                return True
    if (
        one.path[:1]
        and one.path[0].startswith("return ")
        and one.path[0].endswith(("__getitem__", "__iter__", "__call__"))
    ):
        return not (one.owner is not None and one.owner[0].role is not None)
    if one.owner is None:
        return False
    owner = one.owner[0]
    made = word_of(owner.name) in _HOLDING
    return made or around.mine.is_of_data(owner) or _first_input(one, around)


def _first_input(one: Difference, around: Surroundings) -> bool:
    """What goes into a network that the script calls itself, without a loader between."""
    owner = one.owner[0] if one.owner is not None else None
    if (
        owner is None
        or owner.role is not Role.FORWARD
        or around.mine.is_of_forward(owner)
        or one.argument not in ("0", "input", "x")
    ):
        return False
    thing = one.mine or one.bench
    return thing is not None and not any(
        isinstance(value, Made) and value.event.role is Role.FORWARD for value in ancestry(thing.value, most=200)
    )


def _is_label(one: Difference, around: Surroundings) -> bool:
    thing, side = (one.bench, around.bench) if one.kind is Kind.MISSING else (one.mine, around.mine)
    if one.owner is not None and word_of(one.owner[0].name) == "tensordataset" and one.argument.isdigit():
        return int(one.argument) > 0
    return thing is not None and _is_label_value(thing.value, side)


def _is_label_value(value: Value | None, side: Contexts) -> bool:
    found = _chain(value)
    if any(id(one) in side.label_parts for one in found[:2]):
        return True
    return any(id(one) in side.labels for one in found) and not any(id(one) in side.inputs for one in found[:1])


def _is_input_value(value: Value | None, side: Contexts) -> bool:
    found = _chain(value)
    held = value.items if isinstance(value, Seq) else []
    return any(id(one) in side.inputs for one in (*found, *held))


def _chain(value: Value | None) -> list[Value]:
    """A value and what it was made from, along what is done to it."""
    found: list[Value] = []
    while value is not None and len(found) < 8:
        found.append(value)
        value = (
            plain(value)
            if plain(value) is not value
            else input_of(value.event)
            if isinstance(value, Made)
            else value.of
            if isinstance(value, Item)
            else None
        )
    return found


def _is_filling(one: Difference) -> bool:
    """Whether a number differs that something is made longer with."""
    for value in (one.mine.value if one.mine else None,):
        if isinstance(value, Const) and one.owner is not None:
            for part in ancestry(*one.owner[0].args, most=60):
                if isinstance(part, Seq) and part.kind == "repeated" and any(each is value for each in part.items):
                    return True
    return False


def _numbers(one: Difference) -> bool:
    return len(one.things) == 2 and all(isinstance(thing.constant, int | float) for thing in one.things)
