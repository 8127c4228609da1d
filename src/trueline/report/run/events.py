"""Events as rows: when, which, and their values in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from trueline.formats.run_folder.reader import RankFolder
from trueline.model.events import LOOKS, Event, NoticeEvent
from trueline.model.json_value import Json, JsonObject
from trueline.model.message import Message, message
from trueline.model.report import Block, Table
from trueline.report.shown import number, say

_COMMON = ("event", "step", "phase", "t", "line")
MAX_SHOWN_ENTRIES = 6  # of a list or mapping, in a table's cell


def event_detail(event: Event) -> str:
    """An event's own values as they were written: ``optimizer=0 lr=0.1``."""
    return " ".join(
        f"{name}={brief(value)}" for name, value in event.to_json().items() if name not in _COMMON and value is not None
    )


def events_table(title: Message, events: Iterable[Event]) -> list[Block]:
    """Events in order; equal ones that follow each other are one row with their number."""
    rows = []
    for (step, phase, name, detail), alike in groupby(_cells(event) for event in events if event.name not in LOOKS):
        times = sum(1 for _ in alike)
        rows.append([step, phase, f"{name} x{times}" if times > 1 else name, detail])
    columns = [message("show.step"), message("show.phase"), message("show.event"), message("show.values")]
    return [Table(title, columns, rows)] if rows else []


def notices_of(folder: RankFolder) -> list[tuple[Message, int, int]]:
    """What could not be captured: the notice, how often, and the step of its first time."""
    notices: dict[str, tuple[Message, int, int]] = {}
    for event in folder.events(NoticeEvent):
        text = event.message.text()
        _, times, step = notices.get(text, (event.message, 0, event.step))
        notices[text] = (event.message, times + 1, step)
    return list(notices.values())


def notice_blocks(notices: Sequence[tuple[Message, int, int | None]]) -> list[Block]:
    """The notices as a table."""
    if not notices:
        return []
    columns = [message("show.notice"), message("show.times"), message("show.since_step")]
    return [Table(message("show.notices"), columns, notices)]


def _cells(event: Event) -> tuple[int, str, str, str]:
    detail = say(event.message) if isinstance(event, NoticeEvent) else event_detail(event)
    return event.step, event.phase, event.name, detail


def brief(value: Json, most: int = MAX_SHOWN_ENTRIES) -> str:
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


def _batch(samples: JsonObject) -> str:
    """A batch without its fingerprints: ``32 (image float32 3x8x8, label int64)``."""
    fields = samples["fields"]
    fields = fields if isinstance(fields, list) else []
    parts = [_field(field) for field in fields if isinstance(field, Mapping)]
    return f"{brief(samples['size'])} ({', '.join(parts)})"


def _field(field: JsonObject) -> str:
    shape = field.get("shape")
    sizes = "x".join(str(size) for size in shape) if isinstance(shape, list) else ""
    return f"{field.get('name')} {field.get('dtype')} {sizes}".strip()
