"""One run at a glance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import Event
from trueline.model.json_value import JsonObject
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Table
from trueline.model.run import ModuleInfo, RunInfo
from trueline.report.run.events import brief, events_table, notice_blocks, notices_of
from trueline.report.run.listing import duration
from trueline.report.run.modules import module_blocks, modules_in_order, modules_json
from trueline.report.run.parameters import Parameters, parameter_blocks, parameters_of
from trueline.report.run.state import State, state_of
from trueline.report.run.strange import Strange, strange_blocks, strangest
from trueline.report.run.training import Training, training_blocks, training_of

MAX_NAMED_STEPS = 8
MAX_SHOWN_ENTRIES = 20  # of a list or mapping: circumstances have a line for themselves


@dataclass(frozen=True, slots=True)
class Overview:
    """What there is to say about a run and one of its ranks."""

    run: Run
    rank: int | None
    state: State
    finished: int
    training: Training
    parameters: Parameters
    notices: Sequence[tuple[Message, int, int | None]]
    strange: Sequence[Strange]
    sampled: bool
    modules: Sequence[tuple[ModuleInfo, int]]
    first_events: Sequence[Event]
    tensor_steps: Sequence[int]

    @property
    def conclusion(self) -> Message:
        """The run in one sentence."""
        name = self.run.path.resolve().name
        loss = self.training.loss
        if loss is None or not self.finished:
            return message("show.conclusion_no_loss", name=name, steps=self.finished, state=self.state.word)
        said = {"name": name, "steps": self.finished, "state": self.state.word, "first": loss.first, "last": loss.last}
        if loss.non_finite:
            return message("show.conclusion_non_finite", step=loss.non_finite[0], **said)
        return message("show.conclusion", **said)

    def to_json(self) -> JsonObject:
        """The fields that ``trueline show --json`` adds."""
        return {
            "run": {**self.run.info.to_json(), "path": str(self.run.path), "ranks": list(self.run.ranks)},
            **self.state.to_json(),
            "seconds": self.state.seconds,
            "rank": self.rank,
            "steps": self.finished,
            "training": self.training.to_json(),
            "parameters": self.parameters.to_json(),
            "notices": [{"message": str(text), "times": times, "step": step} for text, times, step in self.notices],
            "strange": [tensor.to_json() for tensor in self.strange],
            "strange_sampled": self.sampled,
            "modules": modules_json(self.modules),
            "first_step": [event.to_json() for event in self.first_events],
            "tensor_steps": list(self.tensor_steps),
        }


def overview_of(run: Run, rank: int | None, *, now: float | None = None) -> Overview:
    """Look at a run; a run folder without any rank has nothing but its circumstances."""
    folder = run.rank(rank) if rank is not None else None
    strange, sampled = strangest(folder) if folder is not None else ([], False)
    return Overview(
        run,
        rank,
        state_of(run, now=now),
        folder.finished if folder is not None else 0,
        training_of(folder) if folder is not None else Training((), 0, (), None),
        parameters_of(folder.params if folder is not None else ()),
        [*_last_notices(run.info), *(notices_of(folder) if folder is not None else ())],
        strange,
        sampled,
        modules_in_order(folder) if folder is not None else (),
        _first_events(folder) if folder is not None else (),
        folder.tensor_steps if folder is not None else (),
    )


def _last_notices(info: RunInfo) -> list[tuple[Message, int, int | None]]:
    """Why the recording ended before the training did, and what was noticed after the last step."""
    return [(notice, 1, None) for notice in (info.off, *info.notices) if notice is not None]


def overview_report(found: Overview) -> Report:
    """A run at a glance as a report."""
    blocks: list[Block] = [
        _circumstances(found),
        *training_blocks(found.training),
        *events_table(message("show.first_step"), found.first_events),
        *parameter_blocks(found.parameters),
        *notice_blocks(found.notices),
        *strange_blocks(found.strange, found.sampled),
        *module_blocks(found.modules),
    ]
    return Report(message("show.title", name=found.run.path.resolve().name), found.conclusion, blocks=blocks)


def _first_events(folder: RankFolder) -> list[Event]:
    steps = folder.curve("seconds").steps
    first = steps[0] if steps else 0
    return list(folder.events(phase="train", step=first))


def _circumstances(found: Overview) -> Table:
    info = found.run.info
    seconds = found.state.seconds
    rows: list[list[object]] = [
        [message("show.framework"), " ".join(filter(None, (info.framework, info.versions.get(info.framework or ""))))],
        [message("show.command"), " ".join(info.argv)],
        [message("show.folder"), info.cwd],
        [message("show.started"), info.started],
        [message("show.state"), found.state.word],
        [message("show.duration"), duration(seconds) if seconds is not None else None],
        [message("show.ranks"), _ranks(found)],
        [message("show.device"), " ".join(filter(None, (info.device, info.precision, info.mode)))],
        *_mappings(info),
        [message("show.tensor_steps"), _steps(found.tensor_steps)],
        [message("show.overflows"), found.training.overflows or None],
    ]
    shown = [row for row in rows if row[1] not in (None, "")]
    return Table(message("show.circumstances"), [message("show.what"), message("show.value")], shown)


def _mappings(info: RunInfo) -> list[list[object]]:
    return [
        [
            message("show.versions"),
            _flat({name: version for name, version in info.versions.items() if name != info.framework}),
        ],
        [message("show.seeds"), _flat(info.seeds)],
        [message("show.flags"), _flat(info.flags)],
        *([message("show.hyper"), line] for line in _settings(info.hyper)),
        [message("show.git"), _flat(info.git or {})],
    ]


def _flat(values: JsonObject) -> str:
    return " ".join(f"{name}={brief(value, MAX_SHOWN_ENTRIES)}" for name, value in values.items())


def _settings(hyper: JsonObject) -> Iterator[str]:
    """A line for every optimizer, loader and so on; what is not one of a list shares a line."""
    single = {name: value for name, value in hyper.items() if not isinstance(value, list)}
    if single:
        yield _flat(single)
    for name, entries in hyper.items():
        if isinstance(entries, list):
            yield from (f"{name}[{place}] {brief(entry, MAX_SHOWN_ENTRIES)}" for place, entry in enumerate(entries))


def _steps(steps: Sequence[int]) -> str:
    """``0, 1, 10 .. 90``: the last one too where there are many."""
    named = ", ".join(str(step) for step in steps[:MAX_NAMED_STEPS])
    return f"{named} .. {steps[-1]}" if len(steps) > MAX_NAMED_STEPS else named


def _ranks(found: Overview) -> Message | str:
    there, world = len(found.run.ranks), found.run.info.world
    if there < world:
        return message("show.ranks_missing", there=there, world=world)
    return str(there) if there <= 1 else message("show.ranks_shown", there=there, rank=found.rank)
