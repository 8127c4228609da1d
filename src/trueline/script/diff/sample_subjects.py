"""What differences in how samples are made, read and prepared are about."""

from __future__ import annotations

import math
import re
from typing import Final

from trueline.apitable.functions import words_of
from trueline.apitable.traits import Trait
from trueline.script.diff.contexts import Contexts, data_function
from trueline.script.diff.difference import Difference, Kind, Node
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


def samples(difference: Difference, around: Surroundings) -> Subject | None:
    """Everything that samples are made with."""
    if difference.kind in (Kind.SHARED, Kind.APART, Kind.ORDER, Kind.CONDITION):
        return None
    if (
        difference.owner is not None
        and difference.owner[0].method == "__setitem__"
        and _is_filled(difference.owner[0].receiver)
    ):
        return _written_otherwise(difference)
    if (
        difference.mine is not None
        and difference.mine.event is not None
        and difference.mine.event.method == "__setitem__"
    ):
        return _written(difference.mine.event, around.mine) if difference.kind is Kind.EXTRA else None
    if not _is_of_data(difference, around):
        return None
    if (
        difference.kind in (Kind.SETTING, Kind.REPLACED)
        and around.is_of_training(difference)
        and _goes_into_evaluation(difference, around)
    ):
        return Subject.HELD_OUT_SAMPLES
    word = _word(difference)
    owner = word_of(difference.owner[0].name) if difference.owner is not None else ""
    if owner in _PADDED and difference.kind is Kind.SETTING and difference.argument in (
        "padding_value", "padding_side", "batch_first", "1", "fill_value", "value", "constant_values"):  # fmt: skip
        return Subject.PADDING if difference.argument != "batch_first" else None
    if difference.kind is Kind.SETTING and _is_filling(difference):
        return Subject.PADDING
    if owner == "glob" or owner == "listdir":
        return Subject.SAMPLES
    if (word == "index" and difference.kind is not Kind.REPLACED) or "index" in difference.path:
        return _picked(difference, around)
    if owner in _SEEDS and difference.kind is Kind.SETTING:
        return _another(difference, around)
    if (
        difference.kind is Kind.SETTING
        and (owner in _DRAWN or _numbers(difference))
        and owner not in _SCALING_STEPS | words_of(Trait.RESIZES)
    ):
        return _another(difference, around) if owner in _DRAWN else None
    if _is_label(difference, around):
        return _label(difference)
    if word in _REPEATED and difference.kind in (Kind.EXTRA, Kind.REPLACED):
        return Subject.CLASS_BALANCE
    if _RANDOM.search(word) and difference.kind is Kind.EXTRA:
        return Subject.EVALUATION_AUGMENTATION if _only_evaluated(difference, around) else None
    if word in _SCALES or owner in _SCALING_STEPS or set(difference.path) & {"Sub", "Div"}:
        return _scaled(difference, around)
    if difference.kind is Kind.EXTRA and word in words_of(Trait.ROUNDS, Trait.CLAMPS):
        return Subject.SAMPLES
    return None


def _is_filled(value: Value | None) -> bool:
    """Whether an array was made of one number, to be written into."""
    return any(isinstance(link, Made) and word_of(link.name) in _FILLED for link in _chain(value))


def _scaled(difference: Difference, around: Surroundings) -> Subject | None:
    """Shifting and scaling of inputs: of all samples, or of those that are evaluated only."""
    if difference.kind is Kind.SETTING and not _numbers(difference):
        return None
    return Subject.EVALUATION_SCALE if _only_evaluated(difference, around) else Subject.INPUT_SCALE


def _goes_into_evaluation(difference: Difference, around: Surroundings) -> bool:
    """Whether what differs is handed to what is evaluated, and not to what is trained."""
    owner = difference.owner[0] if difference.owner is not None else None
    if owner is None:
        return False
    if difference.mine is not None and id(difference.mine.value) in around.mine.train_values:
        return True
    if id(owner.result) in around.mine.of_training or id(owner) in around.mine.train_loaders:
        return False
    return id(owner.result) in around.mine.of_evaluation or not around.mine.is_in_training(owner)


def _only_evaluated(difference: Difference, around: Surroundings) -> bool:
    """Whether what differs is no part of what is trained on, of the one that has it."""
    node, side = (difference.bench, around.bench) if difference.kind is Kind.MISSING else (difference.mine, around.mine)
    owner = difference.owner[0 if side is around.mine else 1] if difference.owner is not None else None
    if node is not None and id(node.value) in side.of_training:
        return False
    if node is not None and id(node.value) in side.of_evaluation:
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
    if labels and isinstance(value, Either) and any(isinstance(option, Const) for option in value.options):
        return Subject.CLASS_BALANCE
    if labels:
        return Subject.LABELS
    # Samples that are copied over others, whose labels stay.
    return Subject.LABELS if any(isinstance(part, Item) for part in ancestry(value, most=12)) else None


def _is_mark(value: Value | None) -> bool:
    if isinstance(value, Const):
        number = value.value
        if isinstance(number, int | float) and not isinstance(number, bool):
            return not math.isfinite(number) or abs(float(number)) in _MISSING_MARKS
        return False
    operation = operation_of(value)
    if operation is not None and operation[0] == "Div":
        divisor = plain(operation[1][-1])
        return isinstance(divisor, Const) and divisor.value == 0
    from trueline.script.values import Symbol

    return isinstance(value, Symbol) and value.name.rpartition(".")[2].lower() in words_of(Trait.NOT_FINITE)


def _written_otherwise(difference: Difference) -> Subject | None:
    """``x[:n] = tokens[:-1]``: another place is the padding's side, another part of the tokens a shift."""
    if difference.argument == "1":
        return Subject.PADDING
    if difference.argument == "2" and "index" in (*difference.path, _word(difference)):
        return Subject.LABEL_SHIFT
    return None


def _picked(difference: Difference, around: Surroundings) -> Subject | None:
    """Samples that are picked by an index, or another part of them."""
    index = (
        plain(difference.mine.value.index)
        if difference.mine is not None and isinstance(difference.mine.value, Item)
        else None
    )
    alike = [
        other_difference
        for other_difference in around.found
        if other_difference is not difference
        and other_difference.kind is difference.kind
        and other_difference.mine is not None
        and isinstance(other_difference.mine.value, Item)
        and other_difference.owner == difference.owner
    ]
    if difference.kind is Kind.SETTING:
        return _other_part(difference, around)
    if difference.kind is Kind.MISSING:
        return Subject.SHARDING if _is_shared_out(difference.bench) else Subject.SAMPLES
    if index is None:
        return None
    if _is_shared_out(difference.mine):
        return Subject.SHARDING
    if isinstance(index, Derived) and index.op == "Slice":
        differ = [other_difference for other_difference in alike if not _same_slice(difference, other_difference)]
        return Subject.LABEL_SHIFT if differ else Subject.SAMPLES
    if isinstance(index, Const):
        return None
    return Subject.CLASS_BALANCE


def _other_part(difference: Difference, around: Surroundings) -> Subject | None:
    if not _is_label(difference, around):
        return Subject.SAMPLES
    # Inputs and labels that are cut alike are other samples, and no shift.
    alike = [
        other_difference
        for other_difference in around.found
        if other_difference is not difference
        and other_difference.kind is Kind.SETTING
        and "index" in other_difference.path
        and _is_beside(difference, other_difference)
    ]
    return (
        Subject.SAMPLES
        if any(_same_slice(difference, other_difference) for other_difference in alike)
        else Subject.LABEL_SHIFT
    )


def _is_beside(first: Difference, second: Difference) -> bool:
    """Whether both stand in one line, or go into one call."""
    places = [
        difference.mine.place
        for difference in (first, second)
        if difference.mine is not None and difference.mine.place is not None
    ]
    return second.owner == first.owner or (
        len(places) == 2 and places[0].file == places[1].file and places[0].line == places[1].line
    )


def _same_slice(first: Difference, second: Difference) -> bool:
    bounds = []
    for difference in (first, second):
        index = (
            plain(difference.mine.value.index)
            if difference.mine is not None and isinstance(difference.mine.value, Item)
            else None
        )
        parts = [plain(part) for part in index.of] if isinstance(index, Derived) else []
        bounds.append([part.value if isinstance(part, Const) else type(part).__name__ for part in parts])
    return bounds[0] == bounds[1]


def _is_shared_out(node: Node | None) -> bool:
    """Whether an index goes by the number of a process or worker."""
    value = node.value if node is not None else None
    index = value.index if isinstance(value, Item) else None
    for part in ancestry(index, most=40):
        if isinstance(part, Unknown) and ("environment" in part.why or "rank" in part.why):
            return True
        if isinstance(part, Made) and word_of(part.name) in _OF_A_RANK:
            return True
    return False


def _label(difference: Difference) -> Subject | None:
    word = _word(difference)
    if word in ("roll", "Add", "Sub", "Mod"):
        return Subject.LABEL_SHIFT
    if word in _REPEATED:
        return Subject.CLASS_BALANCE
    return None


def _another(difference: Difference, around: Surroundings) -> Subject | None:
    """Other samples are drawn: by another seed, or another number of them; those of training are no new ones."""
    if difference.owner is None:
        return None
    return Subject.HELD_OUT_SAMPLES if _repeats_training(difference.owner[0], around.mine) else Subject.DRAWN_SAMPLES


def _repeats_training(event: Event, side: Contexts) -> bool:
    """Whether the same place has drawn the same for training already."""
    for other_event in side.script.trace.events:
        if (
            other_event is not event
            and other_event.place == event.place
            and other_event.name == event.name
            and other_event.index < event.index
        ):
            same = [getattr(plain(a), "value", None) == getattr(plain(b), "value", object()) for a, b in
                    zip(other_event.args, event.args, strict=False) if isinstance(plain(b), Const)]  # fmt: skip
            if same and all(same):
                return True
    return False


# What a difference is about


def _word(difference: Difference) -> str:
    node = difference.bench if difference.kind is Kind.MISSING else difference.mine
    return node.name if node is not None else ""


def _is_of_data(difference: Difference, around: Surroundings) -> bool:
    for node, side in ((difference.mine, around.mine), (difference.bench, around.bench)):
        if node is not None and node.value is not None and not isinstance(node.value, Const):
            if id(node.value) in side.of_training or id(node.value) in side.of_evaluation:
                return True
            if node.event is not None and data_function(node.event) is not None:
                return True
    if difference.owner is None:
        return False
    owner = difference.owner[0]
    made = word_of(owner.name) in _HOLDING
    return made or around.mine.is_of_data(owner) or _first_input(difference, around)


def _first_input(difference: Difference, around: Surroundings) -> bool:
    """What goes into a network that the script calls itself, without a loader between."""
    owner = difference.owner[0] if difference.owner is not None else None
    if (
        owner is None
        or owner.role is not Role.FORWARD
        or around.mine.is_of_forward(owner)
        or difference.argument not in ("0", "input", "x")
    ):
        return False
    node = difference.mine or difference.bench
    return node is not None and not any(
        isinstance(value, Made) and value.event.role is Role.FORWARD for value in ancestry(node.value, most=200)
    )


def _is_label(difference: Difference, around: Surroundings) -> bool:
    node, side = (difference.bench, around.bench) if difference.kind is Kind.MISSING else (difference.mine, around.mine)
    if (
        difference.owner is not None
        and word_of(difference.owner[0].name) == "tensordataset"
        and difference.argument.isdigit()
    ):
        return int(difference.argument) > 0
    return node is not None and _is_label_value(node.value, side)


def _is_label_value(value: Value | None, side: Contexts) -> bool:
    chain = _chain(value)
    if any(id(link) in side.label_parts for link in chain[:2]):
        return True
    return any(id(link) in side.labels for link in chain) and not any(id(link) in side.inputs for link in chain[:1])


def _is_input_value(value: Value | None, side: Contexts) -> bool:
    chain = _chain(value)
    held = value.items if isinstance(value, Seq) else []
    return any(id(link) in side.inputs for link in (*chain, *held))


def _chain(value: Value | None) -> list[Value]:
    """A value and what it was made from, along what is done to it."""
    chain: list[Value] = []
    while value is not None and len(chain) < 8:
        chain.append(value)
        value = (
            plain(value)
            if plain(value) is not value
            else input_of(value.event)
            if isinstance(value, Made)
            else value.of
            if isinstance(value, Item)
            else None
        )
    return chain


def _is_filling(difference: Difference) -> bool:
    """Whether a number differs that something is made longer with."""
    for value in (difference.mine.value if difference.mine else None,):
        if isinstance(value, Const) and difference.owner is not None:
            for part in ancestry(*difference.owner[0].args, most=60):
                if isinstance(part, Seq) and part.kind == "repeated" and any(item is value for item in part.items):
                    return True
    return False


def _numbers(difference: Difference) -> bool:
    return len(difference.nodes) == 2 and all(isinstance(node.constant, int | float) for node in difference.nodes)
