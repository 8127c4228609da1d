"""What a recorded run says about itself: its circumstances, parameters, modules and events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

from trueline.model.events import LOOKS as LOOKS
from trueline.model.events import EventName as EventName
from trueline.model.fields import may, naturals, need, text_by_text, texts
from trueline.model.json_value import Json, JsonObject
from trueline.model.key import Phase
from trueline.model.location import Location
from trueline.model.message import Message
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

    def to_json(self) -> JsonObject:
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
    def from_json(cls, found: Json) -> Self:
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
    attributes: JsonObject = field(default_factory=dict)
    arguments: JsonObject | None = None
    built_at: Location | None = None

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {
            "path": self.path,
            "type": self.type,
            "attributes": plain(self.attributes),
            "arguments": plain(self.arguments),
            "built_at": self.built_at.line_json() if self.built_at is not None else None,
        }

    @classmethod
    def from_json(cls, found: Json) -> Self:
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

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {
            "path": self.path,
            "call": self.call,
            "phase": self.phase,
            "called_at": self.called_at.line_json() if self.called_at is not None else None,
            "feeds_from": list(self.feeds_from),
        }

    @classmethod
    def from_json(cls, found: Json) -> Self:
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
class OptimizerInfo:
    """An optimizer as it was built: its class, the settings of each group of parameters, and the line."""

    kind: str | None = None
    groups: Sequence[JsonObject] = ()
    line: Location | None = None

    @classmethod
    def from_json(cls, found: JsonObject) -> Self:
        """Read the JSON shape; what is not as it should be is left out."""
        kind, line = found.get("kind"), found.get("line")
        return cls(
            kind if isinstance(kind, str) else None,
            _objects(found.get("groups")),
            Location(*_file_and_line(line)) if line else None,
        )


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    """How a process stood when it last wrote of itself: the content of process.json.

    ``born`` is the time of its beginning as the system counts it, by which another process of that number is told
    apart.
    """

    pid: int | None = None
    host: str | None = None
    born: int | None = None
    ended: bool = False
    exit_code: int | None = None
    off: Message | None = None

    @classmethod
    def from_json(cls, found: Json) -> Self:
        """Read the JSON shape; what is not as it should be is left out."""
        page = found if isinstance(found, Mapping) else {}
        host = page.get("host")
        return cls(
            _whole(page.get("pid")),
            host if isinstance(host, str) else None,
            _whole(page.get("born")),
            bool(page.get("ended")),
            _whole(page.get("exit_code")),
            message_of(page.get("off")),
        )


@dataclass(frozen=True, slots=True)
class WatchHit:
    """What a watch has found: a line of hits.jsonl; ``place`` is the line, the module and the step of it."""

    code: str | None
    place: Location
    op: Json
    kind: Json
    cause: Json

    @classmethod
    def from_json(cls, found: JsonObject) -> Self:
        """Read the JSON shape; what is not as it should be is left out."""
        code, module, step = found.get("code"), found.get("module"), found.get("step")
        file, line = _file_and_line(found)
        return cls(
            code if isinstance(code, str) else None,
            Location(
                file,
                line,
                module=module if isinstance(module, str) and module else None,
                step=step if isinstance(step, int) else None,
            ),
            found.get("op"),
            found.get("kind"),
            found.get("cause"),
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
    seeds: JsonObject = field(default_factory=dict)
    flags: JsonObject = field(default_factory=dict)
    git: JsonObject | None = None
    hyper: JsonObject = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)
    recorded: JsonObject = field(default_factory=dict)
    format: int = FORMAT

    @property
    def optimizers(self) -> list[OptimizerInfo]:
        """The optimizers, each at the place that is its number in events."""
        return [OptimizerInfo.from_json(optimizer) for optimizer in _objects(self.hyper.get("optimizers"))]

    @property
    def loaders(self) -> list[JsonObject]:
        """What is known of each loader, as its first ``loader`` event says it."""
        return _objects(self.hyper.get("loaders"))

    @property
    def seed(self) -> int | None:
        """The seed that the recording was asked to set."""
        return _whole(self.recorded.get("seed"))

    @property
    def off(self) -> Message | None:
        """Why the recording ended before the training did; None where it did not."""
        return message_of(self.recorded.get("off"))

    @property
    def notices(self) -> list[Message]:
        """What was noticed after the last step."""
        notices = [message_of(notice) for notice in _objects(self.recorded.get("notices"))]
        return [notice for notice in notices if notice is not None]

    def to_json(self) -> JsonObject:
        """The JSON shape."""
        return {name: plain(getattr(self, name)) for name in self.__slots__}

    @classmethod
    def from_json(cls, found: Json) -> Self:
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


def _line(found: Json, name: str) -> Location | None:
    value = may(found, name, dict)
    return Location.from_line_json(value) if value is not None else None


def message_of(found: Json) -> Message | None:
    """A message as files hold it, an object with message_id and params; None where it is none."""
    if not isinstance(found, Mapping) or not isinstance(found.get("message_id"), str):
        return None
    params = found.get("params")
    return Message(str(found["message_id"]), params if isinstance(params, Mapping) else {})


def _objects(found: Json) -> list[JsonObject]:
    return [item for item in found if isinstance(item, Mapping)] if isinstance(found, list) else []


def _whole(found: Json) -> int | None:
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def _file_and_line(found: Json) -> tuple[str, int]:
    place = found if isinstance(found, Mapping) else {}
    file, line = place.get("file"), place.get("line")
    return file if isinstance(file, str) else "", line if isinstance(line, int) else 0
