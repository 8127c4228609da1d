"""``trueline show RUN``: one recorded run, a step of it, or some of its tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from trueline.cli.options import answer, json_flag, rank_option
from trueline.cli.verb import Verb
from trueline.model.message import Message, message
from trueline.model.report import Block, Report, Text
from trueline.model.result import Result
from trueline.model.trouble import BadUsage

if TYPE_CHECKING:
    from trueline.formats.run_folder.reader import RankFolder, Run

_EVENTS_SHOWN = 500


@click.command("show", cls=Verb, help="show.help")
@click.argument("folder", metavar="RUN")
@rank_option
@click.option("--step", type=click.IntRange(min=0), metavar="N", help="show.option_step")
@click.option("--key", "pattern", metavar="PATTERN", help="show.option_key")
@click.option("--events", "with_events", is_flag=True, help="show.option_events")
@json_flag
def command(
    folder: str, rank: int | None, step: int | None, pattern: str | None, with_events: bool, as_json: bool
) -> int:
    """Look at a run."""
    # NumPy comes with the reader: it is loaded when there is work, not for --help.
    from trueline.formats.run_folder.reader import open_run

    run = open_run(folder)
    number = _rank(run, rank)
    if step is None and pattern is None and not with_events:
        return _overview(run, number, as_json)
    if number is None:
        raise BadUsage("show.nothing_recorded", run=folder)
    part = _Part(run.rank(number), step, pattern)
    fields = {"run": str(run.path), "rank": number, "step": step, **part.fields(with_events)}
    result = Result("show", part.conclusion(folder), fields=fields)
    return answer(result, lambda: part.report(folder, with_events), as_json=as_json)


def _rank(run: Run, asked: int | None) -> int | None:
    if asked is not None and asked not in run.ranks:
        there = ", ".join(str(rank) for rank in run.ranks) or "-"
        raise BadUsage("show.no_such_rank", rank=asked, ranks=there)
    return asked if asked is not None else next(iter(run.ranks), None)


def _overview(run: Run, rank: int | None, as_json: bool) -> int:
    from trueline.report.run.overview import overview_of, overview_report

    found = overview_of(run, rank)
    result = Result("show", found.conclusion, fields=found.to_json())
    return answer(result, lambda: overview_report(found), as_json=as_json)


class _Part:
    """A step, some tensors, or both, of one rank."""

    def __init__(self, folder: RankFolder, step: int | None, pattern: str | None) -> None:
        from trueline.report.run.tensors import matching, summaries_of_step

        self.folder = folder
        self.step = step
        self.pattern = pattern
        if step is not None and not any(True for _ in folder.events(step=step)):
            raise BadUsage("show.no_such_step", step=step, steps=folder.finished)
        self.stats = summaries_of_step(folder, step) if step is not None else {}
        there = list(self.stats) if step is not None else list(folder.keys)
        self.keys = matching(there, pattern) if pattern is not None else there
        if pattern is not None and not self.keys:
            raise BadUsage("show.no_such_key", pattern=pattern, count=len(there))

    def conclusion(self, run: str) -> Message:
        """What is shown."""
        if self.step is not None:
            return message("show.one_step", run=run, step=self.step, count=len(self.keys))
        if self.pattern is not None:
            return message("show.some_keys", run=run, count=len(self.keys), pattern=self.pattern)
        return message("show.all_events", run=run, steps=self.folder.finished)

    def fields(self, with_events: bool) -> dict[str, Any]:
        """What JSON adds."""
        found: dict[str, Any] = {}
        if self.step is not None:
            found["stats"] = [{"key": str(key), **self.stats[key].to_json()} for key in self.keys]
        elif self.pattern is not None:
            found["history"] = {str(key): _rows(self.folder.history(key)) for key in self.keys}
        if with_events or self.step is not None:
            found["events"] = list(self.folder.events(step=self.step))
        return found

    def report(self, run: str, with_events: bool) -> Report:
        """What people see."""
        from trueline.report.run.tensors import history_blocks, step_blocks

        blocks: list[Block] = []
        if with_events or (self.step is not None and self.pattern is None):
            blocks += self._events()
        if self.step is not None:
            blocks += step_blocks(self.step, {key: self.stats[key] for key in self.keys})
        elif self.pattern is not None:
            blocks += history_blocks(self.folder, self.keys)
        return Report(message("show.title", name=run), self.conclusion(run), blocks=blocks)

    def _events(self) -> list[Block]:
        from itertools import islice

        from trueline.report.run.events import events_table

        events = self.folder.events(step=self.step)
        blocks = events_table(message("show.events"), islice(events, _EVENTS_SHOWN))
        more = sum(1 for _ in events)
        return [*blocks, Text(message("show.more_events", count=more))] if more else blocks


def _rows(history: Any) -> list[dict[str, Any]]:
    names = [{"minimum": "min", "maximum": "max"}.get(name, name) for name in history.dtype.names]
    return [
        {name: f"{value:016x}" if name == "fingerprint" else value for name, value in zip(names, row, strict=True)}
        for row in history.tolist()
    ]
