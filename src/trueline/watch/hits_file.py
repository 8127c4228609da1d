"""``hits.jsonl`` in a rank's folder: all that a watch has seen, one object per line."""

from __future__ import annotations

import json
from pathlib import Path

from trueline.formats.run_folder.layout import HITS, rank_name
from trueline.model.numbers import plain
from trueline.watch.hit import Hit
from trueline.watch.report import NON_FINITE
from trueline.watch.state import Watch


def write_hits(run: Path, rank: int, watch: Watch, hit: Hit | None) -> None:
    """Leave the hits beside what was recorded; no file where there are none."""
    lines = [{"code": NON_FINITE, **hit.to_json()}] if hit is not None else []
    lines += [{"code": f"wp.{one.id.lower()}", **one.to_json()} for one in watch.point_hits]
    place = run / rank_name(rank)
    if lines and place.is_dir():
        text = "".join(json.dumps(plain(line), ensure_ascii=False, allow_nan=False) + "\n" for line in lines)
        (place / HITS).write_text(text, "utf-8")
