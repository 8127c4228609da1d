"""Whether arrays may go into a file; what may not is refused by name, before a byte is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from trueline.formats.files import fault
from trueline.formats.making import Sink
from trueline.formats.outgoing import Outgoing
from trueline.formats.printable import printable
from trueline.formats.stored import Stored
from trueline.model.message import Message, message
from trueline.model.trouble import BadFile

LONGEST_NAME: Final = 4096


def name_trouble(name: str) -> Message | None:
    """Why no array is written under a name: a reader would take it for another one, or for a place."""
    if not name:
        return message("formats.name_empty")
    if len(name) > LONGEST_NAME:
        return message("formats.name_long", name=printable(name, 60), most=LONGEST_NAME)
    if "\0" in name or ".." in name.replace("\\", "/").split("/"):
        return message("formats.name_unsafe", name=printable(name))
    try:
        name.encode()
    except UnicodeEncodeError:
        return message("formats.name_not_text", name=printable(name))
    return None


def check_all(path: Path, arrays: Sequence[Outgoing], cannot_hold: Callable[[Outgoing], Message | None]) -> None:
    """A BadFile for the first array that the file at ``path`` cannot hold, or whose name is taken."""
    if not arrays:
        raise fault(path, "no_arrays")
    names: set[str] = set()
    for array in arrays:
        trouble = cannot_hold(array)
        if trouble is not None:
            raise BadFile(path, trouble.text())
        if array.name in names:
            raise fault(path, "same_name", name=printable(array.name))
        names.add(array.name)


def pour_whole(sink: Sink, array: Outgoing) -> None:
    """An array's elements at the end of a file; a BadFile where they are not as many as they should be."""
    begin = sink.position
    sink.pour(array)
    if sink.position - begin != array.nbytes:
        # The file it comes from has become shorter since its header was read.
        raise fault(array.source.path if isinstance(array.source, Stored) else sink.path, "cut_short")
