"""Checkpoints that no tool writes: each is refused in one line, quickly and without taking memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from trueline.formats.ckpt import looks_like_ckpt, read_ckpt
from trueline.model.trouble import BadFile


def _number(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes((value & 0x7F | 0x80,))
        value >>= 7
    return out + bytes((value,))


def _part(number: int, content: bytes) -> bytes:
    return _number(number << 3 | 2) + _number(len(content)) + content


def _tensor(dims: list[int], type_name: str, content: bytes) -> bytes:
    return b"".join(b"\x08" + _number(side) for side in dims) + _part(2, type_name.encode()) + _part(3, content)


def _value(name: bytes, tensor: bytes) -> bytes:
    return _part(1, _part(1, name) + _part(2, tensor))


GOOD = _value(b"w", _tensor([2], "Float32", bytes(8)))


def _read(tmp_path: Path, content: bytes) -> str:
    path = tmp_path / "some.ckpt"
    path.write_bytes(content)
    with pytest.raises(BadFile) as caught:
        read_ckpt(path)
    assert "\n" not in str(caught.value)
    return caught.value.reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not a checkpoint"),
        (b"PK\x03\x04" + bytes(100), "not a checkpoint"),
        (b"\x80\x02}q\x00.", "not a checkpoint"),
        (b"loss: 1.0\n" * 10, "not a checkpoint"),
        (GOOD + b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff", "cut short"),
        (GOOD + _value(b"v", _tensor([2], "Float32", bytes(8)))[:-3], "cut short"),
        (GOOD + b"\x12\x00", "damaged"),
        (_value(b"w", _tensor([1 << 62, 1 << 62], "Float32", bytes(8))), "does not fit"),
        (_value(b"w", _tensor([-1], "Float32", bytes(8))), "damaged"),
        (_value(b"w", _tensor([1] * 5000, "Float32", bytes(4))), "damaged"),
        (_value(b"w", _tensor([3], "Float32", bytes(8))), "does not fit"),
        (_value(b"w", _tensor([2], "Float8", bytes(8))), "Float8"),
        (_value(b"w", _part(2, b"Float32")), "damaged"),
        (_value(b"\xff\xfe", _tensor([2], "Float32", bytes(8))), "damaged"),
        (GOOD + _value(b"w", _tensor([3], "Float32", bytes(12))), "does not fit"),
        (GOOD + _part(1, _part(1, b"table") + _part(3, b"")), "map parameter table"),
    ],
)
def test_what_is_no_checkpoint_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    assert reason in _read(tmp_path, content)


def test_a_name_that_comes_again_later_is_the_last_one(tmp_path: Path) -> None:
    path = tmp_path / "twice.ckpt"
    path.write_bytes(GOOD + _value(b"v", _tensor([1], "Int8", b"\1")) + _value(b"w", _tensor([1], "Int8", b"\2")))
    assert looks_like_ckpt(path)
    assert read_ckpt(path).model["w"].array().tolist() == [2]


def test_a_number_s_shape_as_older_versions_write_it(tmp_path: Path) -> None:
    path = tmp_path / "old.ckpt"
    path.write_bytes(_value(b"a.w", _tensor([0], "Int8", b"\5")))
    assert read_ckpt(path).model["a.w"].array().shape == ()
