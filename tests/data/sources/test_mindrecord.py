"""MindRecord files of MindSpore's own writer, read without MindSpore; held against what its own reader gives."""

from __future__ import annotations

import json
import pickle
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from data.sources.digits import digits, joined
from launching import python

from trueline.data.sources.opening import open_source
from trueline.formats.mindrecord import MindRecord, unpack_integers
from trueline.model.trouble import BadFile

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mindrecord")
    images, labels = digits()
    np.save(folder / "images.npy", images)
    np.save(folder / "labels.npy", labels)
    ran = python(str(HERE / "mindrecord_writing.py"), str(folder), cwd=folder)
    assert ran.returncode == 0, ran.stderr
    return folder


def as_read(folder: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pickle.loads((folder / "read.pickle").read_bytes())[name]
    return found


def rows_of(folder: Path, *shards: int) -> int:
    """MindSpore's writer deals rows out to its shards a little differently each time."""
    return sum(MindRecord(folder / f"shards{one}").length for one in shards)


def same(mine: Any, theirs: Any) -> bool:
    if isinstance(mine, bytes):
        return mine == np.asarray(theirs).tobytes()
    if isinstance(mine, str):
        return mine == str(theirs)
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    return mine.dtype == theirs.dtype and mine.shape == theirs.shape and np.array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("opened", "name", "length"),
    [
        ("kinds.mindrecord", "kinds.mindrecord", 700),
        ("numbers.mindrecord", "numbers.mindrecord", 4000),
        ("shards0", "shards", 530),
        ("shards", "shards", 530),
    ],
)
def test_every_value_is_what_mindspore_reads(written: Path, opened: str, name: str, length: int) -> None:
    theirs = as_read(written, name)
    source = open_source(str(written / opened))
    assert (source.kind, source.length, len(theirs)) == ("mindrecord", length, length)
    assert sorted(source.fields) == sorted(theirs[0])
    for field in source.fields:
        mine = joined(source, field)
        assert all(same(one, other[field]) for one, other in zip(mine, theirs, strict=True)), field
    last = source.take([length - 1, 3])
    assert all(same(last[0][field], theirs[-1][field]) for field in source.fields)
    assert all(same(last[1][field], theirs[3][field]) for field in source.fields)
    assert source.skipped.total == 0


def test_pictures_in_bytes_are_decoded(written: Path) -> None:
    images, labels = digits()
    source = open_source(str(written / "pictures.mindrecord"))
    assert source.label == "label"
    assert np.array_equal(joined(source, "label"), labels[:300])
    found = joined(source, "data")
    assert all(np.array_equal(one.pixels, image) for one, image in zip(found, images[:300], strict=True))
    assert (found[5].mode, found[5].place) == ("L", "pictures.mindrecord: 5")
    assert np.array_equal(source.take([299])[0]["data"].pixels, images[299])
    assert len(as_read(written, "pictures.mindrecord")) == 300


def test_a_folder_of_files_is_one_dataset(written: Path, tmp_path: Path) -> None:
    for name in ("pictures.mindrecord", "shards0", "shards2"):
        for ending in ("", ".db"):
            shutil.copy(written / f"{name}{ending}", tmp_path)
    source = open_source(str(tmp_path))
    assert source.length == 300 + rows_of(written, 0, 2)
    assert sorted(source.fields) == ["data", "file_name", "label", "x", "y"]


def test_what_is_missing_or_damaged_is_told_and_stepped_over(written: Path, tmp_path: Path) -> None:
    for name in ("shards0", "shards1", "shards3"):
        shutil.copy(written / name, tmp_path)
    for name in ("shards0.db", "shards1.db"):
        shutil.copy(written / name, tmp_path)
    with sqlite3.connect(tmp_path / "shards1.db") as index:
        index.execute("DELETE FROM INDEXES WHERE ROW_ID < 10")
    index.close()
    source = open_source(str(tmp_path / "shards0"))
    assert source.length == rows_of(written, 0, 1, 3)
    assert source.skipped.counts == {"missing_shard": 1, "no_index": 1, "bad_index": 1}


def test_a_file_cut_short_is_read_as_far_as_it_goes(written: Path, tmp_path: Path) -> None:
    path = tmp_path / "kinds.mindrecord"
    data = (written / "kinds.mindrecord").read_bytes()
    path.write_bytes(data[: len(data) - 20_000])
    source = open_source(str(path))
    assert 0 < source.length <= 700
    theirs = as_read(written, "kinds.mindrecord")
    longs = joined(source, "long")
    assert [one for one in longs if one is not None] == [row["long"] for row in theirs[: len(longs)]]
    assert source.skipped.counts["cut_short"] >= 1


def test_damage_at_any_place_ends_no_scan(written: Path, tmp_path: Path) -> None:
    data = bytearray((written / "shards0").read_bytes())
    (tmp_path / "shards0.db").write_bytes((written / "shards0.db").read_bytes())
    rng = np.random.default_rng(1)
    for at in sorted({*range(0, 1500, 61), *(int(one) for one in rng.integers(16384, 40000, 30))}):
        hurt = bytearray(data)
        hurt[at] ^= 0xFF
        path = tmp_path / "shards0"
        path.write_bytes(hurt)
        try:
            source = open_source(str(path))
        except BadFile:
            continue
        read = sum(chunk.size for chunk in source.chunks())
        assert read == source.length


def test_a_hostile_header_asks_for_nothing(tmp_path: Path) -> None:
    def header(**changes: Any) -> bytes:
        page = {"page_id": 0, "page_type": "RAW_DATA", "page_type_id": 0, "page_size": 64}
        told: dict[str, Any] = {"header_size": 4096, "page_size": 1 << 15}
        told["page"] = [page | {"start_row_id": 0, "end_row_id": 1 << 40} | changes.pop("in_page", {})]
        told["schema"] = [{"schema": {"y": {"type": "int32", "shape": [1 << 40]}}, "blob_fields": ["y", "z"]}]
        text = json.dumps(told | changes).encode()
        return len(text).to_bytes(8, "little") + text.ljust(4088)

    path = tmp_path / "one.mindrecord"
    for data in (
        header(page_size=1 << 47),
        header(in_page={"page_id": 1 << 47}),
        header(in_page={"page_type": "BLOB_DATA"}),
        header(schema=[]),
        header(header_size=-1),
        header() + b"\xff" * 64,
        header(shard_addresses=["../../etc/passwd", "one.mindrecord"]),
        b"\xff" * 64,
        b"",
    ):
        path.write_bytes(data)
        try:
            source = open_source(str(path))
        except BadFile:
            continue
        assert sum(chunk.size for chunk in source.chunks()) <= 8


def test_packed_integers_that_do_not_fit_are_refused() -> None:
    assert unpack_integers(bytes([0, 0, 0, 2, 0b00010000, 5, 255, 127]), np.dtype(np.int32)).tolist() == [5, 32767]
    for data in (b"\0\0\0\1", b"\xff\xff\xff\xff", b"\0\0\0\2\0\1", b"\0\0\0\1\0\1\2"):
        with pytest.raises(ValueError, match="packed"):
            unpack_integers(data, np.dtype(np.int64))
