"""What a recorded run says about itself: its circumstances, parameters, modules and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Self, TypeVar

from trueline.model.key import Phase
from trueline.model.numbers import decode, plain
from trueline.model.summary import Summary

FORMAT = 1
Value = TypeVar("Value")


class EventName(StrEnum):
    """The events of a run. Each is a JSON object with ``event``, ``step``, ``phase`` and ``t``.

    ``t`` is seconds since the run began. What each adds:

    =============  ==================================================================================
    loader         loader, kind, length, batch_size, sampler, workers: an iteration over data begins
    batch          source (loader | forward), loader, samples (a Batch's JSON)
    mode           module, training
    zero_grad      optimizer
    backward       micro
    loss           value, micro, index, source (backward | value_and_grad | model | output)
    scale          value: the loss scale in force
    unscale        optimizer
    clip           kind (norm | value), limit, norm
    step           optimizer, kind, lr (one per group), grad_norm, skipped
    scheduler      kind, lr
    overflow       optimizer: a step was skipped for non-finite gradients
    notice         message_id, params: something that could not be captured, and how to get it
    end            seconds: the step is finished; what follows a killed process's last ``end`` is not read
    =============  ==================================================================================
    """

    LOADER = "loader"
    BATCH = "batch"
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
    NOTICE = "notice"
    END = "end"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a source file."""

    file: str
    line: int

    def to_json(self) -> dict[str, Any]:
        """The JSON shape."""
        return {"file": self.file, "line": self.line}

    @classmethod
    def from_json(cls, found: Any) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        return cls(_need(found, "file", str), _need(found, "line", int))


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
        }

    @classmethod
    def from_json(cls, found: Any) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        initial = _may(found, "initial", dict)
        return cls(
            name=_need(found, "name", str),
            shape=_naturals(found, "shape"),
            dtype=_need(found, "dtype", str),
            trainable=_need(found, "trainable", bool),
            buffer=_may(found, "buffer", bool) or False,
            shared_with=_may(found, "shared_with", str),
            optimizer=_may(found, "optimizer", int),
            group=_may(found, "group", int),
            initial=_summary(initial) if initial is not None else None,
        )


@dataclass(frozen=True, slots=True)
class ModuleInfo:
    """One module: its path, type, attributes, constructor's arguments and the line that built it."""

    path: str
    type: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    arguments: Mapping[str, Any] | None = None
    built_at: Line | None = None

    def to_json(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "path": self.path,
            "type": self.type,
            "attributes": plain(self.attributes),
            "arguments": plain(self.arguments),
            "built_at": self.built_at.to_json() if self.built_at is not None else None,
        }

    @classmethod
    def from_json(cls, found: Any) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        return cls(
            path=_need(found, "path", str),
            type=_need(found, "type", str),
            attributes=_may(found, "attributes", dict) or {},
            arguments=_may(found, "arguments", dict),
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
    called_at: Line | None = None
    feeds_from: Sequence[int] = ()

    def to_json(self) -> dict[str, Any]:
        """The JSON shape."""
        return {
            "path": self.path,
            "call": self.call,
            "phase": self.phase,
            "called_at": self.called_at.to_json() if self.called_at is not None else None,
            "feeds_from": list(self.feeds_from),
        }

    @classmethod
    def from_json(cls, found: Any) -> Self:
        """Read the JSON shape; a ValueError says what is wrong."""
        phase = _need(found, "phase", str)
        if phase not in tuple(Phase):
            raise ValueError(f"phase: expected train or eval, found {phase[:40]!r}")
        return cls(
            path=_need(found, "path", str),
            call=_need(found, "call", int),
            phase=phase,
            called_at=_line(found, "called_at"),
            feeds_from=_naturals(found, "feeds_from"),
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
            id=_need(found, "id", str),
            argv=_texts(found, "argv"),
            cwd=_may(found, "cwd", str) or "",
            started=_may(found, "started", str) or "",
            ended=_may(found, "ended", str),
            exit_code=_may(found, "exit_code", int),
            world=_need(found, "world", int),
            framework=_may(found, "framework", str),
            versions=_text_by_text(found, "versions"),
            device=_may(found, "device", str),
            precision=_may(found, "precision", str),
            mode=_may(found, "mode", str),
            seeds=_may(found, "seeds", dict) or {},
            flags=_may(found, "flags", dict) or {},
            git=_may(found, "git", dict),
            hyper=_may(found, "hyper", dict) or {},
            sources=_text_by_text(found, "sources"),
            recorded=_may(found, "recorded", dict) or {},
            format=_need(found, "format", int),
        )


def _may(found: Any, name: str, kind: type[Value]) -> Value | None:
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, found {type(found).__name__}")
    value = found.get(name)
    if value is None:
        return None
    # True is an int to Python, and a mistake in a file.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ValueError(f"{name}: expected {kind.__name__}, found {type(value).__name__}")
    return value


def _need(found: Any, name: str, kind: type[Value]) -> Value:
    value = _may(found, name, kind)
    if value is None:
        raise ValueError(f"{name} is missing")
    return value


def _line(found: Any, name: str) -> Line | None:
    value = _may(found, name, dict)
    return Line.from_json(value) if value is not None else None


def _naturals(found: Any, name: str) -> tuple[int, ...]:
    values = _may(found, name, list) or []
    if not all(isinstance(one, int) and not isinstance(one, bool) and one >= 0 for one in values):
        raise ValueError(f"{name}: expected numbers from 0")
    return tuple(values)


def _texts(found: Any, name: str) -> tuple[str, ...]:
    values = _may(found, name, list) or []
    if not all(isinstance(one, str) for one in values):
        raise ValueError(f"{name}: expected texts")
    return tuple(values)


def _text_by_text(found: Any, name: str) -> dict[str, str]:
    values = _may(found, name, dict) or {}
    if not all(isinstance(one, str) for one in values.values()):
        raise ValueError(f"{name}: expected texts")
    return values


def _number(found: Any, name: str) -> float:
    if name not in found:
        raise ValueError(f"{name} is missing")
    return decode(found[name])


def _summary(found: Any) -> Summary:
    return Summary(
        count=_need(found, "count", int),
        nan=_need(found, "nan", int),
        pos_inf=_need(found, "pos_inf", int),
        neg_inf=_need(found, "neg_inf", int),
        zeros=_need(found, "zeros", int),
        minimum=_number(found, "min"),
        maximum=_number(found, "max"),
        mean=_number(found, "mean"),
        abs_mean=_number(found, "abs_mean"),
        std=_number(found, "std"),
        l2=_number(found, "l2"),
        fingerprint=int(_need(found, "fingerprint", str), 16),
    )
