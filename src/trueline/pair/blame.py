"""What a stage blames: a cause in a module of the port, what both sides have there, and whether a try confirmed it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, TypeAlias

from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.pair.questions.module_run import Change

# What one side has where a cause is: a setting, a number, a name in words.
Setting: TypeAlias = "Json | Message"


class Stage(StrEnum):
    """The stages, in order."""

    DATA = "data"
    PARAMETERS = "parameters"
    WEIGHTS = "weights"
    FORWARD = "forward"
    INITIAL = "initial"
    LOSS = "loss"
    BACKWARD = "backward"
    UPDATE = "update"
    CURVE = "curve"
    METRICS = "metrics"


class Cause(StrEnum):
    """Why two networks are not the same."""

    # An argument of a layer that has another value.
    EPS = "eps"
    MOMENTUM = "momentum"
    PADDING = "padding"
    STRIDE = "stride"
    KERNEL_SIZE = "kernel_size"
    DILATION = "dilation"
    GROUPS = "groups"
    BIAS = "bias"
    AFFINE = "affine"
    CEIL_MODE = "ceil_mode"
    COUNT_PAD = "count_include_pad"
    DROPOUT = "dropout"
    SLOPE = "slope"
    AXIS = "axis"
    HEADS = "num_heads"
    INTERPOLATION = "interpolation"
    ALIGN_CORNERS = "align_corners"
    PADDING_INDEX = "padding_index"
    BATCH_FIRST = "batch_first"
    BIDIRECTIONAL = "bidirectional"
    LAYERS = "num_layers"
    OUTPUT_SIZE = "output_size"
    DTYPE = "dtype"
    ATTRIBUTE = "attribute"
    # Something between layers, or in a layer that is the user's own.
    ACTIVATION = "activation"
    GELU_FORM = "gelu_form"
    LAYER_TYPE = "layer_type"
    RESIDUAL = "residual"
    NORMALISATION = "normalisation"
    ORDER = "order"
    SWAPPED = "swapped_layers"
    SCALE = "scale"
    OFFSET = "offset"
    TRANSPOSE = "transpose"
    CONCAT_ORDER = "concat_order"
    WEIGHT_LAYOUT = "weight_layout"
    GATE_ORDER = "gate_order"
    MASK = "mask"
    SLICE = "slice"
    POOLING = "pooling"
    MISSING_OP = "missing_op"
    EXTRA_OP = "extra_op"
    OTHER_OP = "other_op"
    OTHER_INPUT = "other_input"
    CONSTANT = "constant"
    NOT_CALLED = "not_called"
    COMPILED = "compiled"
    # Parameters.
    FROZEN = "frozen"
    NOT_FROZEN = "not_frozen"
    MISSING_PARAMETER = "missing_parameter"
    EXTRA_PARAMETER = "extra_parameter"
    SHAPE = "shape"
    SHARING = "sharing"
    INITIAL = "initialisation"
    # Backward.
    DETACHED = "detached"
    CUSTOM_BACKWARD = "custom_backward"
    # Loss.
    REDUCTION = "reduction"
    SMOOTHING = "label_smoothing"
    CLASS_WEIGHTS = "class_weights"
    IGNORED_INDEX = "ignore_index"
    LOSS = "loss"
    # Update.
    OPTIMIZER = "optimizer"
    LEARNING_RATE = "learning_rate"
    OPTIMIZER_MOMENTUM = "optimizer_momentum"
    BETAS = "betas"
    EPS_FORM = "epsilon_form"
    OPTIMIZER_EPS = "optimizer_eps"
    WEIGHT_DECAY = "weight_decay"
    DECAY_GROUPS = "decay_groups"
    DECAY_FORM = "decay_form"
    NESTEROV = "nesterov"
    DAMPENING = "dampening"
    NOT_UPDATED = "not_updated"
    CLIPPING = "clipping"
    SCHEDULE_UNIT = "schedule_per_epoch"
    WARM_UP = "warm_up"
    SCHEDULE_END = "schedule_end"
    SCHEDULE = "schedule"
    # Data.
    CROP = "crop"
    FACTOR_255 = "factor_255"
    CHANNEL_ORDER = "channel_order"
    MEAN_STD = "mean_std"
    DATA_PADDING = "data_padding"
    SAMPLE_ORDER = "sample_order"
    DATA_LAYOUT = "data_layout"
    DATA_DTYPE = "data_dtype"
    LABELS = "labels"
    DATA = "data"
    # Metrics.
    METRIC = "metric"
    # Nothing that was tried explains it.
    UNKNOWN = "unknown"


# An edit with the place where it is made before it: ``place`` and ``edit``.
EDIT_AT: Final = "pair.edit_at"
_BESIDE_CURVE: Final = frozenset({Stage.DATA, Stage.INITIAL, Stage.CURVE, Stage.METRICS})
_NOT_IN_CURVE: Final = frozenset({Cause.DROPOUT, Cause.MOMENTUM})


@dataclass(frozen=True, slots=True)
class Blame:
    """One cause; ``module`` is the port's path ("" is the whole network), ``other_module`` the benchmark's.

    ``measured`` is how far apart the two are there, relative to the benchmark's scale, ``limit`` how far noise brings
    them, ``left`` how far apart they are once the change was tried. ``latent``: no effect on ordinary inputs.
    ``change`` is what was tried where it is one to the module itself.
    ``general`` is the message without the module, where other modules may have the same. ``unfelt``: what it says of a
    part does not show in the whole, or cannot be judged there.
    """

    stage: Stage
    cause: Cause
    message: Message
    module: str = ""
    other_module: str = ""
    bench: Setting = None
    port: Setting = None
    confirmed: bool = False
    latent: bool = False
    measured: float | None = None
    limit: float | None = None
    left: float | None = None
    line: Location | None = None
    other_line: Location | None = None
    edit: Message | None = None
    evidence: Sequence[Any] = field(default_factory=tuple)
    change: Change | None = field(default=None, compare=False)
    general: Message | None = None
    unfelt: bool = False

    @property
    def edit_alone(self) -> Message | None:
        """The edit without the line where it is made, which ``line`` has."""
        inner = self.edit.params.get("edit") if self.edit is not None and self.edit.id == EDIT_AT else None
        return inner if isinstance(inner, Message) else self.edit


def module_name(path: str) -> str | Message:
    """A module in a sentence: its path as code, and the whole network, which has none, by its name."""
    return f"`{path}`" if path else message("pair_ops.network")


def counterpart_name(path: str) -> str | Message:
    """A module of the benchmark in a sentence that has named the port's."""
    return f"`{path}`" if path else message("pair_ops.benchmark")


def also_in(blame: Blame) -> list[str]:
    """The other modules of the port that have the same."""
    return [path for each in blame.evidence if isinstance(each, dict) for path in each.get("also", ())]


def moves_curve(blame: Blame) -> bool:
    """Whether a few steps on the same batches, from the same weights and without dropout, show the cause."""
    return not blame.latent and blame.stage not in _BESIDE_CURVE and blame.cause not in _NOT_IN_CURVE


def joined(blames: Iterable[Blame]) -> list[Blame]:
    """The same cause in modules that one line of the port has built is one blame, with the others' paths."""
    found: dict[object, Blame] = {}
    for place, blame in enumerate(blames):
        where = (blame.line.file, blame.line.line) if blame.line is not None and blame.stage is Stage.FORWARD else place
        key = (blame.stage, blame.cause, where, repr(blame.bench), repr(blame.port), blame.confirmed, blame.latent)
        before = found.get(key)
        if before is None:
            found[key] = blame
            continue
        known = {before.module, *also_in(before)}
        more = [path for path in (blame.module, *also_in(blame)) if path not in known]
        if more:
            found[key] = replace(before, evidence=[*before.evidence, {"also": more}])
    return list(found.values())


class StageVerdict(StrEnum):
    """How a stage ended."""

    PASSED = "passed"
    FOUND = "found"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class StageResult:
    """One stage: its verdict, one sentence of evidence, what it blames, what it rules out, and what a reader may see.

    ``blocks`` are blocks of a Report (tables, curves).
    """

    stage: Stage
    verdict: StageVerdict
    message: Message
    blames: Sequence[Blame] = ()
    rules_out: Message | None = None
    blocks: Sequence[Any] = ()
