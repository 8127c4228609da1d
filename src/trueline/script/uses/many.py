"""Many files: one process after another file, or several beside each other where that is worth it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from trueline.model.message import message
from trueline.model.trouble import BadFile
from trueline.script.notebook import ENDING
from trueline.script.project import Project, resolved, scripts_in
from trueline.script.uses.found import FileUses, read_uses
from trueline.script.uses.imports import Imports

# Less than this is read before a pool has started.
_WORTH_A_POOL: Final = 2 << 20
_SHARD: Final = 256 << 10

_imports: dict[tuple[str, ...], Imports] = {}


def list_files(paths: Sequence[Path]) -> list[Path]:
    """The scripts and notebooks of files and folders, each once."""
    found: list[Path] = []
    for path in paths:
        try:
            if path.is_dir():
                found += scripts_in(path, (".py", ENDING))
            elif path.exists():
                found.append(path)
            else:
                raise BadFile(path, message("script.not_there").text())
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise BadFile(path, message("script.unreadable", reason=reason).text()) from None
    return list(dict.fromkeys(found))


def read_many(
    files: Sequence[Path],
    roots: Sequence[Path],
    executor: Executor | None = None,
    progress: Callable[[int], None] | None = None,
) -> Iterator[FileUses]:
    """What each file uses, in their order; ``progress`` hears how many are done."""
    shards = _shards(files)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    names = tuple(str(resolved(root)) for root in roots)
    done = 0
    if executor is None and (cores == 1 or sum(map(_size, files)) < _WORTH_A_POOL):
        imports = Imports(Project(roots, []))
        for file in files:
            yield _read(file, imports)
            done += 1
            if progress is not None:
                progress(done)
        return
    with _pool(executor, min(cores, len(shards))) as pool:
        for found in pool.map(_read_shard, shards, [names] * len(shards)):
            yield from found
            done += len(found)
            if progress is not None:
                progress(done)


def _read_shard(files: Sequence[Path], roots: tuple[str, ...]) -> list[FileUses]:
    if roots not in _imports:
        _imports[roots] = Imports(Project([Path(root) for root in roots], []))
    return [_read(file, _imports[roots]) for file in files]


def _read(file: Path, imports: Imports) -> FileUses:
    return read_uses(resolved(file), str(file), imports)


def _shards(files: Sequence[Path]) -> list[list[Path]]:
    shards: list[list[Path]] = [[]]
    held = 0
    for file in files:
        if held > _SHARD:
            shards.append([])
            held = 0
        shards[-1].append(file)
        held += _size(file)
    return shards


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


@contextmanager
def _pool(executor: Executor | None, workers: int) -> Iterator[Executor]:
    if executor is not None:
        yield executor
        return
    own = ProcessPoolExecutor(workers)
    finished = False
    try:
        yield own
        finished = True
    finally:
        own.shutdown(wait=finished, cancel_futures=not finished)
