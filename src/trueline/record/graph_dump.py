"""MindSpore's graph mode, where hooks are never called: the framework's own dump, taken over into the run."""

from __future__ import annotations

import os
import shutil
from itertools import groupby
from pathlib import Path

from trueline.model.message import Message, message
from trueline.record.wanted import Wanted


def _place(wanted: Wanted) -> Path:
    return wanted.folder / "graph-dump"


def prepare(wanted: Wanted) -> None:
    """Ask MindSpore for a dump of the wanted steps; must come before it is imported."""
    from trueline.adapters.mindspore.graph_dump import prepare as prepare_dump

    os.environ.update(prepare_dump(_place(wanted), wanted.steps))


def collect(wanted: Wanted, rank: int = 0) -> Message:
    """Take the dumped outputs over as the steps' tensors, remove the dump, and say how many there were."""
    from trueline.adapters.mindspore.graph_dump import collect as collect_dump
    from trueline.formats.run_folder.layout import TENSORS, rank_name, tensors_name
    from trueline.formats.run_folder.tensors import can_keep, write_tensors

    folder = wanted.folder / rank_name(rank) / TENSORS
    kept = steps = 0
    for step, found in groupby(collect_dump(_place(wanted)), key=lambda one: one[0]):
        tensors = {key: array for _, key, array, _ in found if can_keep(array) and wanted.module(key.module)}
        path = folder / tensors_name(step, "train")
        if tensors and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_tensors(path, tensors)
            kept += len(tensors)
            steps += 1
    shutil.rmtree(_place(wanted), ignore_errors=True)
    if not kept:
        return message("run.no_graph_dump")
    return message("run.graph_dumped", tensors=kept, steps=steps)
