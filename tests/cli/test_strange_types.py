"""Headers of NumPy's files whose types its own parser wraps around, misreads or never writes: one line, exit code 2."""

from __future__ import annotations

import io
import struct
import zipfile
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from cli.broken_files import is_one_line
from cli.calling import call

from trueline.formats.npy_types import UnreadType, dtype_of

_STRANGE: Final[list[Any]] = [
    "<U999999999",
    "<U536870912",
    "<U1073741823",
    "<U1073741825",
    "<S4294967295",
    "<S4294967297",
    "|V99999999999",
    "<U-1",
    ">U600000000",
    "(2,3)<f4",
    "<f4,<f4",
    "<M8[9999999999s]",
    "<M8[4294967297s]",
    "<M8[s/3]",
    "<f3",
    "<T4",
    "",
    "U",
    "|O",
    ("<f4", (2, 3)),
    ("<f4", (2**31,)),
    {"names": ["a"], "formats": ["<f4"], "itemsize": 2147483647},
    {"names": ["a"], "formats": ["<U999999999"]},
    [("a", "<U999999999")],
    [("a", "<f4", (2**30, 2**2))],
    [("a", "<f4", (2**31, 2**31))],
    [("a", "<f4", (-1,))],
    [("a", "<f4", -1)],
    [("a", [("b", "<U536870913", (2,))])],
    [("a", ("<U536870913", (2,)))],
    [("a", "|V0")],
    [("a", "|O")],
    [("", "")],
    [("a",)],
    [("a", "<f4"), ("a", "<f4")],
    [],
    3,
    None,
]
_READ: Final[list[Any]] = [
    "<U5",
    "|S3",
    "<M8[ns]",
    "<M8[25s]",
    ">m8",
    "|V7",
    "<f16",
    "|b1",
    [("a", "<f4", (2, 3)), ("b", "<U4"), ("c", [("d", "<i2")])],
    [("a", "<i4"), ("", "|V4"), ("b", "<f8")],
    [(("title", "a"), "<i4", 2)],
    [("a", ("<f4", (2,)))],
]


def npy(descr: Any, shape: tuple[int, ...], data: bytes = bytes(64)) -> bytes:
    """A file by its header."""
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY\x02\0" + struct.pack("<I", len(header)) + header + data


@pytest.mark.parametrize("descr", _STRANGE, ids=repr)
@pytest.mark.parametrize("shape", [(3,), (), (0,), (2, 2)], ids=str)
def test_a_strange_type_is_one_line_in_every_verb(tmp_path: Path, descr: Any, shape: tuple[int, ...]) -> None:
    (tmp_path / "a.npy").write_bytes(npy(descr, shape))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a.npy", npy(descr, shape))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a.npy").write_bytes(npy(descr, shape))
    for name in ("a.npy", "a.npz"):
        file = tmp_path / name
        for line in (
            ("data", "describe", file),
            ("data", "sheet", file, "-o", tmp_path / "sheet.html"),
            ("params", file),
            ("convert", file, tmp_path / "out.safetensors"),
            ("compare", file, file),
        ):
            is_one_line(call(*line))
    # Among others it is named and left out.
    for line in (
        ("check", "--data", tmp_path / "a.npy"),
        ("data", "describe", tmp_path / "folder"),
        ("data", "manifest", tmp_path / "folder", "-o", tmp_path / "manifest.json"),
        ("compare", tmp_path / "folder", tmp_path / "folder"),
    ):
        answer = call(*line)
        assert answer.exit_code in (0, 1, 2), (line, answer.output)


@pytest.mark.parametrize("descr", _STRANGE, ids=repr)
def test_it_has_no_type(descr: Any) -> None:
    with pytest.raises((UnreadType, ValueError, TypeError)):
        dtype_of(descr)


@pytest.mark.parametrize("descr", _READ, ids=repr)
def test_types_that_numpy_writes_are_read_as_numpy_does(tmp_path: Path, descr: Any) -> None:
    dtype = np.lib.format.descr_to_dtype(descr)
    assert dtype_of(descr) == dtype
    made = io.BytesIO()
    np.save(made, np.zeros(3, dtype))
    (tmp_path / "a.npy").write_bytes(made.getvalue())
    answer = call("data", "describe", tmp_path / "a.npy")
    assert answer.exit_code in (0, 1), answer.output
