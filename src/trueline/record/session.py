"""``with trueline.record(...)``: recording in a notebook or a loop of one's own."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trueline.model.message import Message
from trueline.model.steps import Steps
from trueline.model.trouble import BadFile, BadUsage
from trueline.record.claims import claim
from trueline.record.recording import Recording
from trueline.record.wanted import Wanted, chosen_steps


def default_folder(name: str) -> Path:
    """``runs/<name>-<time>``, one that is not there yet and that no other run has taken at the same time."""
    stamp = datetime.datetime.now().strftime("%Y%m%d-%H%M%S")
    wanted = Path("runs") / f"{name}-{stamp}"
    count = 1
    while wanted.exists() or not claim(wanted):
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
    """A BadUsage where a run, or anything else, is already there, or another run has just taken it."""
    try:
        taken = _is_taken(folder)
    except OSError as error:
        # A name that is too long, for instance.
        raise BadFile(folder, error.strerror or type(error).__name__) from None
    if taken:
        raise BadUsage("record.folder_taken", folder=str(folder))
    if not claim(folder):
        raise BadUsage("record.folder_in_use", folder=str(folder))


def _is_taken(folder: Path) -> bool:
    """Whether something is there that is no folder to record into: a file, a pipe, a link that leads nowhere, a run."""
    try:
        folder.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    # A run whose recording went off at once has no run.json; other ranks of this run may be here before the first.
    return not folder.is_dir() or any((folder / name).exists() for name in ("run.json", "rank-00000"))
