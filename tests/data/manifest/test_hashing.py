"""Hashes are those of md5sum and of the xxhash package, whatever the size of a file and however many threads."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from array import array
from pathlib import Path

import numpy as np
import pytest
import xxhash

from trueline.data.manifest import hashing
from trueline.data.manifest.hashing import hash_files
from trueline.formats.manifest.listed import FAST, MD5, UNKNOWN

# Around the buffer's end, where pieces begin and end.
SIZES = [0, 1, 63, 64, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, (3 << 20) + 7]


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
read = os.readv
def slow(*args):
    time.sleep(0.05)
    print("reading", flush=True)
    return read(*args)
os.readv = slow
sys.argv = ["trueline", "data", "manifest", sys.argv[1], "-o", sys.argv[2]]
main()
"""


def test_an_interrupt_leaves_nothing_behind(files: Path, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(files), str(tmp_path / "out.json")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TRUELINE_LANG": "en"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "reading\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "trueline: interrupted"
    assert list(tmp_path.iterdir()) == []
