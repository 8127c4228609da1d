"""Hashes are those of md5sum and of the xxhash package, whatever the size of a file and however many threads."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import xxhash

from trueline.data.manifest import hashing
from trueline.data.manifest.hashing import hash_files
from trueline.formats.manifest.listed import FAST, MD5, UNKNOWN
from trueline.kernel.files import native_files, use_native_files
from trueline.kernel.library import is_loaded

# Around the buffer's end, where pieces begin and end.
EDGES = [1 << 19, 1 << 20]
SIZES = [0, 1, 63, 64, *(edge + apart for edge in EDGES for apart in (-1, 0, 1)), 300_000, 400_000, (3 << 20) + 7]


@pytest.fixture(params=["native", "python"] if is_loaded() else ["python"], autouse=True)
def way(request: pytest.FixtureRequest) -> Iterator[str]:
    """Small files by the native code, and without it."""
    before = native_files()
    use_native_files(request.param == "native")
    yield request.param
    use_native_files(before)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    draw = np.random.default_rng(0)
    for place, size in enumerate([*SIZES, *[100] * 300]):
        (folder / f"{place:03}").write_bytes(draw.bytes(size))
    return folder


def names_and_sizes(folder: Path) -> tuple[list[str], array[int]]:
    names = sorted(one.name for one in folder.iterdir())
    return names, array("q", ((folder / name).stat().st_size for name in names))


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_hashes_are_true(files: Path, workers: int) -> None:
    names, sizes = names_and_sizes(files)
    found = hash_files(str(files), names, sizes, [MD5, FAST], workers=workers)
    for place, name in enumerate(names):
        content = (files / name).read_bytes()
        assert found.hashes[MD5][place] == hashlib.md5(content).digest(), name
        assert found.hashes[FAST][place] == xxhash.xxh3_128_digest(content), name
        assert found.sizes[place] == len(content)
    assert not found.unread


def test_hashes_are_md5sum_s(files: Path) -> None:
    names, sizes = names_and_sizes(files)
    found = hash_files(str(files), names, sizes, [MD5])
    output = subprocess.run(["md5sum", *names], cwd=files, capture_output=True, text=True, check=True).stdout
    digests = [found.hashes[MD5][place] for place in range(len(names))]
    assert [line.split()[0] for line in output.splitlines()] == [one.hex() for one in digests if one is not None]


def test_progress_hears_of_every_byte(files: Path) -> None:
    names, sizes = names_and_sizes(files)
    told: list[int] = []
    hash_files(str(files), names, sizes, [FAST], told.append, workers=3)
    assert sum(told) == sum(sizes)


def test_a_file_that_has_grown_is_hashed_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345678")
    found = hash_files(str(tmp_path), ["a"], array("q", [3]), [MD5])
    assert found.sizes[0] == 8
    assert found.hashes[MD5][0] == hashlib.md5(b"12345678").digest()


def test_a_file_that_is_not_there_has_no_hash(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    found = hash_files(str(tmp_path), ["a", "b"], array("q", [1, 1]), [MD5])
    assert found.unread[1].reason == "vanished"
    assert (found.sizes[1], found.hashes[MD5][1]) == (UNKNOWN, None)


def test_what_cannot_be_read_is_named_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "folder").mkdir()
    (tmp_path / "round").symlink_to("round")
    os.mkfifo(tmp_path / "pipe")
    writer = os.open(tmp_path / "pipe", os.O_RDWR)
    names = ["a", "a/below", "folder", "gone", "pipe", "round", str(tmp_path / "a")]
    told: list[int] = []
    found = hash_files(str(tmp_path), names, array("q", [5] * len(names)), [MD5, FAST], told.append)
    os.close(writer)
    assert {names[place]: (one.path, one.reason, one.detail) for place, one in found.unread.items()} == {
        "a/below": ("a/below", "vanished", ""),
        "folder": ("folder", "unreadable", "Is a directory"),
        "gone": ("gone", "vanished", ""),
        "pipe": ("pipe", "unreadable", "Resource temporarily unavailable"),
        "round": ("round", "loop", ""),
    }
    assert list(found.sizes) == [1, *[UNKNOWN] * 5, 1]
    assert [found.hashes[MD5][place] for place in range(len(names))] == [
        hashlib.md5(b"1").digest(),
        *[None] * 5,
        hashlib.md5(b"1").digest(),
    ]
    assert sum(told) == 2


def test_a_file_that_grows_meanwhile_is_hashed_up_to_where_it_was_read(tmp_path: Path) -> None:
    whole = np.random.default_rng(1).bytes(4 << 20)
    ended = threading.Event()

    def grow() -> None:
        with (tmp_path / "a").open("ab", buffering=0) as file:
            for at in range(0, len(whole), 1024):
                file.write(whole[at : at + 1024])
        ended.set()

    (tmp_path / "a").touch()
    thread = threading.Thread(target=grow)
    thread.start()
    while not ended.is_set():
        found = hash_files(str(tmp_path), ["a"] * 9, array("q", [UNKNOWN] * 9), [MD5, FAST])
        for place, size in enumerate(found.sizes):
            assert found.hashes[MD5][place] == hashlib.md5(whole[:size]).digest()
            assert found.hashes[FAST][place] == xxhash.xxh3_128_digest(whole[:size])
    thread.join()


def test_large_files_come_first_and_every_file_once() -> None:
    sizes = array("q", [5, 100 << 20, 7, 300 << 20, *[10] * 500, 20 << 20])
    work = hashing._Work("", ["x"] * len(sizes), sizes, [])
    taken = []
    while (batch := work.take()) is not None:
        work.ended(batch, [])
        taken.append(list(batch))
    assert taken[:3] == [[3], [1], [504]]
    assert sorted(place for batch in taken for place in batch) == list(range(len(sizes)))


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_sizes_need_not_be_known(files: Path, workers: int) -> None:
    names, sizes = names_and_sizes(files)
    known = hash_files(str(files), names, sizes, [MD5, FAST])
    told: list[int] = []
    unknown = hash_files(str(files), names, array("q", [UNKNOWN] * len(names)), [MD5, FAST], told.append, workers)
    assert unknown == known
    assert sum(told) == sum(sizes)


INTERRUPTED = """
import os, sys, threading, time
from trueline.cli.main import main
from trueline.kernel.files import BatchReader
def slow(read):
    def slowly(*args):
        time.sleep(0.05)
        os.write(1, b"reading\\n")
        return read(*args)
    return slowly
os.readv, BatchReader.read = slow(os.readv), slow(BatchReader.read)
sys.argv = ["trueline", "data", "manifest", sys.argv[1], "-o", sys.argv[2]]
main()
"""


def test_an_interrupt_leaves_nothing_behind(files: Path, tmp_path: Path, way: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(files), str(tmp_path / "out.json")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TRUELINE_LANG": "en", "TRUELINE_KERNEL": "" if way == "native" else "numpy"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "reading\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "trueline: interrupted"
    assert list(tmp_path.iterdir()) == []
