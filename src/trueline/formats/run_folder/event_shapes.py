"""What each event of a run holds: a line of another shape is damage, and is refused where it is read.

Fields that only some recordings have are not required, and those of newer versions are let pass.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict

import msgspec
from msgspec import Meta

from trueline.model.run import EventName

Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
# Numbers that are not finite are words in a file.
Number = Whole | float | Literal["nan", "inf", "-inf"]
Seconds = Annotated[float, Meta(ge=0)]
# What a user has given an optimizer, a loss or a clip.
Setting = None | bool | Number | str | list[Any] | dict[str, Any]


class SourceLine(TypedDict):
    file: str
    line: Whole


class Event(TypedDict):
    event: str
    step: Count
    phase: str
    t: NotRequired[Seconds]
    line: NotRequired[SourceLine | None]


class _Loader(Event):
    loader: Whole
    kind: NotRequired[str]
    dataset: NotRequired[str]
    length: NotRequired[Count | None]
    samples: NotRequired[Count | None]
    batch_size: NotRequired[Setting]
    sampler: NotRequired[str | None]
    shuffle: NotRequired[bool | None]
    drop_last: NotRequired[bool | None]
    workers: NotRequired[Count]
    at: NotRequired[SourceLine | None]
    repeat: NotRequired[Count]


class _Samples(TypedDict):
    size: Count
    indexes: NotRequired[list[Whole] | None]
    fields: list[dict[str, Any]]


class _Batch(Event):
    source: NotRequired[str]
    loader: NotRequired[Whole | None]
    waited: NotRequired[Number]
    samples: _Samples


class _Columns(TypedDict):
    axis: Whole
    mean: list[Number]
    std: list[Number]


class _Ends(TypedDict):
    value: Whole
    left: list[Count]
    right: list[Count]
    inside: Count


class _Field(TypedDict):
    name: str
    shape: list[Count]
    dtype: str
    summary: dict[str, Any]
    columns: NotRequired[_Columns | None]
    ends: NotRequired[_Ends | None]


class _Input(Event):
    module: str
    kind: NotRequired[str]
    fields: list[_Field]


class _Mode(Event):
    module: str
    kind: NotRequired[str]
    training: bool


class _OfOptimizer(Event):
    optimizer: Whole | None


class _Backward(Event):
    micro: NotRequired[Count]
    norm: NotRequired[Number | None]
    grad_norm: NotRequired[Number | None]


class _Loss(Event):
    value: Number
    micro: NotRequired[Count]
    index: NotRequired[Count]
    source: NotRequired[str]


class _Scale(Event):
    value: Number


class _Clip(Event):
    kind: str
    limit: NotRequired[Setting]
    norm: NotRequired[Number | None]


class _Step(Event):
    optimizer: Whole
    kind: NotRequired[str]
    lr: list[Setting]
    grad_norm: NotRequired[Number | None]
    skipped: bool
    uncleared: NotRequired[bool]
    backwards: NotRequired[Count]
    factor: NotRequired[Number | None]


class _Scheduler(Event):
    kind: NotRequired[str]
    lr: list[Setting]


class _Modes(Event):
    network: str
    training: bool
    acting: list[str]
    resting: list[str]
    kinds: NotRequired[list[str]]
    held: list[Whole]


class _Stray(TypedDict):
    path: str
    parameters: Count
    alive: bool
    held: bool
    reached: bool


class _Gradients(Event):
    optimizer: Whole
    update: Count
    held: Count
    none: list[str]
    zero: list[str]
    strangers: Count
    stranger_shapes: NotRequired[list[list[Count]]]
    unheld: list[str]
    strays: NotRequired[list[_Stray]]
    elements: Count
    zeros: Count


class _Weights(Event):
    fingerprints: dict[str, str]
    shared: list[list[str]]
    sharded: NotRequired[bool]


class _Buffers(Event):
    moved: list[str]
    looked: NotRequired[Count]


class _Shapes(TypedDict):
    prediction: list[Count]
    target: list[Count]


class _Prediction(TypedDict):
    min: Number
    max: Number
    finite: bool
    classes: NotRequired[Count]
    rows: NotRequired[Count]
    sums_apart: NotRequired[Number]
    logs_apart: NotRequired[Number]


class _Target(TypedDict):
    min: Number
    max: Number
    whole: bool
    zeros: NotRequired[Count]
    fingerprint: NotRequired[str]


class _Criterion(Event):
    function: str
    value: Number
    settings: dict[str, Setting]
    shapes: NotRequired[_Shapes]
    made_by: NotRequired[str | None]
    dtypes: NotRequired[dict[str, str]]
    of_prediction: NotRequired[_Prediction]
    of_target: NotRequired[_Target]
    recomputed: NotRequired[Number | None]


class _Loaded(Event):
    kind: NotRequired[str]
    given: Count
    wanted: Count
    missing: list[str]
    unexpected: list[str]
    changed: Count


class _Schedule(Event):
    kind: NotRequired[str]
    within: NotRequired[Count]


class _Penalty(Event):
    scaled: bool
    divided: bool
    uses: NotRequired[Count]


class _Workers(Event):
    round: str
    worker: Count
    streams: dict[str, list[str]]


class _Notice(Event):
    message_id: str
    params: dict[str, Any]


class _End(Event):
    seconds: NotRequired[Seconds]


_EVENTS: Final[dict[str, Any]] = {
    EventName.LOADER: _Loader,
    EventName.BATCH: _Batch,
    EventName.INPUT: _Input,
    EventName.MODE: _Mode,
    EventName.ZERO_GRAD: _OfOptimizer,
    EventName.BACKWARD: _Backward,
    EventName.LOSS: _Loss,
    EventName.SCALE: _Scale,
    EventName.UNSCALE: _OfOptimizer,
    EventName.CLIP: _Clip,
    EventName.STEP: _Step,
    EventName.SCHEDULER: _Scheduler,
    EventName.OVERFLOW: _OfOptimizer,
    EventName.MODES: _Modes,
    EventName.GRADIENTS: _Gradients,
    EventName.WEIGHTS: _Weights,
    EventName.BUFFERS: _Buffers,
    EventName.CRITERION: _Criterion,
    EventName.DROPOUT: Event,
    EventName.LOADED: _Loaded,
    EventName.SCHEDULE: _Schedule,
    EventName.PENALTY: _Penalty,
    EventName.WORKERS: _Workers,
    EventName.NOTICE: _Notice,
    EventName.END: _End,
}
SHAPES: Final = {name: msgspec.json.Decoder(event) for name, event in _EVENTS.items()}
