"""What each line of events.jsonl holds, and the event made of it: a line of another shape is damage, and is refused.

Fields that only some recordings have are not required, and those of newer versions are let pass.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from trueline.model import events
from trueline.model.events import EventName
from trueline.model.json_value import JsonObject
from trueline.model.location import Location
from trueline.model.message import Message
from trueline.model.numbers import decode
from trueline.model.sample import Ends
from trueline.model.summary import Summary

Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
# Numbers that are not finite are words in a file.
Number = Whole | float | Literal["nan", "inf", "-inf"]
Fingerprint = Annotated[str, Meta(pattern="^[0-9a-fA-F]{1,16}$")]
Seconds = Annotated[float, Meta(ge=0)]
# What a user has given an optimizer, a loss or a clip.
Setting = None | bool | Number | str | list[Any] | dict[str, Any]
Given = TypeVar("Given")


def _given(value: Given | UnsetType) -> Given | None:
    return None if isinstance(value, UnsetType) else value


def _number(value: Number | UnsetType | None) -> float | None:
    return None if value is None or isinstance(value, UnsetType) else decode(value)


class SourceLine(msgspec.Struct, gc=False):
    file: str
    line: Whole


def _location(line: SourceLine | None) -> Location | None:
    return None if line is None else Location(line.file, line.line)


class Shape(msgspec.Struct, gc=False):
    """A line of a known event; fields that must not be null where they are there are unset where they are not."""

    step: Count
    phase: str
    t: Seconds | UnsetType = UNSET
    line: SourceLine | None = None

    def event(self, written: JsonObject) -> events.Event:
        """The event; ``written`` is the whole line, whose common fields these are."""
        raise NotImplementedError

    def common(self, written: JsonObject) -> tuple[int, str, float | None, Location | None, JsonObject]:
        line = self.line
        return (
            self.step,
            self.phase,
            None if isinstance(self.t, UnsetType) else self.t,
            None if line is None else Location(line.file, line.line),
            written,
        )


class _Loader(Shape, kw_only=True, gc=False):
    loader: Whole
    kind: str | UnsetType = UNSET
    dataset: str | UnsetType = UNSET
    length: Count | None = None
    samples: Count | None = None
    batch_size: Setting = None
    sampler: str | None = None
    shuffle: bool | None = None
    drop_last: bool | None = None
    workers: Count | UnsetType = UNSET
    repeat: Count | UnsetType = UNSET
    at: SourceLine | None = None

    def event(self, written: JsonObject) -> events.LoaderEvent:
        return events.LoaderEvent(
            *self.common(written),
            self.loader,
            _given(self.kind),
            _given(self.dataset),
            self.length,
            self.samples,
            self.batch_size,
            self.sampler,
            self.shuffle,
            self.drop_last,
            _given(self.workers),
            _given(self.repeat),
            _location(self.at),
        )


class _Samples(msgspec.Struct, gc=False):
    size: Count
    fields: list[dict[str, Any]]
    indexes: list[Whole] | None = None


class _Batch(Shape, kw_only=True, gc=False):
    samples: _Samples
    source: str | UnsetType = UNSET
    loader: Whole | None = None
    waited: Number | UnsetType = UNSET

    def event(self, written: JsonObject) -> events.BatchEvent:
        samples = self.samples
        return events.BatchEvent(
            *self.common(written), _given(self.source), self.loader, _number(self.waited), samples.size, samples.indexes
        )


class _Summary(msgspec.Struct, kw_only=True, gc=False):
    count: Count
    nan: Count
    pos_inf: Count
    neg_inf: Count
    zeros: Count
    min: Number
    max: Number
    mean: Number
    abs_mean: Number
    std: Number
    l2: Number
    fingerprint: Fingerprint

    def summary(self) -> Summary:
        return Summary(
            self.count,
            self.nan,
            self.pos_inf,
            self.neg_inf,
            self.zeros,
            decode(self.min),
            decode(self.max),
            decode(self.mean),
            decode(self.abs_mean),
            decode(self.std),
            decode(self.l2),
            int(self.fingerprint, 16),
        )


class _Columns(msgspec.Struct, gc=False):
    axis: Whole
    mean: list[Number]
    std: list[Number]


class _Ends(msgspec.Struct, gc=False):
    value: Whole
    left: list[Count]
    right: list[Count]
    inside: Count


class _Field(msgspec.Struct, gc=False):
    name: str
    shape: list[Count]
    dtype: str
    summary: _Summary
    columns: _Columns | None = None
    ends: _Ends | None = None

    def field(self) -> events.InputField:
        columns, ends = self.columns, self.ends
        return events.InputField(
            self.name,
            tuple(self.shape),
            self.dtype,
            self.summary.summary(),
            None if columns is None else events.Columns(columns.axis, _numbers(columns.mean), _numbers(columns.std)),
            None if ends is None else Ends(ends.value, ends.left, ends.right, ends.inside),
        )


def _numbers(values: list[Number]) -> list[float]:
    return [decode(value) for value in values]


class _Input(Shape, kw_only=True, gc=False):
    module: str
    kind: str | UnsetType = UNSET
    fields: list[_Field]

    def event(self, written: JsonObject) -> events.InputEvent:
        fields = [field.field() for field in self.fields]
        return events.InputEvent(*self.common(written), self.module, _given(self.kind), fields)


class _Mode(Shape, kw_only=True, gc=False):
    module: str
    kind: str | UnsetType = UNSET
    training: bool

    def event(self, written: JsonObject) -> events.ModeEvent:
        return events.ModeEvent(*self.common(written), self.module, _given(self.kind), self.training)


class _ZeroGrad(Shape, kw_only=True, gc=False):
    optimizer: Whole | None

    def event(self, written: JsonObject) -> events.ZeroGradEvent:
        return events.ZeroGradEvent(*self.common(written), self.optimizer)


class _Unscale(Shape, kw_only=True, gc=False):
    optimizer: Whole | None

    def event(self, written: JsonObject) -> events.UnscaleEvent:
        return events.UnscaleEvent(*self.common(written), self.optimizer)


class _Overflow(Shape, kw_only=True, gc=False):
    optimizer: Whole | None

    def event(self, written: JsonObject) -> events.OverflowEvent:
        return events.OverflowEvent(*self.common(written), self.optimizer)


class _Backward(Shape, kw_only=True, gc=False):
    micro: Count = 0
    norm: Number | None = None
    grad_norm: Number | None = None

    def event(self, written: JsonObject) -> events.BackwardEvent:
        return events.BackwardEvent(*self.common(written), self.micro, _number(self.norm), _number(self.grad_norm))


class _Loss(Shape, kw_only=True, gc=False):
    value: Number
    micro: Count = 0
    index: Count = 0
    source: str | UnsetType = UNSET

    def event(self, written: JsonObject) -> events.LossEvent:
        return events.LossEvent(*self.common(written), decode(self.value), self.micro, self.index, _given(self.source))


class _Scale(Shape, kw_only=True, gc=False):
    value: Number

    def event(self, written: JsonObject) -> events.ScaleEvent:
        return events.ScaleEvent(*self.common(written), decode(self.value))


class _Clip(Shape, kw_only=True, gc=False):
    kind: str
    limit: Setting = None
    norm: Number | None = None
    count: Count | UnsetType = UNSET

    def event(self, written: JsonObject) -> events.ClipEvent:
        return events.ClipEvent(*self.common(written), self.kind, self.limit, _number(self.norm), _given(self.count))


class _Step(Shape, kw_only=True, gc=False):
    optimizer: Whole
    kind: str | UnsetType = UNSET
    lr: list[Setting]
    grad_norm: Number | None = None
    skipped: bool
    uncleared: bool | UnsetType = UNSET
    backwards: Count | UnsetType = UNSET
    factor: Number | None = None
    clipped: Count | None = None
    mixed: bool | UnsetType = UNSET

    def event(self, written: JsonObject) -> events.StepEvent:
        return events.StepEvent(
            *self.common(written),
            self.optimizer,
            _given(self.kind),
            self.lr,
            _number(self.grad_norm),
            self.skipped,
            _given(self.uncleared),
            _given(self.backwards),
            _number(self.factor),
            self.clipped,
            _given(self.mixed),
        )


class _Scheduler(Shape, kw_only=True, gc=False):
    kind: str | UnsetType = UNSET
    lr: list[Setting]
    optimizer: Count | None = None

    def event(self, written: JsonObject) -> events.SchedulerEvent:
        return events.SchedulerEvent(*self.common(written), _given(self.kind), self.lr, self.optimizer)


class _Modes(Shape, kw_only=True, gc=False):
    network: str
    training: bool
    acting: list[str]
    resting: list[str]
    kinds: list[str] | UnsetType = UNSET
    held: list[Whole]

    def event(self, written: JsonObject) -> events.ModesEvent:
        return events.ModesEvent(
            *self.common(written),
            self.network,
            self.training,
            self.acting,
            self.resting,
            _given(self.kinds) or (),
            self.held,
        )


class _Stray(msgspec.Struct, gc=False):
    path: str
    parameters: Count
    alive: bool
    held: bool
    reached: bool

    def stray(self) -> events.Stray:
        return events.Stray(self.path, self.parameters, self.alive, self.held, self.reached)


class _Gradients(Shape, kw_only=True, gc=False):
    optimizer: Whole
    update: Count
    held: Count
    none: list[str]
    zero: list[str]
    strangers: Count
    stranger_shapes: list[list[Count]] | UnsetType = UNSET
    unheld: list[str]
    strays: list[_Stray] | UnsetType = UNSET
    elements: Count
    zeros: Count

    def event(self, written: JsonObject) -> events.GradientsEvent:
        return events.GradientsEvent(
            *self.common(written),
            self.optimizer,
            self.update,
            self.held,
            self.none,
            self.zero,
            self.strangers,
            _given(self.stranger_shapes) or (),
            self.unheld,
            [stray.stray() for stray in _given(self.strays) or ()],
            self.elements,
            self.zeros,
        )


class _Moved(msgspec.Struct, kw_only=True, gc=False):
    name: str
    group: Count
    dtype: str
    before: list[Number]
    gradient: list[Number]
    after: list[Number]

    def moved(self) -> events.Moved:
        return events.Moved(
            self.name, self.group, self.dtype, _numbers(self.before), _numbers(self.gradient), _numbers(self.after)
        )


class _Update(Shape, kw_only=True, gc=False):
    optimizer: Whole
    update: Count
    fresh: bool
    settings: list[dict[str, Any]]
    moved: list[_Moved]

    def event(self, written: JsonObject) -> events.UpdateEvent:
        moved = [moved.moved() for moved in self.moved]
        return events.UpdateEvent(*self.common(written), self.optimizer, self.update, self.fresh, self.settings, moved)


class _Unheld(Shape, kw_only=True, gc=False):
    optimizer: Whole
    network: str
    names: list[str]
    count: Count
    reached: Count
    held: Count
    idle: Count
    outside: Count
    alike: bool

    def event(self, written: JsonObject) -> events.UnheldEvent:
        return events.UnheldEvent(
            *self.common(written),
            self.optimizer,
            self.network,
            self.names,
            self.count,
            self.reached,
            self.held,
            self.idle,
            self.outside,
            self.alike,
        )


class _Frozen(Shape, kw_only=True, gc=False):
    optimizer: Whole
    names: list[str]
    count: Count

    def event(self, written: JsonObject) -> events.FrozenEvent:
        return events.FrozenEvent(*self.common(written), self.optimizer, self.names, self.count)


class _Untied(Shape, kw_only=True, gc=False):
    names: list[str]

    def event(self, written: JsonObject) -> events.UntiedEvent:
        return events.UntiedEvent(*self.common(written), self.names)


class _Initialised(Shape, kw_only=True, gc=False):
    optimizer: Whole
    parameter: str
    updates: Count
    held: Count
    remembers: bool

    def event(self, written: JsonObject) -> events.InitialisedEvent:
        return events.InitialisedEvent(
            *self.common(written), self.optimizer, self.parameter, self.updates, self.held, self.remembers
        )


class _Weights(Shape, kw_only=True, gc=False):
    fingerprints: dict[str, str]
    shared: list[list[str]]
    sharded: bool = False

    def event(self, written: JsonObject) -> events.WeightsEvent:
        return events.WeightsEvent(*self.common(written), self.fingerprints, self.shared, self.sharded)


class _Buffers(Shape, kw_only=True, gc=False):
    moved: list[str]
    looked: Count | UnsetType = UNSET

    def event(self, written: JsonObject) -> events.BuffersEvent:
        return events.BuffersEvent(*self.common(written), self.moved, _given(self.looked))


class _Shapes(msgspec.Struct, gc=False):
    prediction: list[Count]
    target: list[Count]


class _Prediction(msgspec.Struct, kw_only=True, gc=False):
    min: Number
    max: Number
    finite: bool
    classes: Count | UnsetType = UNSET
    rows: Count | UnsetType = UNSET
    sums_apart: Number | UnsetType = UNSET
    logs_apart: Number | UnsetType = UNSET

    def prediction(self) -> events.Prediction:
        return events.Prediction(
            decode(self.min),
            decode(self.max),
            self.finite,
            _given(self.classes),
            _given(self.rows),
            _number(self.sums_apart),
            _number(self.logs_apart),
        )


class _Target(msgspec.Struct, kw_only=True, gc=False):
    min: Number
    max: Number
    whole: bool
    zeros: Count | UnsetType = UNSET
    fingerprint: str | UnsetType = UNSET
    valid: Count | UnsetType = UNSET

    def target(self) -> events.Target:
        return events.Target(
            decode(self.min),
            decode(self.max),
            self.whole,
            _given(self.zeros),
            _given(self.fingerprint),
            _given(self.valid),
        )


class _Criterion(Shape, kw_only=True, gc=False):
    function: str
    value: Number
    settings: dict[str, Setting]
    shapes: _Shapes | UnsetType = UNSET
    made_by: str | None = None
    dtypes: dict[str, str] | UnsetType = UNSET
    of_prediction: _Prediction | UnsetType = UNSET
    of_target: _Target | UnsetType = UNSET
    recomputed: Number | None = None

    def event(self, written: JsonObject) -> events.CriterionEvent:
        shapes, prediction, target = _given(self.shapes), _given(self.of_prediction), _given(self.of_target)
        return events.CriterionEvent(
            *self.common(written),
            self.function,
            decode(self.value),
            self.settings,
            None if shapes is None else events.Shapes(shapes.prediction, shapes.target),
            self.made_by,
            _given(self.dtypes) or {},
            None if prediction is None else prediction.prediction(),
            None if target is None else target.target(),
            _number(self.recomputed),
        )


class _Dropout(Shape, kw_only=True, gc=False):
    def event(self, written: JsonObject) -> events.DropoutEvent:
        return events.DropoutEvent(*self.common(written))


class _Loaded(Shape, kw_only=True, gc=False):
    kind: str | UnsetType = UNSET
    given: Count
    wanted: Count
    missing: list[str]
    unexpected: list[str]
    changed: Count

    def event(self, written: JsonObject) -> events.LoadedEvent:
        return events.LoadedEvent(
            *self.common(written),
            _given(self.kind),
            self.given,
            self.wanted,
            self.missing,
            self.unexpected,
            self.changed,
        )


class _Schedule(Shape, kw_only=True, gc=False):
    kind: str | UnsetType = UNSET
    within: Count | UnsetType = UNSET

    def event(self, written: JsonObject) -> events.ScheduleEvent:
        return events.ScheduleEvent(*self.common(written), _given(self.kind), _given(self.within))


class _Penalty(Shape, kw_only=True, gc=False):
    scaled: bool
    divided: bool
    uses: Count | UnsetType = UNSET

    def event(self, written: JsonObject) -> events.PenaltyEvent:
        return events.PenaltyEvent(*self.common(written), self.scaled, self.divided, _given(self.uses))


class _Workers(Shape, kw_only=True, gc=False):
    round: str
    worker: Count
    streams: dict[str, list[str]]

    def event(self, written: JsonObject) -> events.WorkersEvent:
        return events.WorkersEvent(*self.common(written), self.round, self.worker, self.streams)


class _Rate(Shape, kw_only=True, gc=False):
    rate: Number
    training: bool

    def event(self, written: JsonObject) -> events.RateEvent:
        return events.RateEvent(*self.common(written), decode(self.rate), self.training)


class _Broadcast(Shape, kw_only=True, gc=False):
    function: str
    operands: list[list[Count]]
    result: list[Count]
    explicit: bool
    partly: bool

    def event(self, written: JsonObject) -> events.BroadcastEvent:
        return events.BroadcastEvent(
            *self.common(written), self.function, self.operands, self.result, self.explicit, self.partly
        )


class _Uncast(Shape, kw_only=True, gc=False):
    module: str
    kind: str | UnsetType = UNSET
    dtype: str
    autocast: str

    def event(self, written: JsonObject) -> events.UncastEvent:
        return events.UncastEvent(*self.common(written), self.module, _given(self.kind), self.dtype, self.autocast)


class _Normaliser(Shape, kw_only=True, gc=False):
    module: str
    function: str
    norm: Number
    adapts: bool

    def event(self, written: JsonObject) -> events.NormaliserEvent:
        return events.NormaliserEvent(*self.common(written), self.module, self.function, decode(self.norm), self.adapts)


class _Sent(msgspec.Struct, kw_only=True, gc=False):
    shape: list[Count]
    dtype: str
    fingerprint: Fingerprint | None = None
    sums: list[Number] | UnsetType = UNSET
    sizes: list[Number] | UnsetType = UNSET
    least: Number | None = None
    most: Number | None = None

    def sent(self) -> events.Sent:
        return events.Sent(
            self.shape,
            self.dtype,
            self.fingerprint,
            _numbers(_given(self.sums) or []),
            _numbers(_given(self.sizes) or []),
            _number(self.least),
            _number(self.most),
        )


class _Exchange(Shape, kw_only=True, gc=False):
    kind: str
    op: str | None = None
    group: list[Count]
    group_name: str | UnsetType = UNSET
    number: Count
    peer: Whole | None = None
    tag: Whole | None = None
    sent: list[_Sent] | UnsetType = UNSET
    received: list[_Sent] | UnsetType = UNSET
    read: bool = False
    deferred: bool = False
    pending: bool = False
    parameter: str | None = None

    def event(self, written: JsonObject) -> events.ExchangeEvent:
        return events.ExchangeEvent(
            *self.common(written),
            self.kind,
            self.op,
            self.group,
            _given(self.group_name) or "",
            self.number,
            self.peer,
            self.tag,
            [part.sent() for part in _given(self.sent) or ()],
            [part.sent() for part in _given(self.received) or ()],
            self.read,
            self.deferred,
            self.pending,
            self.parameter,
        )


class _Replicas(Shape, kw_only=True, gc=False):
    fingerprints: dict[str, str]

    def event(self, written: JsonObject) -> events.ReplicasEvent:
        return events.ReplicasEvent(*self.common(written), self.fingerprints)


class _Notice(Shape, kw_only=True, gc=False):
    message_id: str
    params: dict[str, Any]

    def event(self, written: JsonObject) -> events.NoticeEvent:
        return events.NoticeEvent(*self.common(written), Message(self.message_id, self.params))


class _End(Shape, kw_only=True, gc=False):
    seconds: Seconds | UnsetType = UNSET

    def event(self, written: JsonObject) -> events.EndEvent:
        return events.EndEvent(*self.common(written), _given(self.seconds))


_LINES: Final[dict[EventName, type[Shape]]] = {
    EventName.LOADER: _Loader,
    EventName.BATCH: _Batch,
    EventName.INPUT: _Input,
    EventName.MODE: _Mode,
    EventName.ZERO_GRAD: _ZeroGrad,
    EventName.BACKWARD: _Backward,
    EventName.LOSS: _Loss,
    EventName.SCALE: _Scale,
    EventName.UNSCALE: _Unscale,
    EventName.CLIP: _Clip,
    EventName.STEP: _Step,
    EventName.SCHEDULER: _Scheduler,
    EventName.OVERFLOW: _Overflow,
    EventName.MODES: _Modes,
    EventName.GRADIENTS: _Gradients,
    EventName.UPDATE: _Update,
    EventName.UNHELD: _Unheld,
    EventName.FROZEN: _Frozen,
    EventName.UNTIED: _Untied,
    EventName.INITIALISED: _Initialised,
    EventName.WEIGHTS: _Weights,
    EventName.BUFFERS: _Buffers,
    EventName.CRITERION: _Criterion,
    EventName.DROPOUT: _Dropout,
    EventName.LOADED: _Loaded,
    EventName.SCHEDULE: _Schedule,
    EventName.PENALTY: _Penalty,
    EventName.WORKERS: _Workers,
    EventName.RATE: _Rate,
    EventName.BROADCAST: _Broadcast,
    EventName.UNCAST: _Uncast,
    EventName.NORMALISER: _Normaliser,
    EventName.EXCHANGE: _Exchange,
    EventName.REPLICAS: _Replicas,
    EventName.NOTICE: _Notice,
    EventName.END: _End,
}
SHAPES: Final[dict[str, msgspec.json.Decoder[Shape]]] = {
    name: msgspec.json.Decoder(shape) for name, shape in _LINES.items()
}
