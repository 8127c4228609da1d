"""Graph mode: MindSpore's own dump, configured before MindSpore is imported.

Nothing here imports MindSpore.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from trueline.model.steps import Steps

DUMP: Final = "dump"

_NET = "trueline"
_LAST_STEP = 2**31 - 1
# Steps that are no range are listed one by one: bounds the list.
_MAX_LISTED_STEPS = 1000


def prepare(folder: Path, steps: Steps) -> dict[str, str]:
    """Write the dump configuration into a folder; returns the environment variables to set before the import."""
    folder = folder.absolute()
    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "common_dump_settings": {
            "op_debug_mode": 0,
            "dump_mode": 0,
            "path": str(folder / DUMP),
            "net_name": _NET,
            "iteration": _iterations(steps),
            "saved_data": "tensor",
            "input_output": 2,
            "kernels": [],
            "support_device": list(range(8)),
        },
        "e2e_dump_settings": {"enable": True, "trans_flag": True},
    }
    config = folder / "dump.json"
    config.write_text(json.dumps(settings, indent=1), encoding="utf-8")
    return {"MINDSPORE_DUMP_CONFIG": str(config)}


def _iterations(steps: Steps) -> str:
    parts: list[str] = []
    for start, stop, stride in steps.parts:
        if (start, stop, stride) == (0, None, 1):
            return "all"
        last = _LAST_STEP if stop is None else stop - 1
        if stride == 1:
            parts.append(f"{start}-{last}" if last > start else str(start))
        else:
            parts.extend(str(step) for step in range(start, last + 1, stride)[: _MAX_LISTED_STEPS - len(parts)])
    return "|".join(parts)
