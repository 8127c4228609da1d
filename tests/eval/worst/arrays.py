"""Arrays that ask for more than they are worth: .npy, .npz, IDX, CIFAR's pickles and binary files."""

from __future__ import annotations

import gzip
import struct
import zipfile
import zlib
from pathlib import Path

import numpy as np

from .case import Case, Make
from .weights import kept, memo, text


def npy(descr: str, shape: str, data: bytes = b"", order: bool = False) -> bytes:
    """A .npy file with this header."""
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header + data


def one_npy(
    descr: str, shape: str, fill: bool = False, order: bool = False, verb: tuple[str, ...] = ("data", "describe")
) -> Make:
    """A single file."""

    def make(folder: Path, size: int) -> list[str | Path]:
        path = folder / "x.npy"
        path.write_bytes(npy(descr, shape.replace("SIZE", str(size)), bytes(size) if fill else b"", order))
        return [*verb, path] if verb[0] != "compare" else [*verb, path, path]

    return make


_NPY = {
    "rows without elements": one_npy("'<f4'", "(1000000000000, 0)"),
    "rows without elements, compared": one_npy("'<f4'", "(1000000000000, 0)", verb=("compare",)),
    "no rows of many elements": one_npy("'<f4'", "(0, 1000000000000)"),
    "no rows of many elements, compared": one_npy("'<f4'", "(0, 1000000000000)", verb=("compare",)),
    "wide texts": one_npy("'<U500000000'", "(0,)"),
    "texts wider than a number": one_npy("'<U1000000000'", "(0,)"),
    "wide bytes": one_npy("'|S2000000000'", "(0,)"),
    "wide bytes without a side": one_npy("'|S2000000000'", "()"),
    "wide records": one_npy("'|V2147483647'", "(0,)"),
    "empty texts": one_npy("'<U0'", "(1000000000000,)"),
    "empty bytes": one_npy("'|V0'", "(5,)"),
    "records without fields": one_npy("[]", "(1000000000000,)"),
    "records of empty fields": one_npy("[('a', '<U0')]", "(1000000000000,)"),
    "records of nothing": one_npy("[('a', '|V0', (10,)), ('b', '<f4', (0,))]", "(10,)"),
    "records of wide fields": one_npy("[('a', '<f4', (500000000,))]", "(0,)"),
    "records of many fields": one_npy("[" + ", ".join(f"('{place}', '<f4')" for place in range(900)) + "]", "(0,)"),
    "records of records": one_npy("[('a', " * 90 + "'<f4'" + ")]" * 90, "(1000,)", fill=True),
    "a side of many digits": one_npy("'<f4'", "(" + "9" * 5000 + ",)"),
    "objects": one_npy("'|O'", "(3,)", fill=True),
    "texts of a character": one_npy("'<U1'", "(200000,)", fill=True),
    "dates": one_npy("'<M8[ns]'", "(100000,)", fill=True),
    "single bytes": one_npy("'|u1'", "(SIZE,)", fill=True),
    "one row": one_npy("'|u1'", "(1, SIZE)", fill=True),
    "columns of single bytes": one_npy("'|u1'", "(2, 500000)", fill=True, order=True),
    "sides of one": one_npy("'|u1'", "(" + "1, " * 31 + "SIZE)", fill=True),
    "single bytes, compared": one_npy("'|u1'", "(SIZE,)", fill=True, verb=("compare",)),
}


def local(name: bytes, data: bytes, packed: int, size: int, crc: int, method: int) -> bytes:
    """A member of an archive with its own header."""
    return struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, method, 0, 0, crc, packed, size, len(name), 0) + name + data


def central(name: bytes, packed: int, size: int, crc: int, method: int, start: int) -> bytes:
    """A member in the directory at the end."""
    head = struct.pack(
        "<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, method, 0, 0, crc, packed, size, len(name), 0, 0, 0, 0, 0, start
    )
    return head + name


def ended(body: bytes, directory: bytes, count: int) -> bytes:
    """The whole archive."""
    count = min(count, 0xFFFF)
    return body + directory + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(directory), len(body), 0)


def deflated(data: bytes) -> bytes:
    """As archives pack."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def overlapping(verb: tuple[str, ...], members: int = 2000, inside: int = 100 << 20) -> Make:
    """Many members that are the same bytes of the file."""

    def make(folder: Path, size: int) -> list[str | Path]:
        data = npy("'|u1'", f"({inside},)", bytes(inside))
        packed, crc = deflated(data), zlib.crc32(data)
        body = local(b"a.npy", packed, len(packed), len(data), crc, 8)
        names = [f"{place}.npy".encode() for place in range(members)]
        directory = b"".join(central(name, len(packed), len(data), crc, 8, 0) for name in names)
        path = folder / "x.npz"
        path.write_bytes(ended(body, directory, members))
        return [*verb, path] if verb[0] != "compare" else [*verb, path, path]

    return make


def packed_npz(
    verb: tuple[str, ...], descr: str = "'|u1'", shape: str = "(SIZE,)", order: bool = False, ratio: int = 900
) -> Make:
    """One member that is as small as deflate can make it."""

    def make(folder: Path, size: int) -> list[str | Path]:
        inside = size * ratio // 64 * 64
        start = npy(descr, shape.replace("SIZE", str(inside)).replace("HALF", str(inside // 2)), order=order)
        path = folder / "x.npz"
        with (
            zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
            archive.open("x.npy", "w") as out,
        ):
            out.write(start)
            piece = bytes(1 << 20)
            for at in range(0, inside, len(piece)):
                out.write(piece[: inside - at])
        if verb[0] == "compare":
            other = path.with_name("y.npz")
            other.write_bytes(path.read_bytes())
            return [*verb, path, other]
        return [*verb, path] if verb[0] != "convert" else [*verb, path, folder / "out.npz"]

    return make


def _many_members(folder: Path, size: int) -> list[str | Path]:
    data = npy("'|u1'", "(0,)")
    path = folder / "x.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for place in range(size // 180):
            archive.writestr(f"{place}.npy", data)
    return ["params", path]


_NPZ = {
    "overlapping members": overlapping(("params",)),
    "overlapping members, described": overlapping(("data", "describe")),
    "overlapping members, compared": overlapping(("compare",)),
    "a packed member": packed_npz(("params",)),
    "a packed member, described": packed_npz(("data", "describe")),
    "a packed member of one row, described": packed_npz(("data", "describe"), shape="(1, SIZE)"),
    "a packed member in Fortran's order": packed_npz(("params",), shape="(2, HALF)", order=True),
    "a packed member in Fortran's order, described": packed_npz(("data", "describe"), shape="(2, HALF)", order=True),
    "a packed member, compared": packed_npz(("compare",)),
    "a packed member, converted": packed_npz(("convert",)),
    "packed texts": packed_npz(("data", "describe"), "'<U16'", "(1000000,)", ratio=61),
    "many members": _many_members,
}


def idx(name: str, code: int, sides: tuple[int, ...], fill: bool = False, packed: int = 0) -> Make:
    """An IDX file; ``packed`` bytes of zeros follow in a file of gzip."""

    def make(folder: Path, size: int) -> list[str | Path]:
        start = bytes((0, 0, code, len(sides))) + b"".join(struct.pack(">L", side or size) for side in sides)
        path = folder / name
        if packed:
            with gzip.open(path, "wb") as file:
                file.write(start)
                piece = bytes(1 << 20)
                for _ in range(0, size * packed, len(piece)):
                    file.write(piece)
        else:
            path.write_bytes(start + (bytes(size) if fill else b""))
        return ["data", "describe", path]

    return make


_FULL = 0xFFFFFFFF


def _zero_sides(sides: tuple[int, ...], name: str = "train-images-idx3-ubyte") -> Make:
    def make(folder: Path, size: int) -> list[str | Path]:
        path = folder / name
        path.write_bytes(bytes((0, 0, 8, len(sides))) + b"".join(struct.pack(">L", side) for side in sides))
        return ["data", "describe", path]

    return make


_IDX = {
    "rows without elements": _zero_sides((_FULL, 0)),
    "sides that overflow": _zero_sides((1, _FULL, _FULL, _FULL)),
    "sides that overflow, one of them zero": _zero_sides((_FULL, _FULL, _FULL, _FULL, 0)),
    "no rows of sides that overflow": _zero_sides((0, _FULL, _FULL, _FULL)),
    "single bytes": idx("train-labels-idx1-ubyte", 8, (0,), fill=True),
    "one row": idx("train-images-idx3-ubyte", 8, (1, 0), fill=True),
    "packed rows": idx("train-images-idx3-ubyte.gz", 8, (1000000, 28, 28), packed=760),
    "a packed row": idx("train-images-idx3-ubyte.gz", 8, (1, 1 << 15, 1 << 14), packed=760),
    "packed rows without elements": lambda folder, size: [
        "data",
        "describe",
        _gz(folder / "train-images-idx3-ubyte.gz", bytes((0, 0, 8, 2)) + struct.pack(">2L", _FULL, 0)),
    ],
}


def _gz(path: Path, data: bytes) -> Path:
    path.write_bytes(gzip.compress(data))
    return path


def cifar(code: bytes) -> Make:
    """A batch of CIFAR-10 with this pickle."""

    def make(folder: Path, size: int) -> list[str | Path]:
        path = folder / "data_batch_1"
        path.write_bytes(code)
        return ["data", "describe", path]

    return make


def _copied_texts(folder: Path, size: int) -> list[str | Path]:
    """One text, made into bytes again and again."""
    long = text("a" * (size // 2))
    start = b"\x80\x02" + long + kept(0) + b"X\x06\0\0\0latin1" + kept(1) + b"c_codecs\nencode\n" + kept(2) + b"000]("
    each = memo(2) + memo(0) + memo(1) + b"\x86R"
    path = folder / "data_batch_1"
    path.write_bytes(start + each * (size // 2 // len(each)) + b"e.")
    return ["data", "describe", path]


def _copied_arrays(folder: Path, size: int) -> list[str | Path]:
    """One text as the elements of many arrays."""
    start = b"\x80\x02" + text("a" * (size // 2)) + kept(0)
    start += b"cnumpy\ndtype\nX\x02\0\0\0u1\x85R" + kept(1) + b"cnumpy.core.multiarray\n_reconstruct\n" + kept(2)
    start += b"(K\x01J" + struct.pack("<l", size // 2) + b"\x85" + memo(1) + b"\x89" + memo(0) + b"t" + kept(3)
    start += b"cnumpy\nndarray\nNN\x87" + kept(4) + b"00000]("
    each = memo(2) + memo(4) + b"R" + memo(3) + b"b"
    path = folder / "data_batch_1"
    path.write_bytes(start + each * (size // 2 // len(each)) + b"e.")
    return ["data", "describe", path]


def _labels(folder: Path, size: int) -> list[str | Path]:
    """A batch whose labels are a list at many places."""
    import pickle

    path = folder / "data_batch_1"
    images = np.zeros((max(1, size // 3072), 3072), np.uint8)
    path.write_bytes(pickle.dumps({b"data": images, b"labels": [0] * len(images)}, 2))
    return ["data", "describe", path]


_CIFAR = {
    "copies of a text": _copied_texts,
    "copies of an array": _copied_arrays,
    "empty dictionaries": cifar(b"\x80\x02" + b"}" * (1 << 20) + b"."),
    "a batch": _labels,
}

CASES = [
    *(Case("npy", name, make) for name, make in _NPY.items()),
    *(Case("npz", name, make) for name, make in _NPZ.items()),
    *(Case("idx", name, make) for name, make in _IDX.items()),
    *(Case("cifar", name, make) for name, make in _CIFAR.items()),
]
