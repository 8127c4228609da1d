"""CRC-32C of many small records at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

_CASTAGNOLI: Final = 0x82F63B78
_MASK: Final = 0xA282EAD8
_AT_ONCE: Final = 1 << 22


def _table() -> npt.NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(_CASTAGNOLI), table >> 1).astype(np.uint32)
    return table


_TABLE: Final = _table()
_NUMBERS: Final = [int(one) for one in _TABLE]


def masked_crc(data: bytes | memoryview) -> int:
    """The checksum of one record, turned as record files turn it."""
    crc = 0xFFFF_FFFF
    for byte in data:
        crc = _NUMBERS[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return _masked(crc ^ 0xFFFF_FFFF)


def _masked(crc: int) -> int:
    return (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFF_FFFF


def all_fit(records: Sequence[memoryview], sums: Sequence[int]) -> bool:
    """Whether each record has its masked checksum."""
    short = [at for at, record in enumerate(records) if len(record) < 4]
    if any(masked_crc(records[at]) != sums[at] for at in short):
        return False
    order = sorted((at for at, record in enumerate(records) if len(record) >= 4), key=lambda at: len(records[at]))
    while order:
        # Records of about one length together, so that little is filled up.
        width = len(records[order[-1]])
        chunk, order = order[-max(1, _AT_ONCE // width) :], order[: -max(1, _AT_ONCE // width)]
        found = _crcs([records[at] for at in chunk], width)
        if any(_masked(crc) != sums[at] for crc, at in zip(found, chunk, strict=True)):
            return False
    return True


def _crcs(records: Sequence[memoryview], width: int) -> list[int]:
    # From a state of zero, zeros in front change nothing: the records end in one column. The true first state,
    # all ones, is the same as the first four bytes inverted.
    rows = np.zeros((len(records), width), np.uint8)
    for row, record in zip(rows, records, strict=True):
        start = width - len(record)
        row[start:] = np.frombuffer(record, np.uint8)
        row[start : start + 4] ^= 0xFF
    state = np.zeros(len(records), np.uint32)
    for column in np.ascontiguousarray(rows.T):
        state = _TABLE[(state ^ column) & 0xFF] ^ (state >> 8)
    return [int(crc) ^ 0xFFFF_FFFF for crc in state]
