"""Events as rows: when, which, and their values in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from trueline.formats.run_folder.reader import RankFolder
from trueline.model.message import Message, message
from trueline.model.report import Block, Table
from trueline.model.run import LOOKS, EventName
from trueline.report.shown import number, say

_COMMON = ("event", "step", "phase", "t", "line")
_LONG = 6


def event_detail(event: Mapping[str, Any]) -> str:
    """An event's own values: ``optimizer=0 lr=0.1``."""
    return " ".join(
        f"{name}={brief(value)}" for name, value in event.items() if name not in _COMMON and value is not None
    )


def events_table(title: Message, events: Iterable[Mapping[str, Any]]) -> list[Block]:
    """Events in order; equal ones that follow each other are one row with their number."""
    rows: list[list[Any]] = []
    for line, alike in groupby(_cells(event) for event in events if event["event"] not in LOOKS):
        times = sum(1 for _ in alike)
        rows.append([*line[:2], f"{line[2]} x{times}" if times > 1 else line[2], line[3]])
    columns = [message("show.step"), message("show.phase"), message("show.event"), message("show.values")]
    return [Table(title, columns, rows)] if rows else []


def notice_of(event: Mapping[str, Any]) -> Message:
    """What a notice says."""
    params = event.get("params")
    return Message(str(event.get("message_id")), params if isinstance(params, dict) else {})


def notices_of(folder: RankFolder) -> list[tuple[Message, int, int]]:
    """What could not be captured: the notice, how often, and the step of its first time."""
    found: dict[str, tuple[Message, int, int]] = {}
    for event in folder.events(EventName.NOTICE):
        text = notice_of(event)
        _, times, step = found.get(str(text), (text, 0, event["step"]))
        found[str(text)] = (text, times + 1, step)
    return list(found.values())


def notice_blocks(notices: Sequence[tuple[Message, int, int | None]]) -> list[Block]:
    """The notices as a table."""
    if not notices:
        return []
    columns = [message("show.notice"), message("show.times"), message("show.since_step")]
    return [Table(message("show.notices"), columns, notices)]


def _cells(event: Mapping[str, Any]) -> tuple[Any, ...]:
    detail = say(notice_of(event)) if event.get("event") == EventName.NOTICE else event_detail(event)
    return event.get("step"), event.get("phase"), str(event.get("event")), detail


def brief(value: Any, most: int = _LONG) -> str:
    """A value in a few words: of long lists and mappings the first entries."""
    if isinstance(value, float):
        return number(value)
    if isinstance(value, Mapping):
        if "size" in value and "fields" in value:
            return _batch(value)
        parts = [f"{name}={brief(item, most)}" for name, item in list(value.items())[:most]]
        return "{" + " ".join([*parts, ".."] if len(value) > most else parts) + "}"
    if isinstance(value, list):
        parts = [brief(item, most) for item in value[:most]]
        return "[" + " ".join([*parts, ".."] if len(value) > most else parts) + "]"
    return str(value)


def _batch(samples: Mapping[str, Any]) -> str:
    """A batch without its fingerprints: ``32 (image float32 3x8x8, label int64)``."""
    fields = samples["fields"] if isinstance(samples["fields"], list) else []
    parts = [_field(one) for one in fields if isinstance(one, Mapping)]
    return f"{brief(samples['size'])} ({', '.join(parts)})"


def _field(field: Mapping[str, Any]) -> str:
    shape = field.get("shape")
    sizes = "x".join(str(size) for size in shape) if isinstance(shape, list) else ""
    return f"{field.get('name')} {field.get('dtype')} {sizes}".strip()
