"""Training and evaluation mode in a script: in which of them a network is when it is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from trueline.apitable.functions import classes_of, functions_of, stems_of
from trueline.apitable.traits import Trait
from trueline.script.analysis.forwards import forward_around
from trueline.script.analysis.networks import DROPOUTS, parts_of
from trueline.script.factories import acts_by_mode, is_factory, is_pretrained
from trueline.script.roles import Role, is_network
from trueline.script.trace import BRANCH, HANDLER, Event, Trace
from trueline.script.values import Attribute, Const, Instance, Made, Unknown, Value, constant

_ATTENDING: Final = classes_of(Trait.DROPS_UNASKED)
_RECURRENT: Final = classes_of(Trait.RECURRENT)


class Mode(StrEnum):
    """What ``training`` says."""

    TRAINING = "training"
    EVALUATION = "evaluation"
    UNKNOWN = "unknown"


_OF_VALUE: Final = {True: Mode.TRAINING, False: Mode.EVALUATION}


@dataclass(frozen=True, slots=True)
class Setting:
    """A place where the mode is set; ``parts`` are the networks it reaches, None where that is not known."""

    event: Event
    mode: Mode
    parts: frozenset[int] | None

    def reaches(self, layer: Value) -> bool:
        """Whether a layer has this mode afterwards, or may have."""
        return self.parts is None or id(layer) in self.parts


@dataclass(frozen=True, slots=True)
class Found:
    """The mode of a layer at some time: which, set where (None: as it was built), and whether for sure."""

    mode: Mode
    setting: Setting | None = None
    certain: bool = True


def settings(trace: Trace) -> list[Setting]:
    """All places where a mode is set, in order."""
    places: list[Setting] = []
    for event in trace.events:
        mode = _set_by(event)
        # What a network does to itself while it is called is not the script's way to set a mode.
        if mode is not None and forward_around(event) is None:
            known = is_network(event.receiver)
            parts = frozenset(id(value) for value in parts_of(event.receiver)) if known else None
            places.append(Setting(event, mode, parts))
    return places


def _assigned(event: Event) -> Mode | None:
    """What is written into a network's own mode; a network that is not known may be any."""
    if event.method != "__setattr__" or constant(event.arg(0)) != "training":
        return None
    if not (is_network(event.receiver) or isinstance(event.receiver, Unknown)):
        return None
    value = constant(event.arg(1))
    return _OF_VALUE[value] if isinstance(value, bool) else Mode.UNKNOWN


def _set_by(event: Event) -> Mode | None:
    if event.role is Role.TRAIN_MODE:
        return Mode.TRAINING
    if event.role is Role.EVAL_MODE:
        return Mode.EVALUATION
    if event.method in ("train", "set_train") and event.receiver is not None and is_network(event.receiver):
        # train(mode) with a mode that is not known.
        return Mode.UNKNOWN
    return _assigned(event)


def modes_at(layer: Value, event: Event, settings: Sequence[Setting], start: Mode) -> Iterator[Found]:
    """The modes of a layer at an event: the first time, and in later rounds of the loops around it."""
    own = [setting for setting in settings if setting.reaches(layer)]
    before = [setting for setting in own if setting.event.index < event.index]
    yield _last(before, event, start)
    for loop in reversed(event.loops()):
        inside = [setting for setting in own if setting.event.inside(loop)]
        earlier = [setting for setting in inside if setting.event.index < event.index]
        if any(_is_certain(setting, event) for setting in earlier):
            return
        later = [setting for setting in inside if setting.event.index > event.index]
        if later:
            last = later[-1]
            certain = last.parts is not None and not earlier and not last.event.conditional_within(loop)
            yield Found(last.mode if last.parts is not None else Mode.UNKNOWN, last, certain)
            return


def _last(before: Sequence[Setting], event: Event, start: Mode) -> Found:
    """What the last place says; unknown where one that may not be passed says something else."""
    possible: set[Mode] = set()
    for setting in reversed(before):
        if _is_certain(setting, event):
            return Found(setting.mode, setting) if possible <= {setting.mode} else Found(Mode.UNKNOWN, setting)
        possible.add(setting.mode if setting.parts is not None else Mode.UNKNOWN)
    return Found(start) if possible <= {start} else Found(Mode.UNKNOWN)


def _is_certain(setting: Setting, event: Event) -> bool:
    """Whether nothing lets an event happen without the setting before it."""
    if setting.parts is None:
        return False
    conditions = [scope for scope in setting.event.scopes if scope.kind in (BRANCH, HANDLER)]
    return all(scope in event.scopes for scope in conditions)


_DROPPING: Final = tuple(f"*.{name}" for name in sorted(functions_of(Trait.DROPOUT)))


def acting_layers(network: Value | None, trace: Trace) -> list[Value]:
    """The layers in a network that do other things in training than in evaluation."""
    by_hand = _asking_layers(trace)
    return [value for value in parts_of(network) if id(value) in by_hand or (isinstance(value, Made) and _acts(value))]


def _acts(layer: Made) -> bool:
    name, event = layer.name.rpartition(".")[2], layer.event
    if is_factory(layer.name):
        # What a script puts in the place of a part of it is not followed: it may take the layers that act away.
        return acts_by_mode(layer.name, constant(event.arg(0, "model_name", "name"), None))
    if name.startswith(DROPOUTS):
        return not _is_off(event.arg(0, "p"), 0.0) and not _is_off(event.arg(None, "keep_prob"), 1.0)
    if name.startswith(stems_of(Trait.BATCH_NORM)):
        pinned = event.arg(None, "use_batch_statistics")
        return constant(event.arg(None, "track_running_stats"), True) is not False and (
            pinned is None or constant(pinned, 0) is None
        )
    if name in _ATTENDING:
        return not _is_off(event.arg(None, "dropout"), 0.0)
    if name in _RECURRENT:
        return not _is_off(event.arg(None, "dropout") or Const(0.0), 0.0) and event.arg(2, "num_layers") is not None
    return name == "MultiheadAttention" and not _is_off(event.arg(2, "dropout") or Const(0.0), 0.0)


def _is_off(value: Value | None, off: float) -> bool:
    return isinstance(value, Const) and value.value == off


def _asking_layers(trace: Trace) -> set[int]:
    """Networks of the project that hand their own mode to a function that drops values."""
    layers: set[int] = set()
    for event in trace.named(*_DROPPING):
        given = event.arg(2, "training")
        if isinstance(given, Attribute) and given.name == "training" and isinstance(given.of, Instance):
            layers.add(id(given.of))
    return layers


def starts_in(event: Event) -> Mode:
    """The mode of a network that nobody has set: torch builds them for training, MindSpore for evaluation.

    Networks that transformers has read from a file are in evaluation mode too.
    """
    receiver = event.receiver
    name = receiver.name if isinstance(receiver, Made) else ""
    if isinstance(receiver, Instance):
        name = next(receiver.cls.library_bases(), "")
    if is_pretrained(name):
        return Mode.EVALUATION
    return (
        Mode.EVALUATION
        if (name or event.name).startswith(("mindspore.", "mindcv.", "mindspore_hub."))
        else Mode.TRAINING
    )
