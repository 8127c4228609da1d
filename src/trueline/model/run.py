"""What a recorded run says about itself: its circumstances, parameters, modules and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Self

from trueline.model.fields import may, naturals, need, text_by_text, texts
from trueline.model.key import Phase
from trueline.model.location import Location
from trueline.model.numbers import plain
from trueline.model.summary import Summary

FORMAT = 1


# Notices of training whose loss and weights stay out of sight; the others are about operators inside of what is seen.
UNSEEN_TRAINING: Final = frozenset(
    (
        *("record.spawned", "record.started", "record.started_unknown", "record.replaced"),
        *("mindspore.data_sink", "record.other_thread", "record.unwatched"),
    )
)


class EventName(StrEnum):
    """The events of a run. Each is a JSON object with ``event``, ``step``, ``phase`` and ``t``.

    ``t`` is seconds since the run began; the first few of most kinds have a ``line``, the user's. What each adds:

    =============  ==================================================================================
    loader         loader, kind, length, batch_size, sampler, workers, at (its line): an iteration over data begins
    batch          source (loader | forward), loader, waited (seconds), samples (a Batch's JSON)
    input          module, kind, fields: what a module was called with, in a phase's first steps: of the network and, in
                   the first step, of the first modules and those that are fed by no other; each field has name, shape,
                   dtype, summary, columns (axis, mean and std of every feature, or null), ends (value, left, right,
                   inside: how long one value stands at the ends of each sequence of whole numbers, or null)
    mode           module, training
    zero_grad      optimizer
    backward       micro, norm (of the gradients, where they are handed out)
    loss           value, micro, index, source (backward | value_and_grad | model | output)
    scale          value: the loss scale in force
    unscale        optimizer
    clip           kind (norm | value), limit, norm
    step           optimizer, kind, lr (one per group), grad_norm, skipped; at first uncleared, backwards, factor
    scheduler      kind, lr
    overflow       optimizer: a step was skipped for non-finite gradients
    modes          network, training, acting, resting (layers whose mode matters), held (optimizers): where it changes
    gradients      optimizer, update, held, none, zero (names), strangers, unheld, strays, elements, zeros
    weights        fingerprints (by name), shared (lists of names), sharded: after a few training steps
    buffers        moved (names): buffers that an evaluation step has changed, in the first steps of evaluations
    criterion      function, value and what is known of prediction and target: a loss of the framework's
    dropout        line: dropout acts in a network that is in evaluation mode
    loaded         missing, unexpected (names), given, changed, line: weights were loaded into a network
    schedule       kind, line: a learning rate schedule was built
    penalty        scaled, divided, line: gradients that are themselves differentiated
    workers        round, worker, streams: a data worker's generators, each before and after its first fetch
    notice         message_id, params: something that could not be captured, and how to get it
    end            seconds: the step is finished; what follows a killed process's last ``end`` is not read
    =============  ==================================================================================
    """

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
    WEIGHTS = "weights"
    BUFFERS = "buffers"
    CRITERION = "criterion"
    DROPOUT = "dropout"
    LOADED = "loaded"
    SCHEDULE = "schedule"
    PENALTY = "penalty"
    WORKERS = "workers"
    NOTICE = "notice"
    END = "end"


LOOKS = frozenset(
    (
        *(EventName.MODES, EventName.GRADIENTS, EventName.WEIGHTS, EventName.BUFFERS, EventName.CRITERION),
        *(
            EventName.INPUT,
            EventName.DROPOUT,
            EventName.LOADED,
            EventName.SCHEDULE,
            EventName.PENALTY,
            EventName.WORKERS,
        ),
    )
)
"""What only checks read, taken down in the first steps and ever more rarely."""


@dataclass(frozen=True, slots=True)
class ParamInfo:
    """One parameter or buffer."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    trainable: bool
    buffer: bool = False
    shared_with: str | None = None
    optimizer: int | None = None
    group: int | None = None
    initial: Summary | None = None
    equal_rows: bool = False

    def to_json(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "name": self.name,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "trainable": self.trainable,
            "buffer": self.buffer,
            "shared_with": self.shared_with,
            "optimizer": self.optimizer,
            "group": self.group,
            "initial": self.initial.to_json() if self.initial is not None else None,
            "equal_rows": self.equal_rows,
        }

    @classmethod
    def from_json(cls, found: Any) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        initial = may(found, "initial", dict)
        return cls(
            name=need(found, "name", str),
            shape=naturals(found, "shape"),
            dtype=need(found, "dtype", str),
            trainable=need(found, "trainable", bool),
            buffer=may(found, "buffer", bool) or False,
            shared_with=may(found, "shared_with", str),
            optimizer=may(found, "optimizer", int),
            group=may(found, "group", int),
            initial=Summary.from_json(initial) if initial is not None else None,
            equal_rows=may(found, "equal_rows", bool) or False,
        )


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """One module: its path, type, attributes, constructor's arguments and the line that built it."""

    path: str
    type: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] | None = None
    built_at: Location | None = None

    def to_json(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "path": self.path,
            "type": self.type,
            "attributes": plain(self.attributes),
            "arguments": plain(self.arguments),
            "built_at": self.built_at.line_json() if self.built_at is not None else None,
        }

    @classmethod
    def from_json(cls, found: Any) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        return cls(
            path=need(found, "path", str),
            type=need(found, "type", str),
            attributes=may(found, "attributes", dict) or {},
            arguments=may(found, "arguments", dict),
            built_at=_line(found, "built_at"),
        )


@dataclass(frozen=True, slots=True)
class CallInfo:
    """One call of a module in the first step of its phase, in execution order.

    ``feeds_from`` are positions in the list of calls whose outputs reach this call's inputs.
    """

    path: str
    call: int
    phase: str
    called_at: Location | None = None
    feeds_from: Sequence[int] = ()

    def to_json(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "path": self.path,
            "call": self.call,
            "phase": self.phase,
            "called_at": self.called_at.line_json() if self.called_at is not None else None,
            "feeds_from": list(self.feeds_from),
        }

    @classmethod
    def from_json(cls, found: Any) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        phase = need(found, "phase", str)
        if phase not in tuple(Phase):
            raise ValueError(f"phase: expected train or eval, found {phase[:40]!r}")
        return cls(
            path=need(found, "path", str),
            call=need(found, "call", int),
            phase=phase,
            called_at=_line(found, "called_at"),
            feeds_from=naturals(found, "feeds_from"),
        )


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run's circumstances, the content of run.json."""

    id: str
    argv: Sequence[str] = ()
    cwd: str = ""
    started: str = ""
    ended: str | None = None
    exit_code: int | None = None
    world: int = 1
    framework: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)
    device: str | None = None
    precision: str | None = None
    mode: str | None = None
    seeds: Mapping[str, Any] = field(default_factory=dict)
    flags: Mapping[str, Any] = field(default_factory=dict)
    git: Mapping[str, Any] | None = None
    hyper: Mapping[str, Any] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    recorded: Mapping[str, Any] = field(default_factory=dict)
    format: int = FORMAT

    def to_json(self) -> dict[str, Any]:
        """The JSON shape."""
        return {name: plain(getattr(self, name)) for name in self.__slots__}

    @classmethod
    def from_json(cls, found: Any) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        return cls(
            id=need(found, "id", str),
            argv=texts(found, "argv"),
            cwd=may(found, "cwd", str) or "",
            started=may(found, "started", str) or "",
            ended=may(found, "ended", str),
            exit_code=may(found, "exit_code", int),
            world=need(found, "world", int),
            framework=may(found, "framework", str),
            versions=text_by_text(found, "versions"),
            device=may(found, "device", str),
            precision=may(found, "precision", str),
            mode=may(found, "mode", str),
            seeds=may(found, "seeds", dict) or {},
            flags=may(found, "flags", dict) or {},
            git=may(found, "git", dict),
            hyper=may(found, "hyper", dict) or {},
            sources=text_by_text(found, "sources"),
            recorded=may(found, "recorded", dict) or {},
            format=need(found, "format", int),
        )


def _line(found: Any, name: str) -> Location | None:
    value = may(found, name, dict)
    return Location.from_line_json(value) if value is not None else None
