"""What lists of files are called in a run folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

RUN_MANIFEST: Final = "manifest.json"
RANK_LIST: Final = "opened.json"
RANK_PATTERN: Final = "rank-[0-9][0-9][0-9][0-9][0-9]"
LOG_PATTERN: Final = ".opened-*.log"
_UNFIT = re.compile(r"[^\w.-]")


def run_manifest(run: Path, host: str | None) -> Path:
    """The hashed list of a run; with ``host`` that of one machine of several."""
    return run / (RUN_MANIFEST if host is None else f"manifest-{_UNFIT.sub('_', host)}.json")


def rank_list(run: Path, rank: int) -> Path:
    """What one rank has opened."""
    return run / f"rank-{rank:05d}" / RANK_LIST


def log_name(host: str, rank: int, pid: int) -> str:
    """The file in which processes of a rank write down what they open."""
    return f".opened-{_UNFIT.sub('_', host)}-{rank}-{pid}.log"
