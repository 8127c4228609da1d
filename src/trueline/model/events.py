"""The events of a recorded run: one frozen class for each kind of line in events.jsonl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from trueline.model.json_value import Json, JsonObject
from trueline.model.location import Location
from trueline.model.message import Message
from trueline.model.sample import Batch, Ends
from trueline.model.summary import Summary


class EventName(StrEnum):
    """What a line of events.jsonl calls itself; ``KINDS`` has the class of each."""

    LOADER = "loader"
    BATCH = "batch"
    INPUT = "input"
    MODE = "mode"
    ZERO_GRAD = "zero_grad"
    BACKWARD = "backward"
    LOSS = "loss"
    SCALE = "scale"
    UNSCALE = "unscale"
    CLIP = "clip"
    STEP = "step"
    SCHEDULER = "scheduler"
    OVERFLOW = "overflow"
    MODES = "modes"
    GRADIENTS = "gradients"
    UPDATE = "update"
    UNHELD = "unheld"
    FROZEN = "frozen"
    UNTIED = "untied"
    INITIALISED = "initialised"
    WEIGHTS = "weights"
    BUFFERS = "buffers"
    CRITERION = "criterion"
    DROPOUT = "dropout"
    LOADED = "loaded"
    SCHEDULE = "schedule"
    PENALTY = "penalty"
    WORKERS = "workers"
    RATE = "rate"
    BROADCAST = "broadcast"
    UNCAST = "uncast"
    NORMALISER = "normaliser"
    EXCHANGE = "exchange"
    REPLICAS = "replicas"
    NOTICE = "notice"
    END = "end"


@dataclass(frozen=True, slots=True)
class Event:
    """What every event has.

    ``t`` is seconds since the run began; the first few events of most kinds have a ``line``, the user's. Numbers that
    are words in the file (nan, inf, -inf) are floats here; ``written`` is the JSON object as it stands in the file,
    with the fields of newer versions too.
    """

    step: int
    phase: str
    t: float | None
    line: Location | None
    written: JsonObject = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        """What it calls itself."""
        return str(self.written["event"])

    def to_json(self) -> JsonObject:
        """The JSON shape, as it was recorded."""
        return self.written


@dataclass(frozen=True, slots=True)
class UnknownEvent(Event):
    """An event of a newer version, of which only the common fields are known."""


@dataclass(frozen=True, slots=True)
class LoaderEvent(Event):
    """An iteration over data begins; ``at`` is the line of the loop."""

    loader: int
    kind: str | None
    dataset: str | None
    length: int | None
    samples: int | None
    batch_size: Json
    sampler: str | None
    shuffle: bool | None
    drop_last: bool | None
    workers: int | None
    repeat: int | None
    at: Location | None


@dataclass(frozen=True, slots=True)
class BatchEvent(Event):
    """A batch was fetched from a loader, or seen as the network was called with it (``source`` is forward)."""

    source: str | None
    loader: int | None
    waited: float | None
    size: int
    indexes: Sequence[int] | None

    def batch(self) -> Batch:
        """Its samples, decoded anew with every call; a ValueError says what is wrong."""
        samples = self.written["samples"]
        return Batch.from_json(samples if isinstance(samples, Mapping) else {})


@dataclass(frozen=True, slots=True)
class Columns:
    """Mean and standard deviation of every feature."""

    axis: int
    mean: Sequence[float]
    std: Sequence[float]


@dataclass(frozen=True, slots=True)
class InputField:
    """One tensor that a module was called with.

    ``ends`` says how long one value stands at the ends of each sequence of whole numbers.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    summary: Summary
    columns: Columns | None = None
    ends: Ends | None = None


@dataclass(frozen=True, slots=True)
class InputEvent(Event):
    """What a module was called with, in a phase's first steps.

    Of the network and, in the first step, of the first modules and those that are fed by no other.
    """

    module: str
    kind: str | None
    fields: Sequence[InputField]


@dataclass(frozen=True, slots=True)
class ModeEvent(Event):
    """A module was put into training or evaluation mode."""

    module: str
    kind: str | None
    training: bool


@dataclass(frozen=True, slots=True)
class ZeroGradEvent(Event):
    """Gradients were cleared."""

    optimizer: int | None


@dataclass(frozen=True, slots=True)
class BackwardEvent(Event):
    """A backward pass; ``norm`` is of the gradients where they are handed out, ``grad_norm`` of what it has left."""

    micro: int
    norm: float | None
    grad_norm: float | None


@dataclass(frozen=True, slots=True)
class LossEvent(Event):
    """A loss, unscaled; ``source`` is backward, value_and_grad, model or output."""

    value: float
    micro: int
    index: int
    source: str | None


@dataclass(frozen=True, slots=True)
class ScaleEvent(Event):
    """The loss scale in force."""

    value: float


@dataclass(frozen=True, slots=True)
class UnscaleEvent(Event):
    """The gradients of an optimizer were divided by the loss scale."""

    optimizer: int | None


@dataclass(frozen=True, slots=True)
class ClipEvent(Event):
    """Gradients were clipped, by norm or by value; ``norm`` is what they had before, ``count`` how many there were."""

    kind: str
    limit: Json
    norm: float | None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class StepEvent(Event):
    """An optimizer's step; ``lr`` has an entry for each group, as the optimizer was given it.

    ``uncleared``, ``backwards`` and ``factor`` (the gradients against the mean of their backward passes) are known of
    the first steps only, and ``mixed``: they contain what another optimizer has updated by. ``clipped`` is how many of
    its gradients were clipped since the update before, where that can be seen.
    """

    optimizer: int
    kind: str | None
    lr: Sequence[Json]
    grad_norm: float | None
    skipped: bool
    uncleared: bool | None
    backwards: int | None
    factor: float | None
    clipped: int | None = None
    mixed: bool | None = None


@dataclass(frozen=True, slots=True)
class SchedulerEvent(Event):
    """A learning rate schedule has stepped; ``optimizer`` is whose rate it sets, where that is known."""

    kind: str | None
    lr: Sequence[Json]
    optimizer: int | None


@dataclass(frozen=True, slots=True)
class OverflowEvent(Event):
    """A step was skipped for non-finite gradients."""

    optimizer: int | None


@dataclass(frozen=True, slots=True)
class ModesEvent(Event):
    """The mode of a network that was called, where it changes.

    ``acting`` and ``resting`` are layers whose mode matters, ``kinds`` their types, ``held`` the optimizers that hold
    the network's parameters.
    """

    network: str
    training: bool
    acting: Sequence[str]
    resting: Sequence[str]
    kinds: Sequence[str]
    held: Sequence[int]


@dataclass(frozen=True, slots=True)
class Stray:
    """A module beside the network's own, and what is known of its parameters."""

    path: str
    parameters: int
    alive: bool
    held: bool
    reached: bool

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {
            "path": self.path,
            "parameters": self.parameters,
            "alive": self.alive,
            "held": self.held,
            "reached": self.reached,
        }


@dataclass(frozen=True, slots=True)
class GradientsEvent(Event):
    """A look at the gradients that an optimizer is about to apply.

    ``none`` and ``zero`` are the names of parameters without gradient, or with one of zeros; ``strangers`` counts
    parameters of no known module; ``unheld`` are parameters with a gradient that no optimizer holds.
    """

    optimizer: int
    update: int
    held: int
    none: Sequence[str]
    zero: Sequence[str]
    strangers: int
    stranger_shapes: Sequence[Sequence[int]]
    unheld: Sequence[str]
    strays: Sequence[Stray]
    elements: int
    zeros: int


@dataclass(frozen=True, slots=True)
class Moved:
    """A few elements of a parameter: before an update, their gradients, and after it."""

    name: str
    group: int
    dtype: str
    before: Sequence[float]
    gradient: Sequence[float]
    after: Sequence[float]


@dataclass(frozen=True, slots=True)
class UpdateEvent(Event):
    """One of an optimizer's first updates, in a few elements; ``update`` counts from 0.

    ``fresh`` says whether the optimizer remembered nothing before it; ``settings`` are those of each group.
    """

    optimizer: int
    update: int
    fresh: bool
    settings: Sequence[JsonObject]
    moved: Sequence[Moved]


@dataclass(frozen=True, slots=True)
class UnheldEvent(Event):
    """Parameters of a network that a gradient has reached, that no optimizer holds, and that the step has not moved.

    Of a network ``count`` are so, of ``reached`` that have a gradient. The optimizer that has updated holds ``held``
    parameters: ``idle`` have no gradient of this step, ``outside`` of them belong to no network that was called. They
    are ``alike`` where what it holds outside is of the same shapes, or as many elements, as what it does not hold.
    """

    optimizer: int
    network: str
    names: Sequence[str]
    count: int
    reached: int
    held: int
    idle: int
    outside: int
    alike: bool


@dataclass(frozen=True, slots=True)
class FrozenEvent(Event):
    """Parameters that want no gradient, were given one to an optimizer, and have moved in the step."""

    optimizer: int
    names: Sequence[str]
    count: int


@dataclass(frozen=True, slots=True)
class UntiedEvent(Event):
    """Parameters that were one tensor at an update before are several at this one."""

    names: Sequence[str]


@dataclass(frozen=True, slots=True)
class InitialisedEvent(Event):
    """A parameter was drawn anew, or filled by an initialiser, after its optimizer had made ``updates`` updates.

    It holds ``held`` parameters; ``remembers`` says whether it has a state that goes on.
    """

    optimizer: int
    parameter: str
    updates: int
    held: int
    remembers: bool


@dataclass(frozen=True, slots=True)
class WeightsEvent(Event):
    """A look at the weights after a training step: fingerprints by name, and the names that share one tensor."""

    fingerprints: Mapping[str, str]
    shared: Sequence[Sequence[str]]
    sharded: bool


@dataclass(frozen=True, slots=True)
class BuffersEvent(Event):
    """Buffers that an evaluation step has changed; ``looked`` is how many were compared."""

    moved: Sequence[str]
    looked: int | None


@dataclass(frozen=True, slots=True)
class Shapes:
    """The shapes that a loss was called with."""

    prediction: Sequence[int]
    target: Sequence[int]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What is known of a loss's first argument.

    ``sums_apart`` and ``logs_apart`` say how far its rows, or their exponentials, are from a sum of 1.
    """

    minimum: float
    maximum: float
    finite: bool
    classes: int | None
    rows: int | None
    sums_apart: float | None
    logs_apart: float | None


@dataclass(frozen=True, slots=True)
class Target:
    """What is known of a loss's second argument; it is ``whole`` where its type has no fractions.

    ``valid`` counts the elements that a loss over classes does not ignore.
    """

    minimum: float
    maximum: float
    whole: bool
    zeros: int | None
    fingerprint: str | None
    valid: int | None = None


@dataclass(frozen=True, slots=True)
class CriterionEvent(Event):
    """A loss function of the framework's was called; ``recomputed`` is its value as NumPy gives it."""

    function: str
    value: float
    settings: JsonObject
    shapes: Shapes | None
    made_by: str | None
    dtypes: Mapping[str, str]
    prediction: Prediction | None
    target: Target | None
    recomputed: float | None


@dataclass(frozen=True, slots=True)
class DropoutEvent(Event):
    """Dropout acts in a network that is in evaluation mode."""


@dataclass(frozen=True, slots=True)
class LoadedEvent(Event):
    """Weights were loaded into a network: the names it wanted and did not get, those it does not know."""

    kind: str | None
    given: int
    wanted: int
    missing: Sequence[str]
    unexpected: Sequence[str]
    changed: int


@dataclass(frozen=True, slots=True)
class ScheduleEvent(Event):
    """A learning rate schedule was built."""

    kind: str | None
    within: int | None


@dataclass(frozen=True, slots=True)
class PenaltyEvent(Event):
    """Gradients that are themselves differentiated, whether of a scaled loss and whether divided by the scale."""

    scaled: bool
    divided: bool
    uses: int | None


@dataclass(frozen=True, slots=True)
class WorkersEvent(Event):
    """A data worker's random generators, each before and after its first fetch."""

    round: str
    worker: int
    streams: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class RateEvent(Event):
    """The random rate that the calls of a line have in this step, where it is another than in the phase's step before.

    ``training`` is the mode of the network that is called.
    """

    rate: float
    training: bool


@dataclass(frozen=True, slots=True)
class BroadcastEvent(Event):
    """An operator that made a value for each pair of rows of a batch, all of which were then reduced to one number.

    ``explicit``: one of the operands was given its dimension of size 1 in the same step; ``partly``: the pairs were
    summed over a dimension first.
    """

    function: str
    operands: Sequence[Sequence[int]]
    result: Sequence[int]
    explicit: bool
    partly: bool


@dataclass(frozen=True, slots=True)
class UncastEvent(Event):
    """A layer that computes in its weights' type, in a thread without autocast, while its network is called in it."""

    module: str
    kind: str | None
    dtype: str
    autocast: str


@dataclass(frozen=True, slots=True)
class NormaliserEvent(Event):
    """A normalised weight as it was first used; ``norm`` is what is promised to be 1, ``adapts`` in training mode."""

    module: str
    function: str
    norm: float
    adapts: bool


@dataclass(frozen=True, slots=True)
class Sent:
    """A tensor that ranks have sent one another.

    ``sums`` and ``sizes`` are the sums of its pieces and those of their absolute values; with ``fingerprint``, they are
    known where the call was looked at.
    """

    shape: Sequence[int]
    dtype: str
    fingerprint: str | None
    sums: Sequence[float]
    sizes: Sequence[float]
    least: float | None
    most: float | None


@dataclass(frozen=True, slots=True)
class ExchangeEvent(Event):
    """A collective or a point-to-point call, the ``number``-th of its group.

    ``peer`` is its root, destination or source; ``read`` says that its result was there, ``pending`` that an optimizer
    updated before. ``parameter`` is what it was called with, or whose gradient. ``join`` is the kind where ranks may
    run out of batches at different steps from here on.
    """

    kind: str
    op: str | None
    group: Sequence[int]
    group_name: str
    number: int
    peer: int | None
    tag: int | None
    sent: Sequence[Sent]
    received: Sequence[Sent]
    read: bool
    deferred: bool
    pending: bool
    parameter: str | None


@dataclass(frozen=True, slots=True)
class ReplicasEvent(Event):
    """Fingerprints of weights and buffers after a training step, by name and, of parts, range of elements."""

    fingerprints: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class NoticeEvent(Event):
    """Something that could not be captured, and how to get it."""

    message: Message


@dataclass(frozen=True, slots=True)
class EndEvent(Event):
    """The step is finished; what follows a killed process's last one is not read."""

    seconds: float | None


KINDS: Final[Mapping[EventName, type[Event]]] = {
    EventName.LOADER: LoaderEvent,
    EventName.BATCH: BatchEvent,
    EventName.INPUT: InputEvent,
    EventName.MODE: ModeEvent,
    EventName.ZERO_GRAD: ZeroGradEvent,
    EventName.BACKWARD: BackwardEvent,
    EventName.LOSS: LossEvent,
    EventName.SCALE: ScaleEvent,
    EventName.UNSCALE: UnscaleEvent,
    EventName.CLIP: ClipEvent,
    EventName.STEP: StepEvent,
    EventName.SCHEDULER: SchedulerEvent,
    EventName.OVERFLOW: OverflowEvent,
    EventName.MODES: ModesEvent,
    EventName.GRADIENTS: GradientsEvent,
    EventName.UPDATE: UpdateEvent,
    EventName.UNHELD: UnheldEvent,
    EventName.FROZEN: FrozenEvent,
    EventName.UNTIED: UntiedEvent,
    EventName.INITIALISED: InitialisedEvent,
    EventName.WEIGHTS: WeightsEvent,
    EventName.BUFFERS: BuffersEvent,
    EventName.CRITERION: CriterionEvent,
    EventName.DROPOUT: DropoutEvent,
    EventName.LOADED: LoadedEvent,
    EventName.SCHEDULE: ScheduleEvent,
    EventName.PENALTY: PenaltyEvent,
    EventName.WORKERS: WorkersEvent,
    EventName.RATE: RateEvent,
    EventName.BROADCAST: BroadcastEvent,
    EventName.UNCAST: UncastEvent,
    EventName.NORMALISER: NormaliserEvent,
    EventName.EXCHANGE: ExchangeEvent,
    EventName.REPLICAS: ReplicasEvent,
    EventName.NOTICE: NoticeEvent,
    EventName.END: EndEvent,
}

LOOKS: Final = frozenset(
    (
        *(EventName.MODES, EventName.GRADIENTS, EventName.WEIGHTS, EventName.BUFFERS, EventName.CRITERION),
        *(EventName.UPDATE, EventName.UNHELD, EventName.FROZEN, EventName.UNTIED, EventName.INITIALISED),
        *(
            EventName.INPUT,
            EventName.DROPOUT,
            EventName.LOADED,
            EventName.SCHEDULE,
            EventName.PENALTY,
            EventName.WORKERS,
            EventName.EXCHANGE,
            EventName.REPLICAS,
        ),
        *(EventName.RATE, EventName.BROADCAST, EventName.UNCAST, EventName.NORMALISER),
    )
)
"""What only checks read, taken down in the first steps and ever more rarely."""
