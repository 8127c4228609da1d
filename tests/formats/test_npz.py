"""Archives of numpy.savez, stored and compressed."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

from trueline.formats.npz import read_npz
from trueline.formats.zips import inflated, inflating
from trueline.model.trouble import BadFile

ARRAYS = {
    "conv.weight": np.arange(24, dtype=np.float32).reshape(2, 3, 4),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "empty": np.zeros((0, 3)),
    "step": np.array(7),
}


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_comes_back_in_order(tmp_path: Path, save: object) -> None:
    save(tmp_path / "w.npz", **ARRAYS, names=np.array(["a", "b"]))  # type: ignore[operator]
    read = read_npz(tmp_path / "w.npz")
    assert list(read.model) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert np.array_equal(read.model[name].array(), array)
        assert read.model[name].dtype == array.dtype
    assert "U1" in read.others["names"]


def test_stored_arrays_are_not_copied(tmp_path: Path) -> None:
    np.savez(tmp_path / "w.npz", big=np.zeros(1 << 20))
    array = read_npz(tmp_path / "w.npz").model["big"].array()
    assert not array.flags.owndata
    assert not array.flags.writeable


def test_a_member_is_inflated_piece_by_piece(tmp_path: Path) -> None:
    data = np.random.default_rng(0).integers(0, 4, 3_000_001, np.uint8).tobytes()
    with zipfile.ZipFile(tmp_path / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one", data)
        archive.writestr("none", b"")
    pieces = list(inflating(tmp_path / "x.zip", "one", 1000))
    assert {len(piece) for piece in pieces[:-1]} == {1000}
    assert b"".join(pieces) == data
    assert inflated(tmp_path / "x.zip", "none") == b""


def test_no_more_is_inflated_than_is_declared(tmp_path: Path) -> None:
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, x=np.zeros(1000))
    bomb = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = bomb.compress(bytes(50 << 20)) + bomb.flush()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x", b"")
    # An archive whose one member declares 1000 bytes and inflates to 50 MB.
    head = b"PK\3\4" + bytes(22) + (1).to_bytes(2, "little") + bytes(2) + b"x"
    directory = (
        b"PK\1\2\x14\0\x14\0\0\0\x08\0" + bytes(4) + bytes(4) + len(packed).to_bytes(4, "little")
        + (1000).to_bytes(4, "little") + (1).to_bytes(2, "little") + bytes(16) + b"x"
    )  # fmt: skip
    end = b"PK\5\6" + bytes(4) + b"\1\0\1\0" + len(directory).to_bytes(4, "little")
    at = len(head) + len(packed)
    path.write_bytes(head + packed + directory + end + at.to_bytes(4, "little") + b"\0\0")
    with pytest.raises(BadFile, match="1000 bytes"):
        inflated(path, "x")


def _zip(path: Path, **members: bytes) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "."), data)


def test_broken_archives_are_one_clear_line(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    np.savez(path, **ARRAYS)
    good = path.read_bytes()
    spoilt = [b"", b"text", good[:-10], good[:100], b"PK\5\6" + bytes(18), b"PK\3\4" + bytes(100), good[40:]]
    for data in [*spoilt, good.replace(b"PK\3\4", b"PK\3\5", 1), good.replace(b"PK\1\2", b"PK\1\3", 1)]:
        path.write_bytes(data)
        with pytest.raises(BadFile) as caught:
            read_npz(path)
        assert "\n" not in str(caught.value)


def test_members_that_are_no_arrays(tmp_path: Path) -> None:
    path = tmp_path / "w.npz"
    _zip(path, a__npy=b"no array at all")
    with pytest.raises(BadFile, match="array a "):
        read_npz(path)
    _zip(path, readme__txt=b"hello")
    with pytest.raises(BadFile, match="no arrays"):
        read_npz(path)


@pytest.mark.parametrize("at", range(0, 400, 7))
def test_any_byte_may_be_wrong(tmp_path: Path, at: int) -> None:
    path = tmp_path / "w.npz"
    np.savez_compressed(path, a=np.arange(5), b=np.ones(3))
    data = bytearray(path.read_bytes())
    for value in (0, 255, data[at % len(data)] ^ 1):
        path.write_bytes(data[: at % len(data)] + bytes([value]) + data[at % len(data) + 1 :])
        try:
            for one in read_npz(path).model.values():
                one.array()
        except BadFile:
            pass
