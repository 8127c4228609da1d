"""MindSpore's graph mode, where hooks are never called: the framework's own dump, taken over into the run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from trueline.model.key import Kind, Phase
from trueline.model.message import Message, message
from trueline.model.trouble import BadFile
from trueline.record.wanted import Wanted

if TYPE_CHECKING:
    from trueline.formats.dump import Dumped


def _place(wanted: Wanted) -> Path:
    return wanted.folder / "graph-dump"


def prepare(wanted: Wanted) -> None:
    """Ask MindSpore for a dump of the wanted steps; must come before it is imported."""
    from trueline.adapters.mindspore.graph_dump import prepare as prepare_dump

    os.environ.update(prepare_dump(_place(wanted), wanted.steps))


def collect(wanted: Wanted, rank: int = 0) -> Message:
    """Take the dumped outputs over as the steps' tensors, remove the dump, and say how many there were."""
    from trueline.formats.run_folder.layout import TENSORS, rank_name, tensors_name
    from trueline.formats.run_folder.tensors import can_keep, write_tensors

    folder = wanted.folder / rank_name(rank) / TENSORS
    kept = steps = 0
    for step, found in _dumped(_place(wanted)):
        arrays = {
            tensor.key: tensor.stored.array() for tensor in found if tensor.stored and wanted.module(tensor.key.module)
        }
        tensors = {key: array for key, array in arrays.items() if can_keep(array)}
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


def _dumped(folder: Path) -> Iterator[tuple[int, list[Dumped]]]:
    """Of each training step what its operators gave: a run has weights and inputs already."""
    from trueline.adapters.mindspore.graph_dump import DUMP
    from trueline.formats.ms_dump import looks_like_ms_dump, read_ms_dump

    if not looks_like_ms_dump(folder / DUMP):
        return
    try:
        dump = read_ms_dump(folder / DUMP)
    except BadFile:
        return
    for (step, _), tensors in dump.steps.items():
        yield (
            step,
            [
                tensor
                for tensor in tensors
                if tensor.key.phase is Phase.TRAIN and tensor.key.kind in (Kind.OUT, Kind.GIN)
            ],
        )
