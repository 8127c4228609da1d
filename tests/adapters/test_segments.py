"""Large arrays beside a message: what arrives, what is passed on, and what of a guest's is not believed."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from trueline.adapters.guest.segments import MIN_BYTES, Channel, Segment
from trueline.adapters.guest.wire import Garbled, packed, unpacked
from trueline.kernel.array import Array


class _Read:
    def __init__(self, content: bytes) -> None:
        self._file = BytesIO(content)

    def line(self) -> bytes:
        return self._file.readline()

    def fill(self, room: memoryview) -> None:
        assert self._file.readinto(room) == len(room)


@pytest.fixture
def channels() -> tuple[Channel, Channel, socket.socket]:
    """Both ends, and what a guest that is up to no good would write into."""
    made = Channel.pair()
    assert made is not None
    return made[0], Channel(made[1]), made[1]


def _message(arrays: list[Array], channel: Channel | None) -> bytes:
    return b"".join(bytes(piece) for piece in packed({"a": 1}, arrays, channel))


_ARRAYS: list[Array] = [
    np.arange(40_000, dtype=np.float32).reshape(200, 200),
    np.array(3.0),
    np.arange(3, dtype=np.int8),
    np.arange(90_000, dtype=np.float64).reshape(300, 300).T,
    np.zeros((0, 7)),
]


@pytest.mark.parametrize("beside", [True, False])
def test_arrays_arrive_as_they_were(channels: tuple[Channel, Channel, socket.socket], beside: bool) -> None:
    ours, theirs, _ = channels
    content = _message(_ARRAYS, ours if beside else None)
    assert (len(content) < MIN_BYTES) is beside
    found = unpacked(_Read(content), theirs)
    assert found is not None
    assert found[0] == {"a": 1}
    for there, here in zip(_ARRAYS, found[1], strict=True):
        assert here.dtype == there.dtype
        assert here.shape == there.shape
        assert np.array_equal(here, there)
        assert here.flags.writeable


def test_what_is_passed_on_is_not_written_again(channels: tuple[Channel, Channel, socket.socket]) -> None:
    ours, theirs, _ = channels
    first = unpacked(_Read(_message(_ARRAYS, ours)), theirs, writeable=False)
    assert first is not None
    content = _message([first[1][0], first[1][3]], theirs)
    assert json.loads(content.splitlines()[0])["segments"] == 2
    again = unpacked(_Read(content), ours)
    assert again is not None
    assert np.array_equal(again[1][0], _ARRAYS[0])
    assert np.array_equal(again[1][1], _ARRAYS[3])


def test_what_one_side_writes_the_other_does_not_see(channels: tuple[Channel, Channel, socket.socket]) -> None:
    ours, theirs, _ = channels
    first = unpacked(_Read(_message(_ARRAYS, ours)), theirs, writeable=False)
    assert first is not None
    there = unpacked(_Read(_message([first[1][0]], theirs)), ours)
    assert there is not None
    there[1][0][:] = 7
    assert np.array_equal(first[1][0], _ARRAYS[0])


def test_memory_that_could_shrink_is_refused(channels: tuple[Channel, Channel, socket.socket]) -> None:
    ours, _, theirs = channels
    unsealed = os.memfd_create("unsealed", os.MFD_ALLOW_SEALING)
    os.ftruncate(unsealed, 1 << 20)
    socket.send_fds(theirs, [b"."], [unsealed])
    os.close(unsealed)
    line = json.dumps({"arrays": [["float32", [100, 100], 0, 0]], "segments": 1}).encode() + b"\n"
    with pytest.raises(Garbled):
        unpacked(_Read(line), ours)


@pytest.mark.parametrize(
    ("described", "count"),
    [
        (["float32", [1 << 20, 1 << 20], 0, 0], 1),
        (["float32", [10], 0, -64], 1),
        (["float32", [10], 0, 3], 1),
        (["float32", [10], 1, 0], 1),
        (["float32", [10], "0", 0], 1),
        (["float32", [10], 0, 0], 2),
        (["float32", [10], 0, 0], -1),
        (["float32", [10], 0], 1),
    ],
)
def test_places_that_are_none_are_refused(
    channels: tuple[Channel, Channel, socket.socket], described: list[object], count: int
) -> None:
    ours, theirs, _ = channels
    _message(_ARRAYS[:1], theirs)
    line = json.dumps({"arrays": [described], "segments": count}).encode() + b"\n"
    with pytest.raises(Garbled):
        unpacked(_Read(line), ours)


def test_a_promised_segment_that_does_not_come_is_no_hang(
    channels: tuple[Channel, Channel, socket.socket],
) -> None:
    line = json.dumps({"arrays": [["float32", [10], 0, 0]], "segments": 1}).encode() + b"\n"
    with pytest.raises(Garbled):
        unpacked(_Read(line), channels[0])


def test_descriptors_are_given_back(channels: tuple[Channel, Channel, socket.socket]) -> None:
    ours, theirs, _ = channels
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(5):
        found = unpacked(_Read(_message(_ARRAYS, ours)), theirs)
        del found
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_segment_is_sealed(channels: tuple[Channel, Channel, socket.socket]) -> None:
    ours, theirs, _ = channels
    found = unpacked(_Read(_message(_ARRAYS[:1], ours)), theirs)
    assert found is not None
    base: object = found[1][0]
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(base, memoryview)
    segment = base.obj
    assert isinstance(segment, Segment)
    assert fcntl.fcntl(segment.descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK
    with pytest.raises(PermissionError):
        os.ftruncate(segment.descriptor, 1)
