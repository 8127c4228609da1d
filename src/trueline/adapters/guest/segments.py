"""Large arrays of a message, in memory that both processes map: nothing of them goes through a pipe.

A segment is sealed by whoever writes it: it can neither shrink nor change under those who read it.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import socket
import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np

from trueline.kernel.array import Array

# Smaller arrays are through a pipe before a segment is made.
MIN_BYTES: Final = 1 << 16
# What vector instructions like to begin at.
_ALIGNMENT: Final = 64
_SEALS: Final = ("F_SEAL_SHRINK", "F_SEAL_GROW", "F_SEAL_WRITE", "F_SEAL_SEAL")
# The kernel takes 253 at once.
_DESCRIPTORS_AT_ONCE: Final = 200
_AVAILABLE: Final = sys.platform.startswith("linux") and hasattr(fcntl, "F_ADD_SEALS")


class Unsealed(Exception):  # noqa: N818
    """A segment that could change or shrink while it is read, or that is not there."""


class Segment(mmap.mmap):
    """A segment as it is mapped: what is written to it here stays here."""

    descriptor: int
    address: int

    @classmethod
    def mapped(cls, descriptor: int) -> Self:
        """Take a descriptor over; Unsealed where that is not safe."""
        try:
            sealed = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS)
            if any(not sealed & getattr(fcntl, seal) for seal in _SEALS):
                raise Unsealed("seals")
            size = os.fstat(descriptor).st_size
            segment = cls(descriptor, size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        except (OSError, ValueError) as error:
            os.close(descriptor)
            raise Unsealed(str(error)) from None
        except Unsealed:
            os.close(descriptor)
            raise
        segment.descriptor = descriptor
        segment.address = np.frombuffer(segment, np.uint8).ctypes.data
        return segment

    def __del__(self) -> None:
        if hasattr(self, "descriptor"):
            os.close(self.descriptor)

    def bytes_at(self, offset: int, count: int) -> Array:
        """So many bytes of it; Unsealed where it has no such place."""
        if offset < 0 or offset % _ALIGNMENT or offset + count > len(self):
            raise Unsealed("offset")
        return np.frombuffer(self, np.uint8, count, offset)


@dataclass(slots=True)
class Outgoing:
    """What lies beside one message: segments that are there already are named again, the rest goes into a new one."""

    descriptors: list[int] = field(default_factory=list)
    _known: dict[int, int] = field(default_factory=dict)
    _new: list[tuple[int, Array]] = field(default_factory=list)
    _size: int = 0

    def place(self, array: Array) -> tuple[int, int]:
        """The segment that an array lies in, and where; 0 is the new one."""
        there = _segment_of(array)
        if there is not None:
            number = self._known.setdefault(there.descriptor, 1 + len(self._known))
            return number, array.ctypes.data - there.address
        offset = self._size
        self._new.append((offset, array))
        self._size = offset + -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
        return 0, offset

    @contextlib.contextmanager
    def written(self) -> Iterator[Sequence[int]]:
        """The descriptors of all of them, in order, as long as the block lasts."""
        descriptor = os.memfd_create("trueline", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(descriptor, max(self._size, 1))
            for offset, array in self._new:
                _write(descriptor, array, offset)
            for seal in _SEALS:
                fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, getattr(fcntl, seal))
            yield [descriptor, *self._known]
        finally:
            os.close(descriptor)


def _write(descriptor: int, array: Array, offset: int) -> None:
    left = memoryview(array.reshape(-1).view(np.uint8).data)
    while len(left):
        count = os.pwrite(descriptor, left, offset)
        left, offset = left[count:], offset + count


def _segment_of(array: Array) -> Segment | None:
    """The segment that an array lies in unchanged: what can be written to may have been."""
    if array.flags.writeable:
        return None
    base: object = array
    while isinstance(base, np.ndarray):
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return base if isinstance(base, Segment) and not (array.ctypes.data - base.address) % _ALIGNMENT else None


class Channel:
    """A socket beside the pipes, which carries descriptors only."""

    def __init__(self, own: socket.socket) -> None:
        self._socket = own

    @classmethod
    def pair(cls) -> tuple[Channel, socket.socket] | None:
        """Our end and theirs; None where the system has no such memory."""
        if not _AVAILABLE:
            return None
        try:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        except OSError:
            return None
        return cls(ours), theirs

    def give(self, descriptors: Sequence[int]) -> None:
        """Send descriptors, before the message that they belong to."""
        for first in range(0, len(descriptors), _DESCRIPTORS_AT_ONCE):
            socket.send_fds(self._socket, [b"."], descriptors[first : first + _DESCRIPTORS_AT_ONCE])

    def take(self, count: int) -> list[Segment]:
        """The segments of a message that has arrived: they are there, or never will be."""
        segments: list[Segment] = []
        while len(segments) < count:
            wanted = min(count - len(segments), _DESCRIPTORS_AT_ONCE)
            left = self._descriptors(wanted)
            try:
                while left:
                    segments.append(Segment.mapped(left.pop(0)))
            except Unsealed:
                for descriptor in left:
                    os.close(descriptor)
                raise
        return segments

    def _descriptors(self, count: int) -> list[int]:
        found = array("i")
        try:
            # Not ``recv_fds``, which takes flags and waits all the same.
            _, beside, _, _ = self._socket.recvmsg(1, socket.CMSG_LEN(count * found.itemsize), socket.MSG_DONTWAIT)
        except OSError as error:
            raise Unsealed(str(error)) from None
        for level, kind, content in beside:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                found.frombytes(content[: len(content) - len(content) % found.itemsize])
        if len(found) != count:
            for descriptor in found:
                os.close(descriptor)
            raise Unsealed("descriptors")
        return list(found)

    def close(self) -> None:
        """No more descriptors."""
        self._socket.close()
