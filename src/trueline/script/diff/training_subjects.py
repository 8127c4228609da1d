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
    Instance,
    Made,
    Seq,
    Symbol,
    Table,
    Unknown,
    Value,
    ancestry,
    constant,
)

_RATES: Final = ("lr", "learning_rate", "max_lr", "base_lr", "peak_lr", "peak", "lr_max")
_SPANS: Final = re.compile(r"total|t_max|max_steps|num_training_steps|steps_per_epoch|warmup|step_size|milestones")
_LOADS: Final = words_of(Trait.LOADS_WEIGHTS)
_GROUPS: Final = ("weight_decay",)


def rate(one: Difference, _: Surroundings) -> Subject | None:
    """The learning rate, and what it follows."""
    owner = _owner(one)
    if owner is None or not _is_rate(one, owner):
        return None
    if one.kind is Kind.SETTING and one.numbers is not None:
        return Subject.LEARNING_RATE
    if owner.role is Role.BUILD_OPTIMIZER and one.bench is not None and not isinstance(one.bench.value, Const):
        return Subject.SCHEDULE
    return None


def _is_rate(one: Difference, owner: Event) -> bool:
    name = _named(one, owner)
    return name in _RATES and (
        owner.role in (Role.BUILD_OPTIMIZER, Role.BUILD_SCHEDULER) or owner.method == "__setattr__"
    )


def _named(one: Difference, owner: Event) -> str:
    """The argument's name, or the attribute's that is set."""
    if owner.method == "__setattr__" and owner.args and isinstance(owner.args[0], Const):
        return str(owner.args[0].value).lstrip("_")
    return one.argument


def schedule(one: Difference, _: Surroundings) -> Subject | None:
    """How long a schedule is, and whether it is stepped."""
    owner = _owner(one)
    if one.kind is Kind.MISSING and one.argument == "event" and _role(one) is Role.SCHEDULER_STEP:
        return Subject.SCHEDULE
    if owner is None or one.kind is not Kind.SETTING or one.numbers is None:
        return None
    bases = owner.name.startswith("mindspore.nn.learning_rate_schedule")
    if (owner.role is Role.BUILD_SCHEDULER or bases) and _SPANS.search(_named(one, owner).lower()):
        return Subject.SCHEDULE_LENGTH
    return None


def groups(one: Difference, around: Surroundings) -> Subject | None:
    """Which weights an optimizer is given, and what it does to each group."""
    owner = _owner(one)
    if owner is None:
        return None
    if owner.role is not Role.BUILD_OPTIMIZER:
        return _of_parameters(one, around, owner)
    if one.argument == "loss_scale":
        return Subject.LOSS_SCALE
    if one.argument in _GROUPS:
        return Subject.PARAMETER_GROUPS if _has_groups(owner, one.owner[1] if one.owner else owner) else None
    if one.argument != "params":
        return _left_out(one, owner)
    if "test" in one.path:
        return Subject.PARAMETER_GROUPS if _has_groups(owner) else None
    bench = one.bench.value if one.bench is not None else None
    mine = one.mine.value if one.mine is not None else None
    if one.kind is Kind.MISSING and isinstance(bench, Table):
        return Subject.TRAINED_PARAMETERS
    if isinstance(bench, Seq) and any(isinstance(part, Table) for part in bench.items):
        return Subject.PARAMETER_GROUPS
    if one.kind is Kind.EXTRA and one.mine is not None and one.mine.name == "index":
        return Subject.TRAINED_PARAMETERS
    if one.kind in (Kind.EXTRA, Kind.REPLACED) and _given_networks(mine) > _given_networks(bench):
        return Subject.UNUSED_WEIGHTS
    return None


def _left_out(one: Difference, owner: Event) -> Subject | None:
    """A setting that the benchmark gives and the script leaves to its default, which is another."""
    given = one.argument in owner.kwargs or owner.open or len(owner.args) > 1
    silent = ("maximize", "foreach", "fused", "capturable", "differentiable", "use_locking", *_RATES)
    if given or one.argument in silent or one.kind is not Kind.SETTING or one.bench is None:
        return None
    return Subject.ARGUMENT


def _of_parameters(one: Difference, around: Surroundings, owner: Event) -> Subject | None:
    """``layer.parameters()`` instead of ``network.parameters()``."""
    if word_of(owner.name) not in ("parameters", "trainableparams") or one.kind is not Kind.REPLACED:
        return None
    return Subject.TRAINED_PARAMETERS if around.is_given_to_optimizer(owner) else None


def _given_networks(value: Value | None) -> int:
    return len(
        {
            id(one.event.receiver)
            for one in ancestry(value, most=100)
            if isinstance(one, Made)
            and word_of(one.name) in ("parameters", "trainableparams")
            and is_network(one.event.receiver)
        }
    )


def _has_groups(*events: Event) -> bool:
    for event in events:
        given = event.arg(0, "params")
        if isinstance(given, Seq) and any(isinstance(one, Table) for one in given.items):
            return True
    return False


def loading(one: Difference, around: Surroundings) -> Subject | None:
    """Batches and their order, shards, and what workers do."""
    owner = _owner(one)
    step = _pipeline_step(one)
    if step is not None or owner is None:
        return step
    if not (owner.role is Role.BUILD_LOADER or word_of(owner.name) in ("batch", "distributedsampler")):
        return None
    trains = id(owner) in around.mine.train_loaders
    if one.argument in ("num_shards", "shard_id", "num_replicas", "rank"):
        return Subject.SHARDING
    if one.argument in ("batch_size",) or (word_of(owner.name) == "batch" and one.argument in ("1", "batch_size")):
        return _batch(one) if trains else None
    if one.argument == "shuffle":
        off = one.mine is None or one.mine.constant in (None, False)
        sampler = any(other.argument == "sampler" for other in around.found)
        return (
            Subject.ORDER
            if trains and off and not sampler and _is_true(one.bench.value if one.bench else None)
            else None
        )
    if one.argument == "sampler":
        return _sampler(one, shuffles=constant(owner.arg(2, "shuffle")) is True) if trains else None
    if one.argument == "worker_init_fn":
        return Subject.WORKERS if one.kind is not Kind.MISSING else None
    return None


def _sampler(one: Difference, *, shuffles: bool) -> Subject | None:
    names = [thing.name for thing in one.things]
    if "weightedrandomsampler" in names[-1:]:
        return Subject.CLASS_BALANCE
    if "distributedsampler" in names[-1:]:
        return Subject.SHARDING
    if (
        one.mine is not None
        and one.mine.constant is None
        and isinstance(one.bench.value if one.bench else None, Instance)
    ):
        # Who shuffles in place of a sampler of the project's own has lost what it balanced.
        return Subject.CLASS_BALANCE if shuffles else None
    return Subject.ORDER if one.mine is not None and one.mine.name == "sequentialsampler" else None


def _batch(one: Difference) -> Subject | None:
    if one.numbers is not None:
        return Subject.BATCH_SIZE
    whole = one.mine is not None and one.mine.name in ("len", "getdatasetsize")
    return Subject.FULL_BATCH if whole else None


def _pipeline_step(one: Difference) -> Subject | None:
    """A step of a pipeline that only one of them has."""
    thing = one.bench if one.kind is Kind.MISSING else one.mine
    if thing is None or thing.event is None:
        return None
    if one.kind is Kind.MISSING and thing.name == "shuffle":
        return Subject.ORDER
    if one.kind is Kind.MISSING and thing.name == "sorted":
        return Subject.SHARDING if _lists_files(thing.value) else None
    if one.kind is Kind.MISSING and thing.name == "deepcopy":
        return Subject.SHARED_WEIGHTS if is_network(thing.event.arg(0, "x")) else None
    if one.kind is Kind.EXTRA and thing.name == "repeated":
        return Subject.SHARED_WEIGHTS
    if one.kind is Kind.MISSING and thing.name == "setepoch":
        return Subject.SHARDING
    if one.kind is Kind.MISSING and thing.name == "distributedsampler":
        return Subject.SHARDING
    if one.kind is Kind.MISSING and thing.name == "distributeddataparallel":
        return Subject.RANKS
    return None


def _lists_files(value: Value | None) -> bool:
    return any(
        isinstance(one, Made) and word_of(one.name) in words_of(Trait.LISTS_FILES) for one in ancestry(value, most=8)
    )


def epochs(one: Difference, around: Surroundings) -> Subject | None:
    """How often the data is gone through."""
    owner = _owner(one)
    if owner is None or one.kind is not Kind.SETTING or one.numbers is None:
        return None
    counts = around.mine.is_epoch_range(owner) or one.argument in ("num_epochs", "max_epochs", "num_train_epochs")
    trained = owner.name.startswith(("mindspore.train.Model.train", "mindspore.train.Model.fit")) and one.argument in (
        "1",
        "epoch",
    )
    return Subject.EPOCHS if counts or trained else None


def scaling(one: Difference, around: Surroundings) -> Subject | None:
    """The loss scale and half precision."""
    owner = _owner(one)
    if owner is not None and word_of(owner.name) in words_of(Trait.LOSS_SCALER):
        return Subject.LOSS_SCALE if one.argument not in ("device",) else None
    if one.argument in ("loss_scale_manager", "loss_scale"):
        return Subject.LOSS_SCALE
    if owner is not None and word_of(owner.name) == "autocast" and one.argument == "dtype" and one.mine is not None:
        return (
            Subject.LOSS_SCALE
            if isinstance(one.mine.value, Symbol)
            and one.mine.value.name.endswith("float16")
            and "bfloat" not in one.mine.value.name
            else None
        )
    if one.kind is Kind.EXTRA and one.mine is not None and one.mine.name == "tofloat":
        return Subject.LOSS_SCALE
    if one.kind is Kind.EXTRA and one.mine is not None and one.mine.event is not None:
        clipped = one.mine.event.role is Role.CLIP and owner is not None and owner.role is Role.UNSCALE
        return Subject.CLIPPING if clipped else None
    if one.kind is Kind.MISSING and one.bench is not None and one.bench.event is not None:
        if one.bench.event.role is Role.UNSCALE:
            clips = one.argument == "event" or (owner is not None and owner.role is Role.CLIP)
            return Subject.LOSS_SCALE if around.lacks("scale") else Subject.CLIPPING if clips else None
        if one.bench.event.role is Role.SCALER_UPDATE:
            return Subject.LOSS_SCALE
    return None


def steps(one: Difference, around: Surroundings) -> Subject | None:
    """What a step of training does that nothing takes a result from."""
    if one.kind is Kind.CONDITION:
        return _condition(one)
    owner = _owner(one)
    if owner is not None and word_of(owner.name) in ("settrain", "train") and is_network(owner.receiver):
        return Subject.MODE if one.kind is Kind.SETTING and one.argument in ("1", "mode") else None
    if one.argument != "event":
        return None
    if one.kind is Kind.MISSING and one.bench is not None and one.bench.event is not None:
        role = one.bench.event.role
        if role is Role.ZERO_GRAD:
            return None if around.clears_gradients() else Subject.CLEARED_GRADIENTS
        if role in (Role.EVAL_MODE, Role.TRAIN_MODE):
            return Subject.MODE
        if one.bench.name == "assign" and around.bench.is_in_training(one.bench.event):
            return Subject.CLEARED_GRADIENTS
        if one.bench.name in _LOADS:
            return Subject.LOADED_WEIGHTS
    return None


_TURNED: Final = {
    Role.TRAIN_MODE: Subject.MODE,
    Role.EVAL_MODE: Subject.MODE,
    Role.ZERO_GRAD: Subject.CLEARED_GRADIENTS,
    Role.STEP: Subject.SCHEDULE,
    Role.UNSCALE: Subject.CLIPPING,
}


def turned(one: Difference, around: Surroundings) -> Subject | None:
    """What is done in another order, or once instead of again and again."""
    if one.kind is not Kind.ORDER or one.mine is None or one.mine.event is None or one.mine.event.role is None:
        return None
    role = one.mine.event.role
    if one.argument == "loop":
        return _TURNED[role] if role in (Role.TRAIN_MODE, Role.ZERO_GRAD) else None
    if role is Role.ZERO_GRAD and not around.is_cleared_before_step(one.mine.event):
        return None
    return _TURNED.get(role)


def _condition(one: Difference) -> Subject | None:
    test = one.mine.value if one.mine is not None else None
    if test is None or one.owner is None:
        return None
    if any(_is_rank(value) for value in ancestry(test, most=30)):
        return Subject.RANKS
    return None


def _is_rank(value: Value) -> bool:
    if isinstance(value, Made):
        return word_of(value.name) in words_of(Trait.OWN_RANK, Trait.WORLD_SIZE)
    if isinstance(value, Attribute):
        return "rank" in value.name
    if isinstance(value, Const):
        return isinstance(value.value, str) and value.value in ("RANK", "LOCAL_RANK", "RANK_ID")
    return isinstance(value, Unknown) and "rank" in value.why.lower()


def starts(one: Difference, _: Surroundings) -> Subject | None:
    """How weights begin, which of them are one, and what is loaded into them."""
    if one.argument == "unused":
        return Subject.UNUSED_WEIGHTS
    thing = one.mine if one.kind is not Kind.MISSING else one.bench
    owner = _owner(one)
    if owner is not None and word_of(owner.name) in _LOADS:
        return Subject.LOADED_WEIGHTS
    if thing is None or thing.event is None:
        return _tied(one)
    event = thing.event
    if event.name.startswith("torch.nn.init.") or event.name.startswith("mindspore.common.initializer"):
        return Subject.INITIAL_WEIGHTS if one.kind is not Kind.MISSING else None
    if thing.name == "setdata" and one.kind is Kind.EXTRA:
        return Subject.INITIAL_WEIGHTS
    if event.method == "__setattr__" and one.kind is Kind.EXTRA:
        return _set(event)
    return _tied(one)


def _tied(one: Difference) -> Subject | None:
    """A weight that was the weight of another layer in the benchmark."""
    bench = one.bench.value if one.bench is not None else None
    if one.kind is not Kind.REPLACED or one.mine is None or one.mine.name != "parameter":
        return None
    if not isinstance(bench, Attribute):
        return None
    own = [value for value in ancestry(one.mine.value, most=20) if isinstance(value, Attribute)]
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


def _role(one: Difference) -> Role | None:
    return one.bench.event.role if one.bench is not None and one.bench.event is not None else None


def _owner(one: Difference) -> Event | None:
    return one.owner[0] if one.owner is not None else None


def _is_true(value: Value | None) -> bool:
    return not isinstance(value, Const) or bool(value.value)
