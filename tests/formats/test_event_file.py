"""Framed records and their checksums, without the tools that write them."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from trueline.formats.checksums import all_fit, masked_crc
from trueline.formats.event_file import event_version, looks_like_events
from trueline.formats.tensorboard import read_tensorboard
from trueline.model.trouble import BadFile


def _framed(content: bytes) -> bytes:
    size = struct.pack("<Q", len(content))
    return size + struct.pack("<I", masked_crc(size)) + content + struct.pack("<I", masked_crc(content))


def _scalar(tag: bytes, step: int, value: float) -> bytes:
    inner = b"\x0a" + bytes((len(tag),)) + tag + b"\x15" + struct.pack("<f", value)
    summary = b"\x0a" + bytes((len(inner),)) + inner
    return b"\x10" + bytes((step,)) + b"\x2a" + bytes((len(summary),)) + summary


def test_the_checksum_is_castagnoli_s() -> None:
    # The check value of CRC-32C, unmasked: E3069283.
    turned = (masked_crc(b"123456789") - 0xA282EAD8) & 0xFFFF_FFFF
    assert ((turned >> 17) | (turned << 15)) & 0xFFFF_FFFF == 0xE306_9283


def test_many_sums_at_once_are_those_of_one_by_one() -> None:
    rng = random.Random(0)
    records = [memoryview(rng.randbytes(rng.randrange(200))) for _ in range(500)]
    sums = [masked_crc(one) for one in records]
    assert all_fit(records, sums)
    for at in range(0, 500, 50):
        assert not all_fit(records, [*sums[:at], sums[at] ^ 1, *sums[at + 1 :]])


def test_events_of_scalars_are_read_in_the_order_of_steps(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1"
    points = ((3, 3.0), (1, 1.0), (2, 0.0), (2, 2.0))
    path.write_bytes(b"".join(_framed(_scalar(b"loss", step, value)) for step, value in points))
    (curve,) = read_tensorboard(path)
    assert (curve.name, list(curve.steps), list(curve.values)) == ("loss", [1, 2, 3], [1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    "content",
    [
        b"step 1 loss 0.5\nstep 2 loss 0.4\n",
        bytes(100),
        _framed(b"\xff\xff\xff\xff"),
        _framed(b"\x2a\x05\x0a\x7f\x00\x00\x00"),
        _framed(_scalar(b"loss", 1, 1.0)) + b"\xff" * 30,
        _framed(_scalar(b"loss", 1, 1.0))[:-1] + b"\0",
        _framed(b"\x2a\x06\x0a\x04\x12\x02ab"),
    ],
)
def test_what_is_no_event_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(content)
    with pytest.raises(BadFile) as caught:
        read_tensorboard(path)
    assert "\n" not in str(caught.value)


def test_a_length_beyond_the_end_with_a_right_sum_is_a_file_cut_short(tmp_path: Path) -> None:
    size = struct.pack("<Q", 1 << 60)
    path = tmp_path / "events.out.tfevents.1"
    path.write_bytes(_framed(_scalar(b"loss", 1, 1.0)) + size + struct.pack("<I", masked_crc(size)) + bytes(10))
    assert [list(one.values) for one in read_tensorboard(path)] == [[1.0]]


def test_event_files_are_known_by_their_first_bytes() -> None:
    assert event_version(_framed(b"\x1a\x0dbrain.Event:2")) == "brain.Event:2"
    assert looks_like_events(_framed(_scalar(b"loss", 1, 1.0)))
    for head in (b"", b"PK\x03\x04" + bytes(60), bytes(64), b"text " * 20):
        assert not looks_like_events(head)
