"""A fault of a pipeline as a Finding: its kind, the operator, the samples and the user's line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from trueline.data.pipeline.evidence import Operator
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message

# The guide's codes where it has one; what it leaves out is of the family of the training loop.
CODES: Final = {
    "raises": "tr.40",
    "not_built": "tr.40",
    "hangs": "tr.40",
    "dies": "tr.40",
    "length_too_large": "tr.41",
    "length_too_small": "tr.41",
    "no_samples": "tr.41",
    "no_batches": "tr.41",
    "cannot_batch": "tr.42",
    "no_sample": "tr.42",
    "structure": "tr.42",
    "dtype": "tr.42",
    "shapes": "tr.42",
    "columns": "tr.42",
    "same_random": "tr.43",
    "reseeded": "tr.43",
    "cannot_pickle": "tr.40",
    "layout": "dp.01",
    "zipped": "tr.41",
    "exhausted": "tr.44",
    "changes_data": "tr.45",
    "nonfinite": "ds.01",
    "labels": "ds.02",
    "wrapped": "dp.01",
    "range": "dp.01",
    "apart": "dp.01",
    "not_shuffled": "dp.03",
    "same_order": "dp.03",
    "cannot_shuffle": "dp.03",
    "duplicated": "dp.05",
    "order": "dp.03",
    "slow": "pf.01",
}


def fault(
    kind: str,
    text: Message,
    *,
    operator: Operator | None = None,
    line: Location | None = None,
    samples: Sequence[int] = (),
    conclusion: Conclusion = Conclusion.FOUND,
    certainty: Certainty = Certainty.CERTAIN,
    advice: Message | None = None,
    measured: object = None,
    limit: object = None,
    field: str | None = None,
    name: str | None = None,
) -> Finding:
    """The Finding; without a line of its own it is the operator's. ``name`` is what to call what is no operator."""
    place = line or (operator.line or operator.called if operator is not None else None)
    at = replace(place, file=short(place.file)) if place is not None else Location()
    where = replace(at, sample=samples[0] if samples else None)
    extra = {
        "kind": kind,
        "operator": name or (operator.name if operator is not None else None),
        # Where its line is known, none is looked for in what the operator does.
        "place": operator.place if operator is not None and line is None else None,
        "samples": list(samples),
        "field": field,
    }
    return Finding(
        CODES[kind],
        conclusion,
        text,
        certainty,
        advice=advice,
        where=where,
        measured=measured,
        limit=limit,
        extra=extra,
    )


def listed(samples: Sequence[int], count: int | None = None) -> str:
    """Indexes as a text, the first few of many."""
    most = 6
    shown = ", ".join(map(str, samples[:most]))
    return shown + (", …" if (count or len(samples)) > most else "")


def short(file: str) -> str:
    """Relative to this folder where it lies below it."""
    return file.removeprefix(str(Path.cwd()) + os.sep)
