"""Files of numpy.save: found where they lie, whatever their order and version; anything else is one clear line."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from numpy.lib import format as npy_format

from trueline.formats.npy import read_npy
from trueline.model.trouble import BadFile

ARRAYS = {
    "plain": np.arange(6, dtype=np.float32).reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(24, dtype=np.float64).reshape(2, 3, 4)),
    "big endian": np.arange(5, dtype=">i4"),
    "zero size": np.zeros((0, 4), np.float16),
    "no sides": np.array(3.5),
    "fortran without sides": np.asfortranarray(np.zeros((3, 0))),
    "bool": np.array([True, False]),
    "complex": np.array([1 + 2j, 3j], np.complex64),
    "bfloat16": np.arange(4).astype(ml_dtypes.bfloat16),
    "float8": np.arange(4).astype(ml_dtypes.float8_e5m2),
    "fortran float8": np.asfortranarray(np.arange(6).reshape(2, 3).astype(ml_dtypes.float8_e5m2)),
    "long shape": np.ones((1,) * 30, np.uint8),
}


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("case", ARRAYS)
def test_comes_back_bit_by_bit(tmp_path: Path, case: str, version: tuple[int, int]) -> None:
    path = tmp_path / "layer1.conv.npy"
    with path.open("wb") as file:
        npy_format.write_array(file, ARRAYS[case], version)
    read = read_npy(path)
    read.check()
    assert read.name == "layer1.conv"
    assert read.shape == ARRAYS[case].shape
    assert read.array().dtype == ARRAYS[case].dtype
    assert read.array().tobytes() == ARRAYS[case].tobytes()


def test_the_same_header_written_in_another_way(tmp_path: Path) -> None:
    text = b'{"shape": (2L, 3L), "descr" : "<f4", "fortran_order":False}\n'
    path = tmp_path / "x.npy"
    path.write_bytes(b"\x93NUMPY\x01\0" + len(text).to_bytes(2, "little") + text + np.arange(6, dtype="<f4").tobytes())
    assert read_npy(path, "given").array().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert read_npy(path, "given").name == "given"


def _header(text: str, data: bytes = b"", version: int = 1) -> bytes:
    size = len(text).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + size + text.encode() + data


def _saved(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


PLAIN = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }"
BROKEN = {
    "empty": (b"", "not a .npy file"),
    "text": (b"hello, this is text", "not a .npy file"),
    "version 9": (_header(PLAIN % "2,", b"\0" * 8, 9), "not a .npy file"),
    "header beyond the file": (b"\x93NUMPY\x01\0\xff\xff{", "not a .npy file"),
    "terabyte of header": (b"\x93NUMPY\x02\0\xff\xff\xff\xff{'descr'", "not a .npy file"),
    "cut": (_saved(np.zeros(100))[:-1], "cut short"),
    "more than the file": (_header(PLAIN % "1000000000000,"), "cut short"),
    "overflow": (_header(PLAIN % "4611686018427387904, 4611686018427387904"), "not a .npy file"),
    "overflow of nothing": (_header(PLAIN % "0, 4611686018427387904, 4611686018427387904"), "not a .npy file"),
    "digits without end": (_header(PLAIN % ("9" * 9000)), "not a .npy file"),
    "too many sides": (_header(PLAIN % ("1, " * 100)), "not a .npy file"),
    "negative": (_header(PLAIN % "-1,"), "not a .npy file"),
    "code for a header": (_header("__import__('os').system('touch hit')"), "not a .npy file"),
    "nested": (_header("(" * 9000), "not a .npy file"),
    "objects": (_saved(np.array([{}], object)), "|O"),
    "texts": (_saved(np.array(["a"])), "<U1"),
    "dates": (_saved(np.array(["2020-01-01"], "M8[D]")), "M8[D]"),
    "records": (_saved(np.zeros(2, [("a", "f4"), ("b", "i4")])), "structured"),
    "any of several one-byte types": (_saved(np.zeros(2, ml_dtypes.float8_e4m3fn)), "V1"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_refused_in_one_line(tmp_path: Path, case: str) -> None:
    data, reason = BROKEN[case]
    path = tmp_path / "x.npy"
    path.write_bytes(data)
    with pytest.raises(BadFile) as caught:
        read_npy(path)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.npy")
    for name in ("missing.npy", "pipe.npy", "."):
        with pytest.raises(BadFile):
            read_npy(tmp_path / name)


def test_ten_thousand_files_are_found_in_a_moment(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, np.zeros((3, 4), np.float32))
    begin = time.process_time()
    for _ in range(2000):
        read_npy(path, "x")
    # Measured 15 us each; a slow machine gets its share.
    assert (time.process_time() - begin) / 2000 < 100e-6
