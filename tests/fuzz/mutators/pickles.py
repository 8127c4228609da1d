"""Pickles by their opcodes, alone and one after the other as torch's old files have them."""

from __future__ import annotations

import pickletools
import struct
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Final

from fuzz.case import Mutators
from fuzz.mutators.raw import integer, number, raw

_GLOBALS: Final = (
    *(b"os\nsystem", b"posix\nsystem", b"builtins\neval", b"builtins\nexec", b"builtins\ngetattr", b"nt\nsystem"),
    *(b"subprocess\nPopen", b"importlib\nimport_module", b"torch\nload", b"this\ns", b"numpy\nload", b"builtins\nopen"),
    *(b"collections\nOrderedDict", b"torch._utils\n_rebuild_tensor_v2", b"torch._utils\n_rebuild_parameter"),
    *(b"torch\nFloatStorage", b"torch\nLongStorage", b"torch\nBFloat16Storage", b"torch\nSize", b"torch\ndevice"),
    *(b"torch.storage\n_load_from_bytes", b"torch.storage\nUntypedStorage", b"argparse\nNamespace", b"builtins\nset"),
    *(b"numpy.core.multiarray\n_reconstruct", b"numpy\nndarray", b"numpy\ndtype", b"_codecs\nencode", b"a.b\nc.d"),
    *(b"numpy.core.multiarray\nscalar", b"torch._utils\n_rebuild_sparse_tensor", b"torch\nfloat32", b"copyreg\n_reconstructor"),
)  # fmt: skip
_OPCODES: Final = (
    *(b"(", b")", b"]", b"}", b"\x8f", b"0", b"1", b"2", b".", b"N", b"\x88", b"\x89", b"t", b"l", b"d", b"e", b"u"),
    *(b"a", b"s", b"b", b"R", b"Q", b"\x81", b"\x85", b"\x86", b"\x87", b"\x90", b"\x91", b"\x92", b"\x94", b"\x93"),
    *(b"h\0", b"h\x01", b"q\0", b"q\xff", b"j\xff\xff\xff\xff", b"r\xff\xff\xff\x7f", b"K\0", b"K\xff", b"M\xff\xff"),
    *(b"J\xff\xff\xff\xff", b"J\0\0\0\x80", b"\x8a\x09" + b"\xff" * 9, b"\x8b" + struct.pack("<i", 400) + b"\x7f" * 400),
    *(b"I99\n", b"I01\n", b"L" + b"9" * 5000 + b"L\n", b"F1e999\n", b"Fnan\n", b"G" + struct.pack(">d", 1e300)),
    *(b"X\0\0\0\0", b"X\xff\xff\xff\xff", b"\x8c\x01a", b"C\x01a", b"B\xff\xff\xff\x7f", b"U\x01a", b"V\\ud800\n", b"S'a'\n"),
    *(b"\x8d" + b"\xff" * 8, b"\x8e" + b"\x7f" * 8, b"\x95" + b"\xff" * 8, b"\x96" + b"\0" * 8, b"\x97", b"\x98"),
    *(b"P0\n", b"p0\n", b"g0\n", b"p99999999\n", b"\x82\x01", b"\x80\x04", b"\x80\xff", b"i", b"o"),
    # Tuples in tuples, each twice the last; one and the same into itself.
    *(b"K\x01" + b"2\x86" * 40, b"]2a", b"}q\x07h\x07h\x07s", b"(" * 3000, b"]" * 3000, b"N2\x86" * 300, b"\x85" * 2000),
)  # fmt: skip
_MOST: Final = 4000


@lru_cache(1024)
def _cut_up(data: bytes) -> tuple[tuple[bytes, ...], bytes]:
    """The opcodes with their arguments, and what follows the last STOP."""
    parts: list[bytes] = []
    at = 0
    while at < len(data) and len(parts) < _MOST:
        begins: list[int] = []
        end = at
        try:
            for opcode, _, place in pickletools.genops(data[at:]):
                begins.append(at + (place or 0))
                if opcode.name == "STOP":
                    end = begins[-1] + 1
        except (ValueError, UnicodeDecodeError, IndexError, struct.error, OverflowError):
            if not end > at:
                break
        if not end > at:
            break
        parts += [data[a:b] for a, b in zip(begins, [*begins[1:], end], strict=False) if a < end]
        at = end
        # A protocol mark begins the next one; other bytes are no pickle.
        if data[at : at + 1] != b"\x80":
            break
    return tuple(parts), data[at:]


def opcodes(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """An opcode left out, repeated, moved, replaced, its argument changed, or another's put in."""
    found, rest = _cut_up(data)
    parts = list(found)
    if not parts:
        return raw(data, chance, others)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
        at = chance.randrange(len(parts))
        match chance.randrange(10):
            case 0:
                del parts[at : at + chance.choice((1, 1, 2, 5))]
                if not parts:
                    return rest
            case 1:
                some = parts[at : at + chance.choice((1, 1, 2, 5, 20))]
                parts[at:at] = some * chance.choice((1, 1, 2, 50))
            case 2:
                there = chance.randrange(len(parts))
                parts[at], parts[there] = parts[there], parts[at]
            case 3:
                parts.insert(at, chance.choice(_OPCODES))
            case 4:
                parts[at] = chance.choice(_OPCODES)
            case 5:
                parts[at] = parts[at][:1] + integer(parts[at][1:], chance, ()) if len(parts[at]) > 1 else parts[at]
            case 6:
                named = [place for place, one in enumerate(parts) if one[:1] == b"c"] or [at]
                parts[chance.choice(named)] = b"c" + chance.choice(_GLOBALS) + b"\n"
            case 7:
                numbers = [place for place, one in enumerate(parts) if one[:1] in b"KMJI\x8a"] or [at]
                parts[chance.choice(numbers)] = chance.choice(
                    (b"K\0", b"M\xff\xff", b"J\xff\xff\xff\x7f", b"J\xff\xff\xff\xff", b"\x8a\x08" + b"\xff" * 7 + b"\x7f")
                )  # fmt: skip
            case 8 if others:
                other = _cut_up(chance.choice(others))[0]
                begin = chance.randrange(len(other) + 1)
                parts[at:at] = other[begin : begin + chance.randrange(1, 10)]
            case _:
                call = b"c" + chance.choice(_GLOBALS) + b"\n(X\x01\0\0\0atR"
                parts.insert(at, call + (b"0" if chance.random() < 0.5 else b""))
    return b"".join(parts) + rest


PICKLE: Mutators = {opcodes: 8, raw: 2, number: 0.3}
