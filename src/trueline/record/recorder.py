"""From what the adapters tell to finished steps in a run folder."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import errno
import os
import platform
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

from trueline.adapters.children import NOTICE as SPAWNED
from trueline.adapters.identity import ByIdentity, Reference, reference
from trueline.adapters.patching import no_child_has_trained
from trueline.adapters.protocol import Adapter, Installed
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.describing import described
from trueline.model.descriptor import DescriptorLost
from trueline.model.key import Key, Kind, Phase
from trueline.model.message import Message, message
from trueline.model.process_birth import birth_of
from trueline.model.run import CallInfo, EventName, RunInfo
from trueline.record.companion import Companion
from trueline.record.edges import Edges
from trueline.record.guard import guarded, turn_off
from trueline.record.importing import let_importing_know
from trueline.record.iterations import Iterations, called, last_update
from trueline.record.looks.counts import Counts
from trueline.record.looks.modes import ModeLook
from trueline.record.looks.weights import any_sharded, buffers, fingerprints, shared
from trueline.record.looks.when import due
from trueline.record.networks import Networks, Place, Root
from trueline.record.observers import Observers
from trueline.record.open_step import Lazy, OpenStep, Spot
from trueline.record.project import Project
from trueline.record.ranks import leads_its_machine, rank_of
from trueline.record.tables import Modules, Parameters
from trueline.record.tensors import EXPANDED, TensorKeeper
from trueline.record.waiting import Waiting, WaitingBatches
from trueline.record.wanted import Wanted
from trueline.record.whole_batches import WholeBatches

_LONGEST_ROLLOUT = 1000
# In so many steps of a phase what enters the network is looked at.
_EARLY = 3
# Room for turning off where memory has run out: two of the pieces in which Python asks for it. Never touched, it costs
# none.
_SPARE = 2 << 20
Subscriber = Callable[[Phase, int, Sequence[Mapping[str, Any]]], None]


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


class Recorder:
    """One recording in one process. After any trouble it is off, has warned once, and training goes on."""

    def __init__(
        self,
        wanted: Wanted,
        info: RunInfo,
        project: Project,
        warn: Callable[[Message], None],
        companions: Sequence[Companion] = (),
    ) -> None:
        self.wanted = wanted
        self.on = True
        self.off: Message | None = None
        self.lock: AbstractContextManager[Any] = threading.RLock()
        self._process = os.getpid()
        self._identity = {"pid": self._process, "host": platform.node(), "born": birth_of(self._process)}
        self.project = project
        self.networks = Networks()
        self.parameters = Parameters()
        self._modules = Modules(project)
        self.edges = Edges()
        self.modes = ModeLook()
        self.counts = Counts()
        no_child_has_trained()
        self._evaluated_after: int | None = None
        self.waiting = WaitingBatches()
        self.keeper = TensorKeeper(wanted)
        self.whole = WholeBatches(wanted.batches) if wanted.batches else None
        self.open = OpenStep()
        self.capturing = False
        self.first_of_phase = False
        self.early = False
        self.in_backward = 0
        self.steps = {Phase.TRAIN: 0, Phase.EVAL: 0}
        self._first = 0
        self._began = time.perf_counter()
        self._info = info
        self._warn = warn
        self._spare = bytes(_SPARE)
        self._adapters: list[Adapter] = []
        self._installed: list[Installed] = []
        self._writer: RankWriter | None = None
        self._calls: list[CallInfo] = []
        self._keys: dict[Spot, dict[Phase, Key]] = {}
        self._optimizers: list[Reference] = []
        self._hyper: dict[str, Any] = {"optimizers": [], "loaders": []}
        self._loaders: ByIdentity[int] = ByIdentity()
        self.notices: list[Message] = []
        self._subscribers: list[Subscriber] = []
        self.companions = companions
        self._tables_due = True
        self._around: dict[str, Any] = {}
        self._looked_in_training = False
        self._iterations = Iterations(self.networks, self.parameters, self.optimizers_alive)
        self._loader: int | None = None
        # What was noticed after the last step.
        self._unwritten: list[dict[str, Any]] = []

    # ---- beginning and end

    def listen(self, adapter: Adapter) -> Installed:
        """Put a framework's hooks in place; removing them again pauses the recording."""
        from trueline.record.feed import Feed

        if adapter not in self._adapters:
            self._adapters.append(adapter)
            self._iterations.attach(adapter)
        observers = Observers(self)
        recorded = Feed(self, adapter, observers)
        observers.put_last(recorded)
        for companion in self.companions:
            companion.observe(observers, recorded)
        observers.bind()
        hooks = partial(adapter.hooks.install, observers)
        for companion in self.companions:
            hooks = partial(companion.install, adapter, hooks)
        return hooks()

    def attach(self, adapter: Adapter) -> None:
        """Listen to a framework from now on."""
        try:
            self._installed.append(self.listen(adapter))
        except Exception as error:  # noqa: BLE001 - a framework of an unknown version must still train
            turn_off(self, error)

    @property
    def has_written(self) -> bool:
        """Whether a step was finished, or is about to be."""
        return self._writer is not None or self.open.active

    @property
    def finished(self) -> int:
        """How many training steps were written."""
        return self.steps[Phase.TRAIN]

    def subscribe(self, subscriber: Subscriber) -> None:
        """Be told of every finished step: its phase, number and events."""
        self._subscribers.append(subscriber)

    def finish(self, exit_code: int | None = None) -> None:
        """Close the last step and the folder; a recording that went off still says how the run ended."""
        if os.getpid() != self._process:
            # A fork of the script's: the files are its parent's.
            return
        self._close_last()
        self._write_end(exit_code)
        self._release()
        if self._writer is not None:
            if self.off is not None:
                self._write_end_after_trouble(exit_code)
            with contextlib.suppress(Exception):
                self._writer.end_process(self._process_now())

    def leave_word(self, exit_code: int | None) -> None:
        """Where the recording went off before it could begin, a folder that says so, as far as there is room by now."""
        if self._writer is not None or self.off is None or os.getpid() != self._process:
            return
        with contextlib.suppress(Exception):
            self._info = dataclasses.replace(self._info, ended=_now(), exit_code=exit_code)
            writer = self._writer_now()
            writer.close()
            writer.end_process(self._process_now())

    @guarded
    def _close_last(self) -> None:
        if self.counts.child_trained():
            self.notice(SPAWNED, {})
        self.close_step()
        if self.counts.children and not self.finished:
            self.notice(SPAWNED, {})
        self._unwritten = [one for one in self.open.events if one["event"] == EventName.NOTICE]

    def _write_end_after_trouble(self, exit_code: int | None) -> None:
        self._info = dataclasses.replace(self._info, ended=_now(), exit_code=exit_code)
        # The folder may be what the trouble was about.
        with contextlib.suppress(Exception):
            self._write_info()

    @guarded
    def _write_end(self, exit_code: int | None) -> None:
        self._info = dataclasses.replace(self._info, ended=_now(), exit_code=exit_code)
        self._writer_now()
        self._write_info()

    def turn_off(self, error: Exception) -> None:
        """Stop recording and say so once; what was written stays readable.

        Nothing is opened or imported here: the trouble may be that there is no descriptor left, or no memory.
        """
        if self.on:
            self.on = False
            # From here on there is a little memory again.
            self._spare = b""
            self.off = _why(error, self.wanted.folder)
            self._silence()
            if self._writer is not None:
                with contextlib.suppress(Exception):
                    self._writer.write_process(self._process_now())
                with contextlib.suppress(Exception):
                    self._writer.let_go()
            self._warn(self.off)

    def _silence(self) -> None:
        """Take all hooks away, and let go of what they have told of the open step."""
        self.open = OpenStep()
        while self._installed:
            with contextlib.suppress(Exception):
                self._installed.pop().remove()

    def _release(self) -> None:
        self._silence()
        if self._writer is not None:
            try:
                self._writer.close()
            except OSError as error:
                turn_off(self, error)

    # ---- the step that is going on

    def event(self, name: EventName, **fields: Any) -> dict[str, Any]:
        """Append an event to the open step."""
        found = self.new_event(name, **fields)
        self.open.events.append(found)
        return found

    def new_event(self, name: EventName, **fields: Any) -> dict[str, Any]:
        """An event of this moment."""
        return {"event": name.value, "t": round(time.perf_counter() - self._began, 6), **fields}

    def forward_begins(self, module: Any, adapter: Adapter, inputs: Sequence[Any]) -> None:
        """An outermost module is called: does a new step begin with it?"""
        step = self.open
        training = adapter.values.training(module)
        again = self._iterations.is_first(module)
        if step.fetched:
            over = step.stepped and not training
        else:
            over = step.stepped and self._iterations.is_called_anew(step, module, adapter, inputs)
        # Calls in training mode may be a rollout that is trained on later: they wait for it, though not for ever.
        evaluated = not step.training and (not step.may_train or step.calls_from_outside >= _LONGEST_ROLLOUT)
        if over or (again and step.forwarded and not step.fetched and evaluated):
            self.close_step()
        if not self.open.forwarded:
            self._iterations.began_with(module)
            phase = Phase.TRAIN if training else Phase.EVAL
            self.first_of_phase = self._is_first(phase)
            self.early = self.steps[phase] - (self._first if phase is Phase.TRAIN else 0) < _EARLY
            self.capturing = self.wanted.deep and self.steps[phase] in self.wanted.steps
        elif training and not self.capturing:
            self.first_of_phase = self.first_of_phase or self._is_first(Phase.TRAIN)
            self.capturing = self.wanted.deep and self.steps[Phase.TRAIN] in self.wanted.steps
        self.open.forwarded = True
        self.open.may_train = self.open.may_train or training
        self.open.calls_from_outside += 1
        called(self.open, module, training)

    def _is_first(self, phase: Phase) -> bool:
        return self.steps[phase] == (self._first if phase is Phase.TRAIN else 0)

    def begin_at(self, step: int) -> None:
        """The next training step has this number, as in the run that is replayed."""
        self.steps[Phase.TRAIN] = self._first = step

    def batch_used(self, inputs: Sequence[Any]) -> None:
        """An outermost module is called: with which of the batches that wait?

        One that is recognised by its tensors begins a step of its own; where none is (they were copied or moved),
        all that wait belong to the step.
        """
        found = self.waiting.used(inputs)
        if found is not None:
            if self.open.active and found.loader in self.open.loaders:
                self.close_step()
            self._file(found)
        elif not self.open.loaders:
            self._file_all()

    def _file_all(self) -> None:
        for found in self.waiting.all():
            self._file(found)

    def _file(self, found: Waiting) -> None:
        self.open.fetched = True
        self.open.loaders.add(found.loader)
        self.open.events.append(found.event)
        self.open.events.sort(key=lambda one: float(one["t"]))

    def look_around(self, adapter: Adapter, training: bool) -> None:
        """Ask for device, precision and flags from within a forward call, where autocast and modes are in force."""
        if not self._around or (training and not self._looked_in_training):
            self._looked_in_training = training
            self._around = adapter.state.circumstances()

    def data_wanted(self, loader: Any) -> None:
        """A batch is asked for: the step before it is over, unless another loader serves the same step."""
        same = self._loader is None or self._loader == id(loader)
        if self.open.training or (self.open.forwarded and (same or not self.open.fetched)):
            self.close_step()
        self._loader = id(loader)

    @property
    def _is_without_loader(self) -> bool:
        """After an update in a loop without a loader, or in one that has fetched its batches before."""
        return self.open.stepped and (not self.open.fetched or self.waiting.has_of(self.open.loaders))

    def outside_step(self) -> None:
        """The next iteration begins, unless a loader says where."""
        if self._is_without_loader:
            self.close_step()

    def gradients_cleared(self, owner: Any, optimizer: int | None, adapter: Adapter) -> None:
        """An optimizer, or a network, clears its gradients: does the next iteration begin with it?"""
        step = self.open
        if self._is_without_loader and self._iterations.is_cleared_anew(step, owner, optimizer, adapter):
            self.close_step()

    def backward_begins(self) -> None:
        """Gradients are made: where they were cleared last and no network was called since, the step began there."""
        step = self.open
        if step.cleared_at is not None and not step.called_since_update and self._is_without_loader:
            self._close_at(step.cleared_at)
        step.cleared_at = None

    def update_begins(self, optimizer: int) -> None:
        """An optimizer updates: where it does so again, with new gradients, these were the next step's."""
        place = last_update(self.open) if optimizer in self.open.optimizers and not self.open.fetched else None
        if place is not None:
            self._close_at(place)

    def step_undone(self, optimizer: int) -> None:
        """An update that was to be made with all that leads to it, in one graph, was not: nothing was computed."""
        step = self.open
        step.events = [
            one for one in step.events if one["event"] != EventName.STEP or one.get("optimizer") != optimizer
        ]
        step.optimizers.discard(optimizer)
        step.stepped = bool(step.optimizers)

    def _close_at(self, place: int) -> None:
        """Close the step before one of its events; the rest of them begins the next."""
        later, self.open.events = self.open.events[place:], self.open.events[:place]
        backward = sum(one["event"] == EventName.BACKWARD for one in self.open.events)
        pulled, self.open.backward = self.open.backward - backward, backward
        self.close_step()
        self.open.events += [{**one, "micro": one["micro"] - backward} if "micro" in one else one for one in later]
        self.open.backward = pulled

    def updated_by_hand(self) -> None:
        """The script has updated its parameters without an optimizer, and goes on: with the next iteration."""
        if self.open.training and not self.open.fetched:
            self.close_step()

    def close_step(self) -> None:
        """Write the open step, if anything happened in it, and begin the next."""
        if not self.open.active:
            return
        if not self.open.loaders:
            self._file_all()
        step, self.open = self.open, OpenStep()
        phase = Phase.TRAIN if step.training else Phase.EVAL
        number = self.steps[phase]
        if self.networks.name_roots():
            self._tables_due = True
        if phase is Phase.TRAIN and self.wanted.weights and number in self.wanted.steps and self.wanted.deep:
            self._take_weights(step)
        self._remember_calls(step, phase)
        self._look(step, phase, number)
        events = [self._finished(one, phase, number) for one in step.events if _belongs(one, phase)]
        seconds = time.perf_counter() - step.began
        end = {"event": EventName.END.value, "t": round(time.perf_counter() - self._began, 6)}
        events.append({**end, "step": number, "phase": phase.value, "seconds": round(seconds, 6)})
        writer = self._writer_now()
        if self._tables_due:
            self._write_tables(writer)
        writer.finish_step(
            number,
            phase.value,
            events,
            [(self._key(spot, phase), summary) for spot, summary in step.stats],
            {self._key(spot, phase): array for spot, array in step.tensors} or None,
            self.whole.of_step(step.events, phase) if self.whole is not None else None,
        )
        self.steps[phase] += 1
        if phase is Phase.TRAIN:
            self._iterations.ended(step)
        self.keeper.forget()
        self.edges.forget()
        for subscriber in self._subscribers:
            subscriber(phase, number, events)

    def evaluation_begins(self) -> None:
        """A network is called: where this may be the first step of an evaluation, its buffers are remembered."""
        first = self._evaluated_after != self.steps[Phase.TRAIN] and due(self.steps[Phase.EVAL])
        if first and not self.open.training and self.open.buffers is None and self.steps[Phase.TRAIN]:
            self.open.buffers = buffers(self.networks)

    def _look(self, step: OpenStep, phase: Phase, number: int) -> None:
        """What checks ask for, at the end of a step."""
        at = {"t": round(time.perf_counter() - self._began, 6)}
        for root, mode in step.modes.items():
            fields = self.modes.changed(root, phase, mode) if mode is not None else None
            if fields is not None:
                held = self.parameters.holders(root)
                step.events.append({"event": EventName.MODES.value, **at, **fields, "held": held})
        if phase is Phase.TRAIN and step.stepped and due(number + 1):
            told = {"fingerprints": fingerprints(self.networks), "shared": shared(self.networks)}
            sharded = any_sharded(self.networks)
            step.events.append({"event": EventName.WEIGHTS.value, **at, **told, "sharded": sharded})
        if phase is Phase.EVAL:
            self._evaluated_after = self.steps[Phase.TRAIN]
            if step.buffers:
                now = buffers(self.networks)
                moved = [name for name, before in step.buffers.items() if now.get(name, before) != before]
                step.events.append({"event": EventName.BUFFERS.value, **at, "moved": moved, "looked": len(now)})

    def _finished(self, event: dict[str, Any], phase: Phase, number: int) -> dict[str, Any]:
        found = {name: _resolved(value) for name, value in event.items()}
        return {**found, "step": number, "phase": phase.value}

    def _key(self, spot: Spot, phase: Phase) -> Key:
        by_phase = self._keys.setdefault(spot, {})
        if phase not in by_phase:
            by_phase[phase] = Key(phase, spot.place.full, spot.call, spot.kind, spot.index)
        return by_phase[phase]

    def _take_weights(self, step: OpenStep) -> None:
        for root, module in self.networks.alive():
            for one in root.adapter.values.tensors(module):
                path, _, leaf = one.name.rpartition(".")
                place = Place(root, path)
                if self.wanted.module(place.full):
                    spot = Spot(place, 0, Kind.BUFFER if one.buffer else Kind.PARAM, leaf)
                    left_out = self.keeper.take(step, spot, one.value, root.adapter.values)
                    if left_out is not None and left_out != "record.unreadable":
                        said = {"message_id": left_out, "params": {"module": one.name}}
                        step.events.append(self.new_event(EventName.NOTICE, **said))

    def _remember_calls(self, step: OpenStep, phase: Phase) -> None:
        if not self._is_first(phase) or not step.calls:
            return
        before = len(self._calls)
        for place, call in step.calls:
            feeds = [before + one for one in call.feeds_from]
            self._calls.append(dataclasses.replace(call, path=place.full, phase=phase.value, feeds_from=feeds))
        self._tables_due = True

    # ---- what is known of the run

    def meet_parameters(self, root: Root) -> None:
        """Remember a new network's parameters, and say which of them were too far expanded to be read."""
        for name in self.parameters.meet(root):
            self.notice(EXPANDED, {"module": name})

    def optimizer_index(self, optimizer: Any, adapter: Adapter) -> int:
        """An optimizer's number; a new one is looked at."""
        for index, known in enumerate(self._optimizers):
            if known() is optimizer:
                return index
        self._optimizers.append(reference(optimizer))
        index = len(self._optimizers) - 1
        groups = adapter.values.groups(optimizer)
        for number, group in enumerate(groups):
            for parameter in group.parameters:
                self.parameters.held(parameter, index, number)
        described = {"kind": type(optimizer).__name__, "groups": [dict(group.settings) for group in groups]}
        line = self.project.line(adapter.build.line_of(optimizer))
        built: dict[str, Any] = {"parameters": [len(group.parameters) for group in groups]}
        built["line"] = None if line is None else line.line_json()
        self._hyper["optimizers"].append({**described, **built})
        self._tables_due = True
        return index

    def optimizers_alive(self) -> Iterator[Any]:
        """The optimizers that have been seen, in the order of their numbers."""
        return (found for known in self._optimizers if (found := known()) is not None)

    def loader_index(self, loader: Any, facts: Mapping[str, Any]) -> int:
        """A loader's number, the same for loaders of which the same is known."""
        described = dict(facts)
        if described not in self._hyper["loaders"]:
            self._hyper["loaders"].append(described)
            self._tables_due = True
        number = int(self._hyper["loaders"].index(described))
        self._loaders.set(loader, number)
        return number

    def loader_known(self, loader: Any) -> int | None:
        """The number of a loader whose iteration was seen to begin."""
        return self._loaders.get(loader)

    @guarded
    def note(self, said: Message) -> None:
        """Say, from outside of the hooks, what could not be captured."""
        self.notice(said.id, said.params)

    def notice(self, message_id: str, params: Mapping[str, Any]) -> None:
        """Say once what could not be captured."""
        said = Message(message_id, dict(params))
        if said not in self.notices:
            self.notices.append(said)
            self.event(EventName.NOTICE, message_id=message_id, params=dict(params))

    def rank_folder(self) -> Path:
        """This process's part of the run folder."""
        return self._writer_now().folder

    def _writer_now(self) -> RankWriter:
        if self._writer is None:
            rank, world = rank_of(self._adapters)
            self._writer = RankWriter(self.wanted.folder, rank)
            self._info = dataclasses.replace(self._info, world=world)
            self._leads = leads_its_machine(rank)
            try:
                # The process first: by it a folder is told apart whose process is gone.
                self._writer.write_process(self._process_now())
                self._write_info()
            except Exception:
                self._writer.abandon()
                self._writer = None
                raise
            let_importing_know(self.wanted.folder)
        return self._writer

    def _process_now(self) -> dict[str, Any]:
        return {
            **self._identity,
            "ended": self._info.ended,
            "exit_code": self._info.exit_code,
            "off": _to_json(self.off),
        }

    def _write_info(self) -> None:
        if self._writer is None or not self._leads:
            return
        notices = [{name: one[name] for name in ("message_id", "params")} for one in self._unwritten]
        recorded = {**self.wanted.to_json(), "process": self._identity, "off": _to_json(self.off), "notices": notices}
        info = dataclasses.replace(self._info, hyper=self._hyper, recorded=recorded)
        found = self._around or self._circumstances()
        merged = {name: {**getattr(info, name), **found.get(name, {})} for name in ("versions", "seeds", "flags")}
        info = dataclasses.replace(info, **{**found, **merged})
        if self.wanted.source:
            sources = {name: self._writer.write_source(path.read_bytes()) for name, path in self.project.sources()}
            info = dataclasses.replace(info, sources=sources)
        self._info = info
        self._writer.write_info(info)

    def _circumstances(self) -> Mapping[str, Any]:
        try:
            return self._adapters[0].state.circumstances() if self._adapters else {}
        except Exception:
            if self.on:
                raise
            # The trouble may be the framework's own, and how the run ended is told all the same.
            return {}

    def _write_tables(self, writer: RankWriter) -> None:
        writer.write_params(self.parameters.table(self.networks))
        writer.write_modules(self._modules.table(self.networks), self._calls)
        self._write_info()
        self._tables_due = False


def _belongs(event: Mapping[str, Any], phase: Phase) -> bool:
    """A scalar that a network returned is a loss in evaluation only; in training the loss is what backward got."""
    return phase is Phase.EVAL or event.get("source") != "output"


def _resolved(value: Any) -> Any:
    if isinstance(value, Lazy):
        return value.read(value.scalar)
    if isinstance(value, Place):
        return value.full
    if isinstance(value, list):
        return [_resolved(one) for one in value] if value and isinstance(value[0], Place) else value
    return value


def _to_json(said: Message | None) -> dict[str, Any] | None:
    return {"message_id": said.id, "params": dict(said.params)} if said is not None else None


def _why(error: Exception, folder: Path) -> Message:
    if isinstance(error, DescriptorLost):
        return message("record.off_descriptor_lost", folder=str(folder))
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return message("record.off_disk_full", folder=str(folder))
    if isinstance(error, OSError):
        return message("record.off_unwritable", folder=str(folder), reason=error.strerror or str(error))
    return message("record.off_error", kind=type(error).__name__, reason=described(str, error)[:300])


def new_info(**fields: Any) -> RunInfo:
    """A run's circumstances as far as they are known before it starts."""
    return RunInfo(id=uuid.uuid4().hex, started=_now(), **fields)
