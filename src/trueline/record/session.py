"""``with trueline.record(...)``: recording in a notebook or a loop of one's own."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trueline.model.message import Message
from trueline.model.steps import Steps
from trueline.model.trouble import BadUsage
from trueline.record.recording import Recording
from trueline.record.wanted import Wanted, chosen_steps


def default_folder(name: str) -> Path:
    """``runs/<name>-<time>``, one that is not there yet."""
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    wanted = Path("runs") / f"{name}-{stamp}"
    count = 1
    while wanted.exists():
        count += 1
        wanted = Path("runs") / f"{name}-{stamp}-{count}"
    return wanted


def warn(said: Message) -> None:
    """As Python warns."""
    warnings.warn(said.text(), RuntimeWarning, stacklevel=2)


@contextmanager
def record(
    folder: str | Path | None = None,
    *,
    stats: bool = False,
    tensors: bool = False,
    inputs: bool = False,
    grads: bool = False,
    weights: bool = False,
    steps: str | Steps | None = None,
    modules: str | tuple[str, ...] = (),
    source: bool = True,
) -> Iterator[Recording]:
    """Record all training inside the block into a run folder (default ``runs/run-<time>``).

    The options are those of ``trueline run``. Nothing in here stops or changes the training.
    """
    wanted = Wanted(
        (Path(folder) if folder is not None else default_folder("run")).absolute(),
        stats=stats or ((inputs or grads or weights) and not tensors),
        tensors=tensors,
        inputs=inputs,
        grads=grads,
        weights=weights,
        steps=steps if isinstance(steps, Steps) else chosen_steps(steps, tensors=tensors),
        modules=(modules,) if isinstance(modules, str) else tuple(modules),
        source=source,
    )
    check_free(wanted.folder)
    recording = Recording(wanted, warn)
    recording.begin()
    code = 1
    try:
        yield recording
        code = 0
    finally:
        recording.finish(code)


def check_free(folder: Path) -> None:
    """A BadUsage where a run, or anything else, is already there."""
    if folder.is_file() or (folder.is_dir() and (folder / "run.json").exists()):
        raise BadUsage("record.folder_taken", folder=str(folder))
