"""Checkpoints written without MindSpore, read back by our own reader."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from trueline.formats.ckpt import looks_like_ckpt, read_ckpt
from trueline.formats.ckpt.types import TYPES
from trueline.formats.ckpt.writer import cannot_hold, cannot_keep, write_ckpt
from trueline.formats.making import making
from trueline.formats.npz import read_npz
from trueline.formats.outgoing import Outgoing
from trueline.formats.stored import Stored
from trueline.kernel.array import Array
from trueline.model.trouble import BadFile


def _out(name: str, array: Array) -> Outgoing:
    return Outgoing(name, array.shape, array.dtype.newbyteorder("<"), array)


def _write(path: Path, arrays: Sequence[Outgoing], others: Mapping[str, Any] | None = None) -> None:
    with making(path) as made:
        write_ckpt(made.sink(path), arrays, others or {})


def _bytes(array: Array) -> bytes:
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def test_every_type_and_shape_comes_back_bit_for_bit(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    arrays = {f"a.{name}": np.frombuffer(rng.bytes(6 * kind.itemsize), kind) for name, kind in TYPES.items()}
    arrays["a.Bool"] = np.array([True, False, True])
    arrays |= {"number": np.array(2.5), "deep": rng.random((1, 2, 1, 3, 1)), "名.weight": np.arange(300)}
    arrays |= {"turned": rng.random((3, 4)).T, "foreign": np.arange(5, dtype=">i4")}
    _write(tmp_path / "all.ckpt", [_out(name, array) for name, array in arrays.items()])
    found = read_ckpt(tmp_path / "all.ckpt").model
    assert list(found) == list(arrays)
    for name, array in arrays.items():
        assert (found[name].shape, found[name].dtype) == (array.shape, array.dtype.newbyteorder("<"))
        assert found[name].array().tobytes() == _bytes(array)
    assert looks_like_ckpt(tmp_path / "all.ckpt")


def test_arrays_out_of_other_files_come_through(tmp_path: Path) -> None:
    wide, tall = np.random.default_rng(0).random((700, 300)), np.arange(12, dtype=np.float32).reshape(3, 4)
    np.savez_compressed(tmp_path / "in.npz", wide=wide, tall=np.asfortranarray(tall), foreign=tall.astype(">f4"))
    arrays = [Outgoing.of(one, f"net.{name}") for name, one in read_npz(tmp_path / "in.npz").model.items()]
    arrays.append(Outgoing("net.turned", (4, 3), tall.dtype, tall, transposed=True))
    arrays.append(Outgoing("net.row", (1, 12), tall.dtype, tall))
    _write(tmp_path / "out.ckpt", arrays)
    found = {name: one.array() for name, one in read_ckpt(tmp_path / "out.ckpt").model.items()}
    assert found["net.wide"].tobytes() == wide.tobytes()
    for name, told in (("tall", tall), ("foreign", tall), ("turned", tall.T), ("row", tall.reshape(1, 12))):
        np.testing.assert_array_equal(found[f"net.{name}"], told)


def test_a_large_array_is_cut_where_mindspore_cuts_it(tmp_path: Path) -> None:
    size = (512 << 20) + 24
    with (tmp_path / "sparse.bin").open("wb") as file:
        for at in (0, (512 << 20) - 1, size - 1):
            file.seek(at)
            file.write(b"\7")
    source = Stored("big", (size // 8,), np.dtype(np.float64), tmp_path / "sparse.bin", ((0, size),))
    told: list[int] = []
    with making(tmp_path / "big.ckpt", progress=told.append) as made:
        write_ckpt(made.sink(tmp_path / "big.ckpt"), [Outgoing.of(source), _out("next", np.ones(3))])
    found = read_ckpt(tmp_path / "big.ckpt").model
    assert [part for _, part in found["big"].segments] == [512 << 20, 24]
    (first, _), (second, _) = found["big"].segments
    data = np.memmap(tmp_path / "big.ckpt", np.uint8, "r")
    assert [data[at] for at in (first, first + (512 << 20) - 1, second + 23)] == [7, 7, 7]
    assert int(np.count_nonzero(data[first : first + (512 << 20)])) == 2
    assert found["next"].array().tolist() == [1, 1, 1]
    assert sum(told) == size + 24


def test_plain_values_keep_their_value(tmp_path: Path) -> None:
    others: dict[str, Any] = {
        "epoch": 3,
        "far": 1 << 40,
        "top": (1 << 64) - 1,
        "low": -(1 << 63),
        "half": 0.5,
        "rate": 0.1,
    }
    others |= {"huge": 1e300, "inf": math.inf, "yes": True, "note": "学习率 café", "nothing": "", "odd": "a\0b\ud800"}
    _write(tmp_path / "some.ckpt", [_out("net.w", np.ones(2)), _out("global_step", np.ones(1, np.int32))], others)
    found = read_ckpt(tmp_path / "some.ckpt").others
    # The reader shows no half of a character.
    assert str(found["odd"]).startswith("a\0b")
    assert {**found, "odd": None} == {**others, "odd": None}
    assert type(found["yes"]) is bool


@pytest.mark.parametrize(
    ("array", "reason"),
    [
        (_out("z.w", np.ones(2, np.complex64)), "complex64"),
        (_out("z.w", np.ones(2, np.complex128)), "complex128"),
        (_out("z.w", np.ones(2, ml_dtypes.float8_e5m2)), "float8_e5m2"),
        (_out("z.w", np.ones((0, 3))), "no elements"),
        (_out("", np.ones(2)), "name"),
        (_out(" ", np.ones(2)), "name"),
        (_out("w ", np.ones(2)), "name"),
        (_out("w\0", np.ones(2)), "name"),
        (_out("\ud800", np.ones(2)), "name"),
        (_out("w" * 1025, np.ones(2)), "name"),
    ],
)
def test_what_mindspore_would_not_give_back_is_refused_by_name(tmp_path: Path, array: Outgoing, reason: str) -> None:
    trouble = cannot_hold(array)
    assert trouble is not None
    assert reason in trouble.text()
    with pytest.raises(BadFile, match=reason):
        _write(tmp_path / "bad.ckpt", [_out("good", np.ones(2)), array])
    assert not list(tmp_path.iterdir())
    assert cannot_hold(_out("w" * 1024, np.ones(2))) is None


@pytest.mark.parametrize(("name", "value"), [("n", 1 << 64), ("n", -(1 << 63) - 1), ("t", "a\0"), (" ", 1)])
def test_a_plain_value_that_would_change_is_refused(tmp_path: Path, name: str, value: int | str) -> None:
    assert cannot_keep(name, value) is not None
    with pytest.raises(BadFile):
        _write(tmp_path / "bad.ckpt", [_out("good", np.ones(2))], {name: value})
    assert not list(tmp_path.iterdir())


def test_a_name_comes_once(tmp_path: Path) -> None:
    one = _out("w", np.ones(2))
    with pytest.raises(BadFile, match="called w"):
        _write(tmp_path / "bad.ckpt", [one, one])
    with pytest.raises(BadFile, match="called w"):
        _write(tmp_path / "bad.ckpt", [one], {"w": 1})
    with pytest.raises(BadFile):
        _write(tmp_path / "bad.ckpt", [], {"w": 1})
    assert not list(tmp_path.iterdir())


def test_elements_that_look_like_a_checksum_at_the_end_stay(tmp_path: Path) -> None:
    array = np.frombuffer(b"......crc_num0123456789", np.uint8)
    _write(tmp_path / "end.ckpt", [_out("net.w", array)])
    assert read_ckpt(tmp_path / "end.ckpt").model["net.w"].array().tobytes() == array.tobytes()
    data = (tmp_path / "end.ckpt").read_bytes()
    assert int.from_bytes(data[-10:], "big") == zlib.crc32(data[:-17])


def test_a_source_that_has_become_shorter_is_named(tmp_path: Path) -> None:
    inner = io.BytesIO()
    np.save(inner, np.ones(1000))
    with zipfile.ZipFile(tmp_path / "in.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("w.npy", inner.getvalue())
    stored = read_npz(tmp_path / "in.npz").model["w"]
    with zipfile.ZipFile(tmp_path / "in.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("w.npy", inner.getvalue()[:-80])
    with pytest.raises(BadFile, match=r"in\.npz"):
        _write(tmp_path / "out.ckpt", [Outgoing.of(stored)])
    assert [one.name for one in tmp_path.iterdir()] == ["in.npz"]
