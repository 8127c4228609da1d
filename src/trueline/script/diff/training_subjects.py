"""What differences of loaders, optimizers, schedules, starts and steps are about."""

from __future__ import annotations

import re
from typing import Final

from trueline.apitable.functions import words_of
from trueline.apitable.layers import tensor_names
from trueline.apitable.traits import Trait
from trueline.script.diff.difference import Difference, Kind
from trueline.script.diff.naming import word_of
from trueline.script.diff.subject import Subject
from trueline.script.diff.surroundings import Surroundings
from trueline.script.roles import Role, is_network
from trueline.script.trace import Event
from trueline.script.values import (
    Attribute,
    Const,
    Made,
    Seq,
    Symbol,
    Table,
    Unknown,
    Value,
    ancestry,
)

_RATES: Final = ("lr", "learning_rate", "max_lr", "base_lr", "peak_lr", "peak", "lr_max")
_SPANS: Final = re.compile(r"total|t_max|max_steps|num_training_steps|steps_per_epoch|warmup|step_size|milestones")
_LOADS: Final = words_of(Trait.LOADS_WEIGHTS)
_GROUPS: Final = ("weight_decay",)


def rate(difference: Difference, _: Surroundings) -> Subject | None:
    """The learning rate, and what it follows."""
    owner = _owner(difference)
    if owner is None or not _is_rate(difference, owner):
        return None
    if difference.kind is Kind.SETTING and difference.numbers is not None:
        return Subject.LEARNING_RATE
    if (
        owner.role is Role.BUILD_OPTIMIZER
        and difference.bench is not None
        and not isinstance(difference.bench.value, Const)
    ):
        return Subject.SCHEDULE
    return None


def _is_rate(difference: Difference, owner: Event) -> bool:
    name = _named(difference, owner)
    return name in _RATES and (
        owner.role in (Role.BUILD_OPTIMIZER, Role.BUILD_SCHEDULER) or owner.method == "__setattr__"
    )


def _named(difference: Difference, owner: Event) -> str:
    """The argument's name, or the attribute's that is set."""
    if owner.method == "__setattr__" and owner.args and isinstance(owner.args[0], Const):
        return str(owner.args[0].value).lstrip("_")
    return difference.argument


def schedule(difference: Difference, _: Surroundings) -> Subject | None:
    """How long a schedule is, and whether it is stepped."""
    owner = _owner(difference)
    if difference.kind is Kind.MISSING and difference.argument == "event" and _role(difference) is Role.SCHEDULER_STEP:
        return Subject.SCHEDULE
    if owner is None or difference.kind is not Kind.SETTING or difference.numbers is None:
        return None
    bases = owner.name.startswith("mindspore.nn.learning_rate_schedule")
    if (owner.role is Role.BUILD_SCHEDULER or bases) and _SPANS.search(_named(difference, owner).lower()):
        return Subject.SCHEDULE_LENGTH
    return None


def groups(difference: Difference, around: Surroundings) -> Subject | None:
    """Which weights an optimizer is given, and what it does to each group."""
    owner = _owner(difference)
    if owner is None:
        return None
    if owner.role is not Role.BUILD_OPTIMIZER:
        return _of_parameters(difference, around, owner)
    if difference.argument == "loss_scale":
        return Subject.LOSS_SCALE
    if difference.argument in _GROUPS:
        return (
            Subject.PARAMETER_GROUPS if _has_groups(owner, difference.owner[1] if difference.owner else owner) else None
        )
    if difference.argument != "params":
        return None
    if "test" in difference.path:
        return Subject.PARAMETER_GROUPS if _has_groups(owner) else None
    bench = difference.bench.value if difference.bench is not None else None
    mine = difference.mine.value if difference.mine is not None else None
    if difference.kind is Kind.MISSING and isinstance(bench, Table):
        return Subject.TRAINED_PARAMETERS
    if isinstance(bench, Seq) and any(isinstance(part, Table) for part in bench.items):
        return Subject.PARAMETER_GROUPS
    if difference.kind is Kind.EXTRA and difference.mine is not None and difference.mine.name == "index":
        return Subject.TRAINED_PARAMETERS
    if difference.kind in (Kind.EXTRA, Kind.REPLACED) and _given_networks(mine) > _given_networks(bench):
        return Subject.UNUSED_WEIGHTS
    return None


def _of_parameters(difference: Difference, around: Surroundings, owner: Event) -> Subject | None:
    """``layer.parameters()`` instead of ``network.parameters()``."""
    if word_of(owner.name) not in ("parameters", "trainableparams") or difference.kind is not Kind.REPLACED:
        return None
    return Subject.TRAINED_PARAMETERS if around.is_given_to_optimizer(owner) else None


def _given_networks(value: Value | None) -> int:
    return len(
        {
            id(part.event.receiver)
            for part in ancestry(value, most=100)
            if isinstance(part, Made)
            and word_of(part.name) in ("parameters", "trainableparams")
            and is_network(part.event.receiver)
        }
    )


def _has_groups(*events: Event) -> bool:
    for event in events:
        given = event.arg(0, "params")
        if isinstance(given, Seq) and any(isinstance(value, Table) for value in given.items):
            return True
    return False


def loading(difference: Difference, around: Surroundings) -> Subject | None:
    """Batches and their order, shards, and what workers do."""
    owner = _owner(difference)
    step = _pipeline_step(difference)
    if step is not None or owner is None:
        return step
    if not (owner.role is Role.BUILD_LOADER or word_of(owner.name) in ("batch", "distributedsampler")):
        return None
    trains = id(owner) in around.mine.train_loaders
    if difference.argument in ("num_shards", "shard_id", "num_replicas", "rank"):
        return Subject.SHARDING
    if difference.argument in ("batch_size",) or (
        word_of(owner.name) == "batch" and difference.argument in ("1", "batch_size")
    ):
        return _batch(difference) if trains else None
    if difference.argument == "shuffle":
        off = difference.mine is None or difference.mine.constant in (None, False)
        sampler = any(known.argument == "sampler" for known in around.found)
        return (
            Subject.ORDER
            if trains and off and not sampler and _is_true(difference.bench.value if difference.bench else None)
            else None
        )
    if difference.argument == "sampler":
        return _sampler(difference) if trains else None
    if difference.argument == "worker_init_fn":
        return Subject.WORKERS if difference.kind is not Kind.MISSING else None
    return None


def _sampler(difference: Difference) -> Subject | None:
    names = [node.name for node in difference.nodes]
    if "weightedrandomsampler" in names[-1:]:
        return Subject.CLASS_BALANCE
    return Subject.ORDER if difference.mine is not None and difference.mine.name == "sequentialsampler" else None


def _batch(difference: Difference) -> Subject | None:
    if difference.numbers is not None:
        return Subject.BATCH_SIZE
    whole = difference.mine is not None and difference.mine.name in ("len", "getdatasetsize")
    return Subject.FULL_BATCH if whole else None


def _pipeline_step(difference: Difference) -> Subject | None:
    """A step of a pipeline that only one of them has."""
    node = difference.bench if difference.kind is Kind.MISSING else difference.mine
    if node is None or node.event is None:
        return None
    if difference.kind is Kind.MISSING and node.name == "shuffle":
        return Subject.ORDER
    if difference.kind is Kind.MISSING and node.name == "sorted":
        return Subject.SHARDING if _lists_files(node.value) else None
    if difference.kind is Kind.MISSING and node.name == "deepcopy":
        return Subject.SHARED_WEIGHTS if is_network(node.event.arg(0, "x")) else None
    if difference.kind is Kind.EXTRA and node.name == "repeated":
        return Subject.SHARED_WEIGHTS
    if difference.kind is Kind.MISSING and node.name == "setepoch":
        return Subject.SHARDING
    if difference.kind is Kind.MISSING and node.name == "distributeddataparallel":
        return Subject.RANKS
    return None


def _lists_files(value: Value | None) -> bool:
    return any(
        isinstance(part, Made) and word_of(part.name) in words_of(Trait.LISTS_FILES) for part in ancestry(value, most=8)
    )


def epochs(difference: Difference, around: Surroundings) -> Subject | None:
    """How often the data is gone through."""
    owner = _owner(difference)
    if owner is None or difference.kind is not Kind.SETTING or difference.numbers is None:
        return None
    counts = around.mine.is_epoch_range(owner) or difference.argument in (
        "num_epochs",
        "max_epochs",
        "num_train_epochs",
    )
    trained = owner.name.startswith(
        ("mindspore.train.Model.train", "mindspore.train.Model.fit")
    ) and difference.argument in (
        "1",
        "epoch",
    )
    return Subject.EPOCHS if counts or trained else None


def scaling(difference: Difference, around: Surroundings) -> Subject | None:
    """The loss scale and half precision."""
    owner = _owner(difference)
    if owner is not None and word_of(owner.name) in words_of(Trait.LOSS_SCALER):
        return Subject.LOSS_SCALE if difference.argument not in ("device",) else None
    if difference.argument in ("loss_scale_manager", "loss_scale"):
        return Subject.LOSS_SCALE
    if (
        owner is not None
        and word_of(owner.name) == "autocast"
        and difference.argument == "dtype"
        and difference.mine is not None
    ):
        return (
            Subject.LOSS_SCALE
            if isinstance(difference.mine.value, Symbol)
            and difference.mine.value.name.endswith("float16")
            and "bfloat" not in difference.mine.value.name
            else None
        )
    if difference.kind is Kind.EXTRA and difference.mine is not None and difference.mine.name == "tofloat":
        return Subject.LOSS_SCALE
    if difference.kind is Kind.EXTRA and difference.mine is not None and difference.mine.event is not None:
        clipped = difference.mine.event.role is Role.CLIP and owner is not None and owner.role is Role.UNSCALE
        return Subject.CLIPPING if clipped else None
    if difference.kind is Kind.MISSING and difference.bench is not None and difference.bench.event is not None:
        if difference.bench.event.role is Role.UNSCALE:
            clips = difference.argument == "event" or (owner is not None and owner.role is Role.CLIP)
            return Subject.LOSS_SCALE if around.lacks("scale") else Subject.CLIPPING if clips else None
        if difference.bench.event.role is Role.SCALER_UPDATE:
            return Subject.LOSS_SCALE
    return None


def steps(difference: Difference, around: Surroundings) -> Subject | None:
    """What a step of training does that nothing takes a result from."""
    if difference.kind is Kind.CONDITION:
        return _condition(difference)
    owner = _owner(difference)
    if owner is not None and word_of(owner.name) in ("settrain", "train") and is_network(owner.receiver):
        return Subject.MODE if difference.kind is Kind.SETTING and difference.argument in ("1", "mode") else None
    if difference.argument != "event":
        return None
    if difference.kind is Kind.MISSING and difference.bench is not None and difference.bench.event is not None:
        role = difference.bench.event.role
        if role is Role.ZERO_GRAD:
            return None if around.clears_gradients() else Subject.CLEARED_GRADIENTS
        if role in (Role.EVAL_MODE, Role.TRAIN_MODE):
            return Subject.MODE
        if difference.bench.name == "assign" and around.bench.is_in_training(difference.bench.event):
            return Subject.CLEARED_GRADIENTS
        if difference.bench.name in _LOADS:
            return Subject.LOADED_WEIGHTS
    return None


_TURNED: Final = {
    Role.TRAIN_MODE: Subject.MODE,
    Role.EVAL_MODE: Subject.MODE,
    Role.ZERO_GRAD: Subject.CLEARED_GRADIENTS,
    Role.STEP: Subject.SCHEDULE,
    Role.UNSCALE: Subject.CLIPPING,
}


def turned(difference: Difference, around: Surroundings) -> Subject | None:
    """What is done in another order, or once instead of again and again."""
    if (
        difference.kind is not Kind.ORDER
        or difference.mine is None
        or difference.mine.event is None
        or difference.mine.event.role is None
    ):
        return None
    role = difference.mine.event.role
    if difference.argument == "loop":
        return _TURNED[role] if role in (Role.TRAIN_MODE, Role.ZERO_GRAD) else None
    if role is Role.ZERO_GRAD and not around.is_cleared_before_step(difference.mine.event):
        return None
    return _TURNED.get(role)


def _condition(difference: Difference) -> Subject | None:
    test = difference.mine.value if difference.mine is not None else None
    if test is None or difference.owner is None:
        return None
    if any(_is_rank(value) for value in ancestry(test, most=30)):
        return Subject.RANKS
    return None


def _is_rank(value: Value) -> bool:
    if isinstance(value, Made):
        return word_of(value.name) in words_of(Trait.OWN_RANK, Trait.WORLD_SIZE)
    if isinstance(value, Const):
        return isinstance(value.value, str) and value.value in ("RANK", "LOCAL_RANK", "RANK_ID")
    return isinstance(value, Unknown) and "rank" in value.why.lower()


def starts(difference: Difference, _: Surroundings) -> Subject | None:
    """How weights begin, which of them are one, and what is loaded into them."""
    if difference.argument == "unused":
        return Subject.UNUSED_WEIGHTS
    node = difference.mine if difference.kind is not Kind.MISSING else difference.bench
    owner = _owner(difference)
    if owner is not None and word_of(owner.name) in _LOADS:
        return Subject.LOADED_WEIGHTS
    if node is None or node.event is None:
        return _tied(difference)
    event = node.event
    if event.name.startswith("torch.nn.init.") or event.name.startswith("mindspore.common.initializer"):
        return Subject.INITIAL_WEIGHTS if difference.kind is not Kind.MISSING else None
    if node.name == "setdata" and difference.kind is Kind.EXTRA:
        return Subject.INITIAL_WEIGHTS
    if event.method == "__setattr__" and difference.kind is Kind.EXTRA:
        return _set(event)
    return _tied(difference)


def _tied(difference: Difference) -> Subject | None:
    """A weight that was the weight of another layer in the benchmark."""
    bench = difference.bench.value if difference.bench is not None else None
    if difference.kind is not Kind.REPLACED or difference.mine is None or difference.mine.name != "parameter":
        return None
    if not isinstance(bench, Attribute):
        return None
    own = [value for value in ancestry(difference.mine.value, most=20) if isinstance(value, Attribute)]
    copied = any(value.name == bench.name for value in own) and not any(value.name == "shape" for value in own)
    return Subject.TIED_WEIGHTS if copied else Subject.SHARED_WEIGHTS


def _set(event: Event) -> Subject | None:
    """An attribute of a layer or network that the benchmark does not set."""
    name = event.args[0].value if event.args and isinstance(event.args[0], Const) else ""
    value = event.args[1] if len(event.args) > 1 else None
    if name == "requires_grad":
        return Subject.TRAINED_PARAMETERS if isinstance(value, Const) and value.value is False else None
    if name in tensor_names("linear", "embedding", "layernorm"):
        if isinstance(value, Attribute):
            return Subject.SHARED_WEIGHTS
        return Subject.TIED_WEIGHTS if isinstance(value, Made) and word_of(value.name) == "parameter" else None
    return None


def _role(difference: Difference) -> Role | None:
    return difference.bench.event.role if difference.bench is not None and difference.bench.event is not None else None


def _owner(difference: Difference) -> Event | None:
    return difference.owner[0] if difference.owner is not None else None


def _is_true(value: Value | None) -> bool:
    return not isinstance(value, Const) or bool(value.value)
