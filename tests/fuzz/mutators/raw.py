"""Bytes flipped, cut, moved, repeated, and whole numbers of any width replaced by the ones that programs trip over."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Final

from fuzz.case import Mutator, Mutators

LONGEST: Final = 1 << 18
_INTEGERS: Final = (
    *(0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 63, 64, 100, 127, 128, 255, 256, 1000, 4096, 32767, 32768, 65535, 65536),
    *(10**5, 10**6, 10**7, 10**8, 10**9, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 10**12, 2**48, 2**53),
    *(2**62, 2**63 - 1, 2**63, 2**64 - 1, -1, -2, -128, -(2**31), -(2**63)),
)
NUMBERS: Final = (
    *("0", "1", "-1", "2", "7", "255", "4096", "65536", "99999999", "2147483648", "4294967296", "1000000000000"),
    *("9223372036854775807", "9223372036854775808", "18446744073709551616", "-9223372036854775809"),
    *("1e5", "1e308", "1e309", "-1e999", "0.0", "-0.0", "1.5", "nan", "NaN", "inf", "-inf", "Infinity", "0x10", "1_0"),
    *("9" * 40, "9" * 400, "9" * 5000, "1e-400", "00", "01", "+1", "1.", ".5", "true", "null", "", "1e", "٣"),
)
_DIGITS: Final = re.compile(rb"-?\d+(?:\.\d+)?")


def flip(data: bytes, chance: Random, _: Sequence[bytes]) -> bytes:
    """A few bits."""
    out = bytearray(data)
    for _n in range(chance.choice((1, 1, 1, 2, 4, 20))):
        if out:
            out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def cut(data: bytes, chance: Random, _: Sequence[bytes]) -> bytes:
    """The beginning only."""
    return data[: chance.randrange(len(data) + 1)]


def take_out(data: bytes, chance: Random, _: Sequence[bytes]) -> bytes:
    """Without some bytes."""
    at = chance.randrange(len(data) + 1)
    return data[:at] + data[at + chance.choice((1, 1, 2, 3, 4, 8, 16, chance.randrange(1, 200))) :]


def put_in(data: bytes, chance: Random, _: Sequence[bytes]) -> bytes:
    """With some random bytes more."""
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.randbytes(chance.choice((1, 1, 2, 4, 8, chance.randrange(1, 60)))) + data[at:]


def repeat(data: bytes, chance: Random, _: Sequence[bytes]) -> bytes:
    """A part of it again, up to very often."""
    at = chance.randrange(len(data) + 1)
    part = data[at : at + chance.choice((1, 4, 16, chance.randrange(1, 3000)))]
    times = chance.choice((1, 1, 1, 2, 10, 500))
    return data[:at] + part * min(times, LONGEST // max(1, len(part))) + data[at:]


def swap(data: bytes, chance: Random, _: Sequence[bytes]) -> bytes:
    """Two parts in each other's place."""
    if len(data) < 4:
        return data
    a, b, c, d = sorted(chance.randrange(len(data) + 1) for _n in range(4))
    return data[:a] + data[c:d] + data[b:c] + data[a:b] + data[d:]


def splice(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """The beginning of this and the end of another, or a part of another inside."""
    other = chance.choice(others) if others else data
    at, there = chance.randrange(len(data) + 1), chance.randrange(len(other) + 1)
    if chance.random() < 0.5:
        return data[:at] + other[there:]
    end = min(len(other), there + chance.randrange(1, 400))
    return data[:at] + other[there:end] + data[at + (end - there) * chance.randrange(2) :]


def fill(data: bytes, chance: Random, _: Sequence[bytes]) -> bytes:
    """A run of one byte over what is there."""
    at, size = chance.randrange(len(data) + 1), chance.choice((1, 2, 4, 8, 16, 48, 400))
    return data[:at] + chance.choice((b"\0", b"\xff", b"\x7f", b"\x80", b"9", b" ", b"\n")) * size + data[at + size :]


def integer(data: bytes, chance: Random, _: Sequence[bytes]) -> bytes:
    """A whole number where one may be: at an aligned place more often than elsewhere."""
    width = chance.choice((1, 2, 4, 4, 8, 8))
    if len(data) < width:
        return data
    at = chance.randrange(len(data) - width + 1)
    if chance.random() < 0.7:
        at -= at % width
    order = chance.choice(("little", "little", "big"))
    if chance.random() < 0.25:
        # A number near the one that is there, or near the file's size.
        near = chance.choice((int.from_bytes(data[at : at + width], order), len(data)))
        value = near + chance.choice((-8, -2, -1, 1, 2, 8))
    else:
        value = chance.choice(_INTEGERS)
    return data[:at] + (value % (1 << 8 * width)).to_bytes(width, order) + data[at + width :]


def number(data: bytes, chance: Random, _: Sequence[bytes]) -> bytes:
    """A number that is written out, replaced by another."""
    found = list(_DIGITS.finditer(data))
    if not found:
        return integer(data, chance, ())
    at = chance.choice(found)
    return data[: at.start()] + chance.choice(NUMBERS).encode() + data[at.end() :]


RAW: Mutators = {
    flip: 3, cut: 1.5, take_out: 1.5, put_in: 1.5, repeat: 1, swap: 1, splice: 1.5, fill: 1, integer: 4, number: 0.5,
}  # fmt: skip


def pick(mutators: Mutators, chance: Random) -> Mutator:
    """One of them, by its weight."""
    return chance.choices(list(mutators), list(mutators.values()))[0]


def raw(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """Any of them."""
    return pick(RAW, chance)(data, chance, others)
