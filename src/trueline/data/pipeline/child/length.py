"""Whether there are as many samples as a dataset says."""

from __future__ import annotations

from typing import Final

from trueline.adapters.guest.wire import Content
from trueline.data.pipeline.child.host import Answer, Host
from trueline.data.pipeline.child.written import body_line
from trueline.kernel.array import Array

_FARTHEST: Final = 4


def answer_length(host: Host, content: Content, _: list[Array]) -> Answer:
    """``true`` is how many samples there are, None where every index gives something, or nothing can be said."""
    host.journal.doing("length")
    line = body_line(host.opened.length_method())
    found = _true(host, content["declared"]) if host.opened.indexed else None
    return {"true": found, "line": line.line_json() if line is not None else None}, []


def _true(host: Host, declared: int) -> int | None:
    shapes = {_shape(host, index) for index in host.kept.good[:_FARTHEST]}
    usual = next(iter(shapes)) if len(shapes) == 1 else None

    def there(index: int) -> bool:
        host.meter.sample(index)
        found = _shape(host, index)
        return found is not None and (usual is None or found == usual)

    if declared > 0 and not there(declared - 1):
        # From the front: where the data end, not where one sample is broken.
        low, high = 0, declared - 1
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if there(middle) else (low, middle)
        return low
    if not there(declared):
        return declared
    step = 1
    while there(declared + step):
        step *= 2
        if step > _FARTHEST * max(declared, 64):
            return None
    low, high = declared + step // 2 + 1, declared + step
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if there(middle) else (low, middle)
    return low


def _shape(host: Host, index: int) -> tuple[tuple[str, object], ...] | None:
    """What kind of sample an index gives; None where it gives none."""
    row = next(iter(host.opened.rows(host.meter, [index])), None)
    if row is None or row.error is not None or row.value is None:
        return None
    found: list[tuple[str, object]] = []
    for name, value in host.reader.values(row.value):
        array = host.reader.array(value)
        found.append((name, type(value).__name__ if array is None else array.shape))
    return tuple(found)
