"""Hashes of many files at once: each read once for all of its hashes, on all cores, in buffers that are used again."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from array import array
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from time import sleep
from typing import Final, Protocol

from trueline.data.manifest.listing import why_unread
from trueline.formats.manifest.listed import DIGEST, FAST, MD5, NO_DIGEST, UNKNOWN, Digests, Unread
from trueline.kernel.files import TOO_LARGE, BatchReader, StopFlag, native_files
from trueline.model.trouble import Missing

# Python's own work between two system calls is what threads cannot share: the fewer and longer these, the better; but
# what was read is to be in a core's own cache still when it is hashed.
_BUFFER: Final = 1 << 19
# A batch that the native code reads in one go: of larger files, too, there are then enough for most of its lanes.
_ROOM: Final = 1 << 21
_LARGE_FILE_BYTES: Final = 8 << 20
_BATCH_FILES: Final = 64
_BATCH_BYTES: Final = 8 << 20
_IDLE_SECONDS: Final = 0.001
_TELL_EVERY: Final = 0.2

Progress = Callable[[int], None]


@dataclass(slots=True)
class Hashed:
    """Of every file its hashes and the bytes that were read; ``unread`` has the places of files that could not be."""

    hashes: dict[str, Digests]
    sizes: array[int]
    unread: dict[int, Unread] = field(default_factory=dict)


class _Work:
    """What the threads share: files to be hashed, where the hashes go, and whether to stop."""

    def __init__(self, root: str, names: Sequence[str], sizes: array[int], kinds: Sequence[str]) -> None:
        self.base = f"{root}/" if root else ""
        self.names = names
        self.found = Hashed({kind: Digests.room_for(len(names)) for kind in kinds}, array("q", sizes))
        large, small = _batches(sizes)
        # The largest last: that is the end from which they are taken.
        self.large = sorted((sizes[place], place) for place in large)
        self.small = deque(small)
        self.makers = [(self.found.hashes[kind], *_maker(kind)) for kind in kinds]
        self.lock = Lock()
        self.busy = 0
        self.stopped = StopFlag()

    def take(self) -> Sequence[int] | None:
        """What to do next, the largest files first; None where there is no more, nor will be."""
        while not self.stopped:
            with self.lock:
                if self.large:
                    return (self.large.pop()[1],)
                if self.small:
                    self.busy += 1
                    return self.small.popleft()
                if not self.busy:
                    return None
            # Another thread may still come upon large files.
            sleep(_IDLE_SECONDS)
        return None

    def ended(self, batch: Sequence[int], large: Sequence[tuple[int, int]]) -> None:
        """A batch of small files is done; these of them were large, and were left for later."""
        if isinstance(batch, range):
            with self.lock:
                self.large = sorted([*self.large, *large])
                self.busy -= 1


def hash_files(
    root: str,
    names: Sequence[str],
    sizes: array[int],
    kinds: Sequence[str],
    progress: Progress | None = None,
    workers: int | None = None,
) -> Hashed:
    """The hashes of files below ``root``; ``progress`` hears of the bytes that are done."""
    work = _Work(root, names, sizes, kinds)
    # How many large files there are shows only when they are read.
    count = min(workers or _cores(), len(names))
    if count < 2:
        _run(work, done := [0])
        if progress is not None:
            progress(done[0])
        return work.found
    reported = 0
    dones = [[0] for _ in range(count)]
    with ThreadPoolExecutor(count) as pool:
        waiting = {pool.submit(_run, work, done) for done in dones}
        try:
            while waiting:
                ended, waiting = wait(waiting, timeout=_TELL_EVERY)
                for future in ended:
                    future.result()
                now = sum(done[0] for done in dones)
                if progress is not None:
                    progress(now - reported)
                reported = now
        finally:
            # Ctrl-C: the threads end with the piece or the small file that they are reading.
            work.stopped.set()
    return work.found


def _cores() -> int:
    return len(os.sched_getaffinity(0))


def _batches(sizes: array[int]) -> tuple[list[int], list[range]]:
    """Places of files that are known to be large, and of small ones, or of which nothing is known, by the batch."""
    large: list[int] = []
    small: list[range] = []
    begin = held = 0
    for place, size in enumerate(sizes):
        if size > _LARGE_FILE_BYTES:
            if begin < place:
                small.append(range(begin, place))
            large.append(place)
            begin, held = place + 1, 0
            continue
        held += max(size, 0)
        if held >= _BATCH_BYTES or place - begin + 1 >= _BATCH_FILES:
            small.append(range(begin, place + 1))
            begin, held = place + 1, 0
    if begin < len(sizes):
        small.append(range(begin, len(sizes)))
    return large, small


class _Hash(Protocol):
    """A hash of bytes to come: hashlib's, or xxhash's."""

    def update(self, data: memoryview, /) -> None: ...

    def digest(self) -> bytes: ...


def _maker(kind: str) -> tuple[Callable[[memoryview], bytes], Callable[[], _Hash]]:
    """What gives the hash of bytes that are all there, and what begins one of bytes to come."""
    if kind == MD5:
        new = partial(hashlib.md5, usedforsecurity=False)
        return (lambda data: new(data).digest()), new
    assert kind == FAST
    try:
        import xxhash
    except ImportError:
        raise Missing("manifest.needs_xxhash") from None
    return xxhash.xxh3_128_digest, xxhash.xxh3_128


def _run(work: _Work, done: list[int]) -> None:
    room = bytearray(_ROOM if native_files() else _BUFFER)
    reader = BatchReader(room, _BUFFER, _BATCH_FILES) if native_files() else None
    view = memoryview(room)
    while (batch := work.take()) is not None:
        left: list[tuple[int, int]] = []
        try:
            if reader is not None and isinstance(batch, range):
                _hash_natively(work, batch, reader, view, done, left)
            else:
                _hash_batch(work, batch, view[:_BUFFER], done, left)
        finally:
            work.ended(batch, left)


def _hash_natively(
    work: _Work, batch: range, reader: BatchReader, view: memoryview, done: list[int], left: list[tuple[int, int]]
) -> None:
    """A batch of small files as ``_hash_batch`` does it, where next to nothing is Python's work."""
    begin, sizes = batch.start, work.found.sizes
    while begin < batch.stop and not work.stopped:
        count = reader.read(work.base, work.names[begin : batch.stop], work.stopped)
        if not count:
            return
        found, end = reader.sizes[:count], begin + count
        for kind, (held, whole, _) in zip(work.found.hashes, work.makers, strict=True):
            if kind == MD5:
                reader.md5_into(held.content, begin, count)
                continue
            digests = [
                whole(view[start : start + size]) if size >= 0 else NO_DIGEST
                for start, size in zip(reader.starts, found, strict=False)
            ]
            held.content[begin * DIGEST : end * DIGEST] = b"".join(digests)
        done[0] += sum(found) if min(found) >= 0 else sum(size for size in found if size > 0)
        for at, size in enumerate(found) if min(found) < 0 else ():
            if size == TOO_LARGE:
                left.append((reader.starts[at], begin + at))
                found[at] = sizes[begin + at]
            elif size < 0:
                name = work.names[begin + at]
                work.found.unread[begin + at] = why_unread(name, OSError(-size, os.strerror(-size)))
                found[at] = UNKNOWN
        sizes[begin:end] = found
        begin = end


def _hash_batch(
    work: _Work, batch: Sequence[int], view: memoryview, done: list[int], left: list[tuple[int, int]]
) -> None:
    """What is done for every file is done here, without a call more than there must be: small files are many."""
    names, sizes, unread = work.names, work.found.sizes, work.found.unread
    base, buffers = work.base, [view]
    wholes = [(held.content, whole) for held, whole, _ in work.makers]
    several = isinstance(batch, range)
    for place in batch:
        if work.stopped:
            return
        name = names[place]
        try:
            # What has become a pipe by now must not keep its reader waiting.
            descriptor = os.open(name if name.startswith("/") else base + name, os.O_RDONLY | os.O_NONBLOCK)
            try:
                size = os.readv(descriptor, buffers)
                if several and size == _BUFFER:
                    # A large file among small ones waits until a thread has time for it alone.
                    left.append((os.fstat(descriptor).st_size, place))
                    continue
                done[0] += size
                # As long as it was said to be, it is whole; else only nothing read is the end, since a file system
                # over the network may give less than it was asked for.
                if size != sizes[place] or size == _BUFFER:
                    more = os.readv(descriptor, [view[size:]]) if size < _BUFFER else 0
                    if more or size == _BUFFER:
                        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                            # A device may never end.
                            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
                        done[0] += more
                        sizes[place] = _hash_long(work, place, descriptor, view, size + more, done)
                        continue
                    sizes[place] = size
            finally:
                os.close(descriptor)
        except OSError as error:
            unread[place] = why_unread(name, error)
            sizes[place] = UNKNOWN
            continue
        part = view[:size]
        for content, whole in wholes:
            content[place * DIGEST : place * DIGEST + DIGEST] = whole(part)


def _hash_long(work: _Work, place: int, descriptor: int, view: memoryview, part: int, done: list[int]) -> int:
    """Goes on with a file whose first ``part`` bytes are in the buffer; returns how long it is."""
    buffers = [view]
    running = [begin() for _, _, begin in work.makers]
    size = part
    while part:
        for one in running:
            one.update(view[:part])
        if work.stopped:
            return size
        part = os.readv(descriptor, buffers)
        size += part
        done[0] += part
    for (held, _, _), one in zip(work.makers, running, strict=True):
        held[place] = one.digest()
    return size
