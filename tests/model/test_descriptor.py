"""A descriptor that somebody else has closed is never written to, cut or closed again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trueline.model.descriptor import DescriptorLost, OwnDescriptor

_NEW = os.O_WRONLY | os.O_CREAT | os.O_APPEND


def taken_over(ours: OwnDescriptor, theirs: Path) -> int:
    """What a script does that closes all descriptors and opens a file of its own."""
    number = ours.proven()
    os.close(number)
    opened = os.open(theirs, os.O_RDWR | os.O_CREAT)
    os.write(opened, b"theirs")
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    return number


def test_a_descriptor_that_is_another_file_by_now_is_left_alone(tmp_path: Path) -> None:
    for use in (
        lambda one: one.write_all(b"ours"),
        lambda one: one.truncate(0),
        lambda one: one.proven(),
    ):
        ours = OwnDescriptor.open(tmp_path / "ours", _NEW)
        ours.write_all(b"ours")
        number = taken_over(ours, tmp_path / "theirs")
        with pytest.raises(DescriptorLost):
            use(ours)
        ours.close()
        assert os.fstat(number).st_size == len(b"theirs"), "still open, and as it was"
        os.close(number)
        assert (tmp_path / "theirs").read_bytes() == b"theirs"


def test_a_closed_descriptor_is_lost(tmp_path: Path) -> None:
    ours = OwnDescriptor.open(tmp_path / "ours", _NEW)
    os.close(ours.proven())
    with pytest.raises(DescriptorLost):
        ours.write_all(b"more")
    ours.close()


def test_a_file_that_has_shrunk_is_another_one_with_the_same_inode(tmp_path: Path) -> None:
    ours = OwnDescriptor.open(tmp_path / "ours", _NEW)
    ours.write_all(b"1234")
    os.truncate(tmp_path / "ours", 2)
    with pytest.raises(DescriptorLost):
        ours.write_all(b"5", size=4)


def test_a_file_never_takes_the_number_of_a_standard_stream(tmp_path: Path) -> None:
    kept = os.dup(0)
    try:
        os.close(0)
        ours = OwnDescriptor.open(tmp_path / "ours", _NEW)
        assert ours.proven() > 2
        ours.close()
    finally:
        os.dup2(kept, 0)
        os.close(kept)
