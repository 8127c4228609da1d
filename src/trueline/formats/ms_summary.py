"""MindSpore's summary files, as SummaryRecord and SummaryCollector write them: every scalar."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from trueline.formats.event_file import Tool, curves, float_of, read_points
from trueline.formats.files import unreadable
from trueline.formats.wire import fields
from trueline.model.curve import Curve
from trueline.model.message import message
from trueline.model.trouble import BadFile

_NAME: Final = re.compile(r".*\.out\.events\.summary\.(?P<time>\d{1,18})\.(?P<rank>\d{1,9})\..*")
# Beside its scalars a run has files about its data and its explanations.
_OTHERS: Final = ("_lineage", "_explain")


def read_ms_summary(path: Path) -> list[Curve]:
    """Every scalar of a summary file, or of a folder of them; SummaryCollector's loss is called ``loss/auto``.

    Steps are as the writer counted them: SummaryCollector begins with 1. Where several ranks wrote into one folder,
    the curves of all but the lowest are called ``rank_1/loss``.
    """
    try:
        ranks = _ranks(path) if path.is_dir() else {0: [path]}
    except OSError as error:
        raise unreadable(path, error) from None
    if not ranks:
        raise BadFile(path, message("events.no_files", tool=_TOOL.name).text())
    found: list[Curve] = []
    for place, rank in enumerate(sorted(ranks)):
        found += curves(read_points(ranks[rank], _TOOL), f"rank_{rank}/" if place else "")
    return found


def _ranks(folder: Path) -> dict[int, list[Path]]:
    """The files of each rank, oldest first."""
    found: dict[int, list[tuple[int, Path]]] = {}
    for path in sorted(folder.iterdir()):
        name = _NAME.fullmatch(path.name)
        if name is not None and not path.name.endswith(_OTHERS):
            found.setdefault(int(name["rank"]), []).append((int(name["time"]), path))
    return {rank: [path for _, path in sorted(files)] for rank, files in found.items()}


def _value(data: memoryview) -> tuple[str, float] | None:
    tag = ""
    number: float | None = None
    for field, _, value, _ in fields(data):
        if field == 1 and not isinstance(value, int):
            tag = str(value, "utf-8", "replace")
        elif field == 3 and not isinstance(value, int):
            number = float_of(value)
    return (tag, number) if number is not None else None


_TOOL: Final = Tool("MindSpore", "MindSpore.Event:", _value)
