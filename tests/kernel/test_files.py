"""Whole small files by the batch, and the MD5 of many of them at once: that of hashlib, on every CPU."""

from __future__ import annotations

import errno
import hashlib
import os
import random
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from trueline.kernel import library
from trueline.kernel.files import TOO_LARGE, BatchReader, StopFlag

pytestmark = pytest.mark.skipif(
    not library.is_loaded(), reason="there is no native code, and nothing that stands for it"
)

ROOM, MOST, COUNT = 1 << 16, 1 << 14, 64


@pytest.fixture(params=["best", "baseline"], autouse=True)
def kernel_backend(request: pytest.FixtureRequest) -> Iterator[None]:
    """The lanes of this run of the test; there is no twin."""
    library.choose_lanes(request.param == "best")
    yield
    library.choose_lanes(True)


def digests(buffers: Sequence[bytes]) -> list[bytes]:
    room = bytearray(b"".join(buffers) + bytes(MOST + 1))
    reader = BatchReader(room, MOST, len(buffers))
    at = 0
    for place, one in enumerate(buffers):
        reader.starts[place], reader.sizes[place] = at, len(one)
        at += len(one)
    content = bytearray(b"\xaa" * 16 * (len(buffers) + 2))
    reader.md5_into(content, 1, len(buffers))
    assert content[:16] == content[-16:] == b"\xaa" * 16
    return [bytes(content[at : at + 16]) for at in range(16, len(content) - 16, 16)]


def expected(buffers: Sequence[bytes]) -> list[bytes]:
    return [hashlib.md5(one).digest() for one in buffers]


def test_md5_of_every_short_length() -> None:
    draw = random.Random(0)
    buffers = [draw.randbytes(size) for size in range(201)]
    assert digests(buffers) == expected(buffers)
    assert [digests([one])[0] for one in buffers] == expected(buffers)


@pytest.mark.parametrize("edge", [64, 128, 512, 4096, 8192, 1 << 20])
def test_md5_around_the_edges_of_blocks(edge: int) -> None:
    draw = random.Random(edge)
    buffers = [draw.randbytes(edge + apart) for apart in (-10, -9, -8, -1, 0, 1, 55, 56, 57, 63)]
    assert digests(buffers) == expected(buffers)


@pytest.mark.parametrize("seed", range(40))
def test_md5_of_buffers_of_unequal_length(seed: int) -> None:
    draw = random.Random(seed)
    most = draw.choice([70, 300, 20_000])
    buffers = [draw.randbytes(draw.randrange(most)) for _ in range(draw.randrange(1, 40))]
    assert digests(buffers) == expected(buffers)


def test_a_file_that_could_not_be_read_gets_no_md5() -> None:
    reader = BatchReader(bytearray(b"abc" + bytes(MOST)), MOST, 4)
    reader.sizes[:] = array("q", [-errno.ENOENT, 3, TOO_LARGE, 0])
    content = bytearray(64)
    reader.md5_into(content, 0, 4)
    assert content == bytes(16) + hashlib.md5(b"abc").digest() + bytes(16) + hashlib.md5().digest()


class Reading:
    """A reader, and what it has read by name."""

    def __init__(self, folder: Path, room: int = ROOM) -> None:
        self.room = bytearray(room)
        self.reader = BatchReader(self.room, MOST, COUNT)
        self.folder = folder
        self.stop = StopFlag()

    def __call__(self, *names: str) -> list[bytes | int]:
        found: list[bytes | int] = []
        for place in range(self.reader.read(f"{self.folder}/", names, self.stop)):
            start, size = self.reader.starts[place], self.reader.sizes[place]
            found.append(bytes(self.room[start : start + size]) if size >= 0 else size)
        return found


def test_files_are_read_whole_wherever_they_lie(tmp_path: Path) -> None:
    draw = random.Random(1)
    contents = {f"{size}": draw.randbytes(size) for size in (0, 1, 63, 64, 65, 4096, MOST - 1)}
    contents[os.fsdecode(b"\xff \n")] = b"not UTF-8"
    (tmp_path / "inner").mkdir()
    for name, content in contents.items():
        (tmp_path / "inner" / name).write_bytes(content)
    names = [*(f"inner/{name}" for name in contents), str(tmp_path / "inner" / "65")]
    assert Reading(tmp_path)(*names) == [*contents.values(), contents["65"]]


def test_what_could_not_be_read_says_why_and_no_descriptor_stays_open(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    (tmp_path / "folder").mkdir()
    (tmp_path / "round").symlink_to("round")
    free = os.dup(0)
    os.close(free)
    read = Reading(tmp_path)
    assert read("gone", "file", "folder", "round", "file/below", "x" * 300, "y/" * 3000, "file") == [
        -errno.ENOENT,
        b"1",
        -errno.EISDIR,
        -errno.ELOOP,
        -errno.ENOTDIR,
        -errno.ENAMETOOLONG,
        -errno.ENAMETOOLONG,
        b"1",
    ]
    # The system gives out the lowest number that is free.
    assert os.dup(0) == free
    os.close(free)


def test_a_file_of_the_greatest_size_or_more_is_left_with_its_size(tmp_path: Path) -> None:
    read = Reading(tmp_path)
    for size in (MOST - 1, MOST, MOST + 1, 5 * MOST):
        (tmp_path / f"{size}").write_bytes(bytes(size))
    assert read(f"{MOST - 1}", f"{MOST}", f"{MOST + 1}", f"{5 * MOST}", f"{MOST - 1}") == [
        bytes(MOST - 1),
        *[TOO_LARGE] * 3,
        bytes(MOST - 1),
    ]
    assert list(read.reader.starts[1:4]) == [MOST, MOST + 1, 5 * MOST]


@pytest.mark.parametrize("size", [1, 1000, MOST // 2, MOST - 64, MOST - 1])
def test_where_the_room_is_full_the_rest_comes_with_the_next_call(tmp_path: Path, size: int) -> None:
    draw = random.Random(2)
    contents = {f"{place}": draw.randbytes(size) for place in range(COUNT)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    read, found = Reading(tmp_path, MOST + 1), list[bytes | int]()
    while len(found) < COUNT:
        more = read(*list(contents)[len(found) :])
        assert more
        found += more
    assert found == list(contents.values())


def test_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert Reading(tmp_path)("pipe") == [b""]
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    assert Reading(tmp_path)("pipe") == [-errno.EAGAIN]
    os.close(writer)


def test_no_file_more_is_read_when_asked_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"1")
    read = Reading(tmp_path)
    read.stop.set()
    assert read("file", "file") == []


def test_a_name_that_no_file_can_have_is_no_two_names(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="null byte"):
        Reading(tmp_path)("a\0b", "c")
