"""What differences inside of networks, and on the way from them to the loss, are about."""

from __future__ import annotations

import re
from typing import Final

from trueline.apitable.functions import words_of
from trueline.apitable.traits import Trait
from trueline.script.diff.difference import Difference, Kind, Node
from trueline.script.diff.naming import is_half, word_of
from trueline.script.diff.subject import Subject
from trueline.script.diff.surroundings import Surroundings
from trueline.script.roles import Role, is_loss_name, is_network
from trueline.script.values import Attribute, Const, Made, ancestry

_AXES: Final = ("dim", "axis", "axes", "dims", "start_dim")
_MASKS: Final = re.compile(r"mask|pad(ding)?_?(value|idx)|lengths?|ignore_index|valid")
_WEIGHTS: Final = ("weight", "pos_weight", "class_weight", "weights")
_STARTS: Final = ("weight_init", "bias_init", "gamma_init", "beta_init", "embedding_table")
_STATISTICS: Final = ("track_running_stats", "use_batch_statistics", "training")
_CUTS: Final = words_of(Trait.CUTS_GRADIENT)
_SCORES: Final = words_of(Trait.SOFTMAX, Trait.LOG_SOFTMAX, Trait.SIGMOID, Trait.LOG_SIGMOID)
_RISKY: Final = words_of(Trait.LOG, Trait.EXPONENT, Trait.ROOT, Trait.RECIPROCAL, Trait.TO_FLOAT16) | {"std"}
_SHAPES: Final = words_of(Trait.VIEW) | {"expand", "T"}
_COVERS: Final = words_of(Trait.MASKS, Trait.PACKS_SEQUENCES)
_OVER_AN_AXIS: Final = words_of(Trait.SOFTMAX, Trait.LOG_SOFTMAX) | {"normalize"}
_MEANS: Final = words_of(Trait.MEAN, Trait.SUM, Trait.SIZE) | {"Mult", "Div", "cat"}
_SILENT: Final = ("device", "dtype", "inplace", "data_format", "name", "generator", "verbose", "auto_prefix")


def in_network(difference: Difference, around: Surroundings) -> Subject | None:
    """Layers, their settings, and what is done between them."""
    event, side = around.event_of(difference)
    if event is None or not (event.in_chain or side.is_of_forward(event) or _is_layer(difference)):
        return None
    if difference.kind in (Kind.SHARED, Kind.APART, Kind.CONDITION):
        return None
    if difference.kind is Kind.SETTING and "index" not in difference.path:
        if difference.argument == "activation" and any(
            around.has_activation(str(node.constant)) for node in difference.nodes
        ):
            return None
        return Subject.PADDING if set(difference.path) & {"Eq", "NotEq"} else _setting(difference)
    if difference.argument in _STATISTICS:
        return Subject.EVALUATION_BEHAVIOUR
    if _MASKS.search(difference.argument) or _is_mask(difference):
        return Subject.PADDING
    words = {node.name for node in _changed(difference)}
    if len(words) == 1 and around.has_activation(*words):
        return None
    risky = difference.kind is Kind.EXTRA and "Div" in words and _has_risky(difference, around)
    if _is_half(difference) or risky or (difference.kind is not Kind.MISSING and words & _RISKY):
        return Subject.NUMERIC_RANGE
    if words & _CUTS:
        return (
            (Subject.DETACHED_LOSS if _is_loss(difference) else Subject.TRAINED_PARAMETERS)
            if difference.kind is Kind.EXTRA
            else None
        )
    if "dropout" in words and difference.kind is not Kind.MISSING:
        return Subject.EVALUATION_BEHAVIOUR if _is_function(difference.mine, "dropout") else Subject.NETWORK
    if _softmax_over_batch(difference):
        return Subject.AXIS
    if words & _SCORES and _is_last(difference):
        return Subject.LOSS
    if words <= _SHAPES:
        return Subject.LOSS if _is_last(difference) else None
    if _is_tied_start(difference):
        return Subject.TIED_WEIGHTS
    if difference.argument in ("event", "object", "return", "said"):
        return None
    return Subject.NETWORK


def _setting(difference: Difference) -> Subject | None:
    """The argument of a layer or of a function in a network."""
    name = difference.argument
    owner = difference.owner[0] if difference.owner is not None else None
    if owner is None or name in _SILENT or name == "if":
        return None
    if _MASKS.search(name):
        return Subject.PADDING
    if name in _STATISTICS:
        return Subject.EVALUATION_BEHAVIOUR
    if name in _STARTS:
        return Subject.INITIAL_WEIGHTS if name in owner.kwargs else Subject.ARGUMENT
    if name in _AXES:
        return Subject.AXIS
    known = isinstance(owner.result, Made) and is_network(owner.result)
    if known or name in (
        "p",
        "eps",
        "momentum",
        "negative_slope",
        "alpha",
        "approximate",
        "stride",
        "padding",
        "reduction",
        "beta",
    ):
        return Subject.ARGUMENT if not name.isdigit() and not name.startswith("__") else None
    return None


def in_loss(difference: Difference, around: Surroundings) -> Subject | None:
    """What goes into the loss, the loss, and what is done to it before backward."""
    event, side = around.event_of(difference)
    owner = difference.owner[0] if difference.owner is not None else None
    if event is None or difference.kind in (Kind.SHARED, Kind.APART, Kind.CONDITION):
        return None
    is_loss = _is_loss(difference)
    on_the_way = is_loss or (owner is not None and owner.role is Role.BACKWARD) or _is_trained(difference, around)
    if not on_the_way or side.is_of_data(event) or around.is_of_data(difference):
        return None
    words = {node.name for node in _changed(difference)}
    if difference.kind is Kind.SETTING and "index" not in difference.path:
        return Subject.PADDING if set(difference.path) & {"Eq", "NotEq"} else _loss_setting(difference, is_loss)
    if difference.argument in _WEIGHTS and is_loss:
        return Subject.CLASS_BALANCE
    if words & _CUTS:
        return Subject.DETACHED_LOSS if difference.kind is Kind.EXTRA else None
    if _is_penalty(difference) or (owner is not None and owner.name == "mindspore.grad"):
        return Subject.GRADIENT_PENALTY if difference.kind is not Kind.MISSING else None
    if "scale" in words:
        return Subject.LOSS_SCALE if difference.kind is Kind.MISSING else None
    if _is_half(difference) or (
        difference.kind is not Kind.MISSING and (words & _RISKY or _has_risky(difference, around))
    ):
        return Subject.NUMERIC_RANGE
    divided = owner is not None and (owner.role is Role.BACKWARD or difference.argument == "return")
    if difference.kind is Kind.MISSING and words == {"Div"} and divided:
        return Subject.ACCUMULATION
    if "index" in difference.path or "index" in words:
        return Subject.LABEL_SHIFT if difference.argument in ("1", "target", "labels", "label") else None
    if (words <= _SHAPES and not is_loss) or difference.argument in ("event", "said"):
        return None
    return Subject.LOSS


def _is_loss(difference: Difference) -> bool:
    return any(is_loss_name(event.name) for event in difference.owner or ())


def _is_tied_start(difference: Difference) -> bool:
    """A layer that starts with another one's weights, where the benchmark has those."""
    event = difference.mine.event if difference.mine is not None else None
    layer = event.receiver if event is not None else None
    if difference.kind is not Kind.REPLACED or not isinstance(layer, Made):
        return False
    start = layer.event.arg(2, "weight_init")
    return any(
        isinstance(value, Attribute) and value.name in ("weight", "embedding_table")
        for value in ancestry(start, most=12)
    )


def _loss_setting(difference: Difference, is_loss: bool) -> Subject | None:
    name = difference.argument
    if _MASKS.search(name):
        return Subject.PADDING
    if name in _SILENT or not is_loss:
        return None
    return Subject.ARGUMENT if not name.isdigit() else None


def in_scores(difference: Difference, around: Surroundings) -> Subject | None:
    """What is measured of a network's answers: along which axis, and over how many samples."""
    event, side = around.event_of(difference)
    if event is None or side.is_of_data(event) or difference.kind in (Kind.SHARED, Kind.APART):
        return None
    if difference.kind is Kind.SETTING and difference.argument in _AXES:
        return Subject.AXIS
    if difference.kind is Kind.EXTRA and _softmax_over_batch(difference):
        return Subject.AXIS
    return None


def means(difference: Difference, around: Surroundings) -> Subject | None:
    """Means over an evaluation, as they are returned or printed."""
    if difference.argument not in ("return", "said") or difference.kind in (Kind.SHARED, Kind.APART, Kind.CONDITION):
        return None
    words = {node.name for node in _changed(difference)} | set(difference.path)
    if not words & _MEANS:
        return None
    return Subject.MEAN if _is_measured(difference, around) else None


def _is_measured(difference: Difference, around: Surroundings) -> bool:
    """Whether it is made of what a network gives without being trained."""
    for node, side in ((difference.mine, around.mine), (difference.bench, around.bench)):
        if node is None:
            continue
        if id(node.value) in side.trained:
            return False
    values = [value for owner in difference.owner or () for value in ancestry(*owner.args, most=600)]
    values += [value for node in difference.nodes for value in ancestry(node.value, most=300)]
    if difference.argument == "return":
        name = difference.path[0].removeprefix("return ") if difference.path else ""
        return around.evaluates(name)
    return any(isinstance(value, Made) and value.event.role in (Role.FORWARD, Role.LOSS) for value in values)


def sharing(difference: Difference, around: Surroundings) -> Subject | None:
    """One set of weights where the benchmark has two, or the other way round."""
    if difference.kind not in (Kind.SHARED, Kind.APART) or difference.owner is None:
        return None
    mine = difference.mine.event if difference.mine is not None else None
    if (
        difference.kind is Kind.APART
        and around.is_built_later(difference)
        and around.later_subject(difference) == Subject.LOADED_WEIGHTS
    ):
        return Subject.LOADED_WEIGHTS
    if difference.kind is Kind.SHARED and around.lacks("deepcopy"):
        return None
    if around.loads_copy():
        return Subject.LOADED_WEIGHTS
    if mine is not None and around.mine.is_of_forward(mine):
        return Subject.UNUSED_WEIGHTS
    if difference.kind is Kind.APART and around.is_built_later(difference):
        return around.later_subject(difference)
    return Subject.SHARED_WEIGHTS


# What an operation is about


def _changed(difference: Difference) -> list[Node]:
    """The operations that one has and the other has not."""
    if difference.chain:
        return list(difference.chain)
    if difference.kind is Kind.EXTRA:
        return [difference.mine] if difference.mine is not None else []
    if difference.kind is Kind.MISSING:
        return [difference.bench] if difference.bench is not None else []
    return difference.nodes


def _is_layer(difference: Difference) -> bool:
    owner = difference.owner[0] if difference.owner is not None else None
    made = isinstance(owner.result, Made) and is_network(owner.result) if owner is not None else False
    return made and not is_loss_name(owner.name if owner is not None else "")


def _is_last(difference: Difference) -> bool:
    """Whether it is the last thing that a network does: its result goes into a loss or a measure."""
    if difference.owner is None:
        return False
    owner = difference.owner[0]
    return (
        is_loss_name(owner.name)
        or owner.role is Role.LOSS
        or word_of(owner.name) in (words_of(Trait.PLACES) | {"topk", "backward"})
    )


def _is_mask(difference: Difference) -> bool:
    words = {node.name for node in _changed(difference)}
    if words & (_COVERS | {"where", "fulllike"}) and difference.kind is not Kind.SETTING:
        return "where" not in words
    owner = difference.owner[0] if difference.owner is not None else None
    return owner is not None and word_of(owner.name) in (_COVERS | words_of(Trait.PADS_SEQUENCES))


def _is_half(difference: Difference) -> bool:
    return (
        any(node.event is not None and is_half(node.event) for node in _changed(difference))
        and difference.kind is not Kind.MISSING
    )


def _has_risky(difference: Difference, around: Surroundings) -> bool:
    """Whether what was put in has a logarithm, a root or half precision in it that the benchmark has not."""
    if difference.mine is None:
        return False
    known = around.comparing.aligned.bench_of
    return any(
        isinstance(value, Made) and word_of(value.name) in _RISKY and id(value.event) not in known
        for value in ancestry(difference.mine.value, most=60)
    )


def _is_penalty(difference: Difference) -> bool:
    if difference.mine is None or difference.kind is not Kind.EXTRA:
        return False
    return any(
        isinstance(value, Made) and (value.name == "torch.autograd.grad" or value.event.role is Role.BACKWARD)
        for value in ancestry(difference.mine.value, most=80)
    )


def _softmax_over_batch(difference: Difference) -> bool:
    """A softmax along the first axis."""
    if difference.mine is None:
        return False
    for value in ancestry(difference.mine.value, most=12):
        if isinstance(value, Made) and word_of(value.name) in _OVER_AN_AXIS:
            axis = value.event.arg(1, "dim", "axis")
            return isinstance(axis, Const) and axis.value == 0
    return False


def _is_function(node: Node | None, word: str) -> bool:
    return (
        node is not None and node.event is not None and not node.event.name.endswith(".__call__") and node.name == word
    )


def _is_trained(difference: Difference, around: Surroundings) -> bool:
    return any(
        node.value is not None and id(node.value) in side.trained
        for node, side in ((difference.mine, around.mine), (difference.bench, around.bench))
        if node is not None
    )
