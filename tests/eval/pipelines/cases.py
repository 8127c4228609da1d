"""Pipelines with a fault in a known place, and healthy ones: what ``data debug`` must say of each."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FRAMEWORKS = ("torch", "mindspore")
_LONGEST = 120
# The faults as they were called when they were written, and what the verb calls them.
KINDS = {
    "cannot-batch-shapes": "cannot_batch",
    "cannot-batch-type": "cannot_batch",
    "cannot-pickle-for-workers": "cannot_pickle",
    "cannot-shuffle": "cannot_shuffle",
    "collate-raises": "cannot_batch",
    "column-missing": "columns",
    "column-named-twice": "columns",
    "columns-do-not-match": "columns",
    "dtype-drifts": "dtype",
    "empty-second-epoch": "exhausted",
    "fails-in-second-epoch": "raises",
    "global-missing-in-worker": "raises",
    "label-out-of-range": "labels",
    "length-too-large": "length_too_large",
    "length-too-small": "length_too_small",
    "no-batches": "no_batches",
    "none-sample": "no_sample",
    "operator-changes-shape": "cannot_batch",
    "operator-gives-inf": "nonfinite",
    "operator-gives-nan": "nonfinite",
    "operator-raises": "raises",
    "same-order-each-epoch": "same_order",
    "same-random-each-sample": "reseeded",
    "same-random-in-workers": "same_random",
    "sampler-index-out-of-range": "order",
    "samples-repeated-by-workers": "duplicated",
    "slow-operator": "slow",
    "source-changed-in-place": "changes_data",
    "source-gives-nan": "nonfinite",
    "source-raises": "raises",
    "structure-differs": "structure",
    "value-range-differs": "apart",
    "value-wraps-round": "wrapped",
    "wrong-operator-order": "layout",
    "zip-lengths-differ": "zipped",
}
# Torch has no columns: a key that is not there raises; MindSpore has no other structure than its columns.
OTHER_KINDS = {("torch", "column-missing"): "raises", ("mindspore", "structure-differs"): "columns"}
# What is no fault for certain, and said as a note: only who sees the training loop knows whether it tells the sampler.
NOTES = ("slow",)
NOTED = ("distributed_no_set_epoch",)


@dataclass(frozen=True)
class Case:
    """A file with a factory ``make``, and what is known of it."""

    name: str
    framework: str
    told: Mapping[str, Any] = field(repr=False)

    @property
    def file(self) -> Path:
        """The pipeline."""
        return HERE / self.framework / f"{self.name}.py"

    @property
    def healthy(self) -> bool:
        """Whether nothing may be found."""
        return self.told["fault"] is None

    @property
    def kind(self) -> str:
        """What the verb calls the fault."""
        fault = self.told["fault"]
        return OTHER_KINDS.get((self.framework, fault), KINDS[fault])

    @property
    def lines(self) -> list[int]:
        """The lines that are marked."""
        text = self.file.read_text("utf-8").splitlines()
        return [place for place, line in enumerate(text, 1) if self.told["file_line_marker"] in line]


def cases() -> list[Case]:
    """All of them."""
    return [
        Case(path.stem, framework, json.loads(path.read_text("utf-8")))
        for framework in FRAMEWORKS
        for path in sorted((HERE / framework).glob("*.json"))
    ]


def debugged(case: Case) -> dict[str, Any]:
    """What the verb answers, in a process of its own."""
    sources = str(HERE.parents[2] / "src")
    environment = {"ONEDNN_MAX_CPU_ISA": "AVX2", "OMP_NUM_THREADS": "1", **os.environ, "PYTHONPATH": sources}
    command = [sys.executable, "-m", "trueline", "data", "debug", f"{case.file.name}:make", "--json"]
    ended = subprocess.run(
        command, cwd=case.file.parent, env=environment, capture_output=True, text=True, timeout=_LONGEST, check=False
    )
    if ended.returncode not in (0, 1):
        raise RuntimeError(f"exit code {ended.returncode}: {ended.stderr[-300:]}")
    answer: dict[str, Any] = json.loads(ended.stdout)
    return answer


def wrong(case: Case, answer: Mapping[str, Any]) -> list[str]:
    """What is not right about an answer: the fault, its operator, its sample, its line, or more than that."""
    found = [one for one in answer["findings"] if one["conclusion"] == "found"]
    if case.healthy:
        return [f"found {one['kind']}" for one in found]
    ours = next((one for one in answer["findings"] if one["kind"] == case.kind), None)
    if ours is None:
        return [f"not {case.kind} but {', '.join(one['kind'] for one in found) or 'nothing'}"]
    told, where = case.told, ours["where"]
    operator, sample = (ours["operator"] or "").split(".")[-1], (ours["samples"] or [None])[0]
    wrongs = [f"also {one['kind']}" for one in found if one is not ours]
    if ours["conclusion"] != "found" and case.kind not in NOTES and case.name not in NOTED:
        wrongs.append("only suspected")
    if told["operator"] is not None and operator != told["operator"].split(".")[-1]:
        wrongs.append(f"operator {operator}")
    if told["sample"] is not None and sample != told["sample"]:
        wrongs.append(f"sample {sample}")
    if where["line"] not in case.lines or Path(where["file"]).name != case.file.name:
        wrongs.append(f"line {where['line']}")
    return wrongs
