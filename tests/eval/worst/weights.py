"""Weight files that ask for more than they are worth: torch's pickles, checkpoints, safetensors, their shards."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

from .case import Case, Make

_MAGIC = 0x1950A86A20F9469CFC6C


def text(value: str) -> bytes:
    """A text in a pickle."""
    data = value.encode()
    return b"X" + struct.pack("<L", len(data)) + data


def number(value: int) -> bytes:
    """A whole number in a pickle."""
    return pickle.dumps(value, 2)[2:-1]


def memo(place: int) -> bytes:
    """A value of the memo once more."""
    return b"h" + bytes([place]) if place < 256 else b"j" + struct.pack("<L", place)


def kept(place: int) -> bytes:
    """The last value into the memo."""
    return b"q" + bytes([place]) if place < 256 else b"r" + struct.pack("<L", place)


def tensor(offset: int = 0, shape: tuple[int, ...] = (2,), strides: tuple[int, ...] = (1,), count: int = 2) -> bytes:
    """A tensor of the archive's only storage."""
    sides = b"".join(b"(" + b"".join(number(one) for one in each) + b"t" for each in (shape, strides))
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
        + b"0X\x03\0\0\0cpu"
        + number(count)
        + b"tQ"
        + number(offset)
        + sides
        + b"\x89ccollections\nOrderedDict\n)RtR"
    )


def torch_file(path: Path, code: bytes, storage: bytes = bytes(8), packed: bool = False) -> Path:
    """A file of torch.save around a pickle."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        archive.writestr("archive/data.pkl", code)
        archive.writestr("archive/data/0", storage)
    return path


def pth(code: Callable[[int], bytes], verb: str = "params", packed: bool = False) -> Make:
    """A file of torch.save whose pickle has about so many bytes."""

    def make(folder: Path, size: int) -> list[str | Path]:
        return [verb, torch_file(folder / "x.pth", code(size), packed=packed)]

    return make


def repeated(start: bytes, each: bytes, end: bytes = b".") -> Callable[[int], bytes]:
    """The same opcodes over and over."""
    return lambda size: start + each * max(1, (size - len(start)) // len(each)) + end


def _with_tensor(start: bytes, each: bytes, end: bytes) -> Callable[[int], bytes]:
    return repeated(b"\x80\x02}" + text("w") + tensor() + b"s" + text("more") + start, each, end + b"s.")


def _named(name: Callable[[int], str], longest: int = 4000) -> Callable[[int], bytes]:
    """Tensors under long names."""

    def code(size: int) -> bytes:
        out = [b"\x80\x02}", tensor(), kept(0), b"0("]
        for place in range(max(1, size // (longest + 20))):
            out += [text(f"{place}{name(longest)}"), memo(0)]
        return b"".join(out) + b"u."

    return code


def _keys_of_big_numbers(size: int) -> bytes:
    """Keys that are tuples of numbers of a kilobyte, in a dictionary that lies at many places."""
    big = b"\x8b" + struct.pack("<L", 600) + b"\x7f" * 600
    out = [b"\x80\x02", big, kept(0), b"0}", kept(1)]
    for place in range(max(1, size // 300)):
        out += [b"(", number(place), memo(0) * 2, b"tNs"]
    out += [b"0}", text("w"), tensor(), b"s", text("l"), b"](", memo(1) * (size // 4), b"es."]
    return b"".join(out)


def _equal_long_keys(size: int) -> bytes:
    """Two equal texts, each the key in turn: every time they are compared to their last character."""
    long = "k" * (size // 4)
    pair = memo(0) + b"Ns" + memo(1) + b"Ns"
    head = b"\x80\x02" + text(long) + kept(0) + text(long) + kept(1) + b"00}" + text("w") + tensor() + b"s"
    return head + pair * (size // 2 // len(pair)) + b"."


def _equal_tuple_keys(size: int) -> bytes:
    """Two equal tuples of equal long texts."""
    out = [b"\x80\x02"]
    for place in range(2):
        out += [b"("]
        out += [text("k" * (size // 64)) for _ in range(16)]
        out += [b"t", kept(place), b"0"]
    pair = memo(0) + b"Ns" + memo(1) + b"Ns"
    return b"".join(out) + b"}" + pair * (size // 2 // len(pair)) + b"."


def _one_list_everywhere(size: int) -> bytes:
    """A list at the end of sixty others, each of which holds the next many times."""
    out = [b"\x80\x02", tensor(), kept(0), b"0]", kept(1), b"(", memo(0) * (size // 4), b"e0"]
    for place in range(2, 50):
        out += [b"]", kept(place), b"(", memo(place - 1) * 3, b"e0"]
    return b"".join(out) + memo(49) + b"."


def _deep_leaves(size: int) -> bytes:
    """Many leaves below sixty keys, each the same: a name of sixty parts for each."""
    out = [b"\x80\x02", tensor(), kept(0), b"0"]
    out += [b"}" + text("model") for _ in range(58)]
    out += [b"}("]
    out += [number(place) + memo(0) for place in range(size // 6)]
    return b"".join(out) + b"u" + b"s" * 58 + b"."


def _views(shape: tuple[int, ...], strides: tuple[int, ...], count: int = 2) -> Callable[[int], bytes]:
    """Many tensors that repeat a few bytes over and over."""

    def code(size: int) -> bytes:
        out = [b"\x80\x02}("]
        one = tensor(shape=shape, strides=strides, count=count)
        out += [text(f"w{place}") + one for place in range(max(1, size // (len(one) + 10)))]
        return b"".join(out) + b"u."

    return code


def _copied_pairs(size: int) -> bytes:
    """A dictionary made of the same pairs, again and again."""
    start = (
        b"\x80\x02](" + b"NN\x86" * (size // 6) + b"e" + kept(0) + b"ccollections\nOrderedDict\n" + kept(1) + b"00]("
    )
    each = memo(1) + memo(0) + b"\x85R"
    return start + each * (size // 2 // len(each)) + b"e."


def _legacy(folder: Path, size: int) -> list[str | Path]:
    """The old format: the same opcodes, no archive around them."""
    path = folder / "x.pth"
    start = b"".join(pickle.dumps(one, 2) for one in (_MAGIC, 1001, {"little_endian": True}))
    path.write_bytes(start + b"}" * size + b".")
    return ["params", path]


_LINE = "optim" * 800
_PTH = {
    "empty dictionaries": pth(repeated(b"\x80\x02", b"}")),
    "empty lists in the memo": pth(repeated(b"\x80\x02", b"]\x94")),
    "tuples in tuples": pth(repeated(b"\x80\x02)", b"\x85")),
    "dictionaries of one entry": pth(repeated(b"\x80\x02", b"}NNs")),
    "marks": pth(repeated(b"\x80\x02", b"(")),
    "steps that leave nothing": pth(repeated(b"\x80\x02N", b"20")),
    "lines": pth(repeated(b"\x80\x02", b"I1\n0")),
    "numbers of a kilobyte": pth(repeated(b"\x80\x02", b"\x8b\x00\x04\0\0" + b"\x7f" * 1024 + b"0")),
    "texts": pth(_with_tensor(b"](", text("\U0001f600a"), b"e")),
    "packed opcodes": pth(lambda size: b"\x80\x02" + b"}" * (size * 60), packed=True),
    "packed text": pth(lambda size: b"\x80\x02" + text("a" * (size * 200)) + b".", packed=True),
    "copies of pairs": pth(_copied_pairs),
    "keys of big numbers": pth(_keys_of_big_numbers),
    "equal long keys": pth(_equal_long_keys),
    "equal tuples of long texts": pth(_equal_tuple_keys),
    "one list at many places": pth(_one_list_everywhere),
    "leaves below sixty keys": pth(_deep_leaves),
    "dtypes": pth(repeated(b"\x80\x02cnumpy\ndtype\nq\x00X\x02\0\0\0f4\x85q\x01", b"h\x00h\x01R0")),
    "views that repeat a number": pth(_views((1 << 14, 1 << 14), (0, 0))),
    "views of a lot of rows": pth(_views((1 << 28, 1), (0, 1))),
    "views compared": lambda folder, size: _twice(pth(_views((1 << 14, 1 << 14), (0, 0)))(folder, size)),
    "names that look like an optimizer": pth(_named(lambda longest: "optim" * (longest // 5) + "\n")),
    "names that look like a weight": pth(_named(lambda longest: "_weight" * (longest // 7) + "\n")),
    "names of many parts": pth(_named(lambda longest: ".a" * (longest // 2))),
    "names of many parts, compared": lambda folder, size: _twice(
        pth(_named(lambda longest: ".a" * (longest // 2)))(folder, size)
    ),
    "names of many words, compared": lambda folder, size: _twice(
        pth(_named(lambda longest: "aB" * (longest // 2)))(folder, size)
    ),
    "names of many words, converted": lambda folder, size: _converted(
        pth(_named(lambda longest: "norm" * (longest // 4) + "\n"))(folder, size)
    ),
    "many small tensors": pth(_named(lambda longest: "w.weight", 8)),
    "many small tensors, compared": lambda folder, size: _twice(
        pth(_named(lambda longest: "w.weight", 8))(folder, size)
    ),
    "many small tensors, converted": lambda folder, size: _converted(
        pth(_named(lambda longest: "w.weight", 8))(folder, size)
    ),
    "the format before 1.6": _legacy,
}


def _twice(arguments: list[str | Path]) -> list[str | Path]:
    """Two of the same, as another file."""
    path = Path(arguments[1])
    other = path.with_name("y" + path.suffix)
    other.write_bytes(path.read_bytes())
    return ["compare", path, other]


def _converted(arguments: list[str | Path]) -> list[str | Path]:
    path = Path(arguments[1])
    return ["convert", path, path.with_name("out.ckpt")]


def varint(value: int) -> bytes:
    """A number as protobuf writes it."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(place: int, data: bytes) -> bytes:
    """Bytes of a protobuf message."""
    return varint(place << 3 | 2) + varint(len(data)) + data


def ckpt_tensor(name: str, data: bytes = b"", dims: bytes = b"\x08\x00", kind: str = "Bool") -> bytes:
    """One tensor of a checkpoint."""
    return field(1, field(1, name.encode()) + field(2, dims + field(2, kind.encode()) + field(3, data)))


def ckpt(each: Callable[[int], bytes], end: bytes = b"", twice: bool = False) -> Make:
    """A checkpoint of numbered parts."""

    def make(folder: Path, size: int) -> list[str | Path]:
        out, total, place = [], 0, 0
        while total < size:
            out.append(each(place))
            total += len(out[-1])
            place += 1
        path = folder / "x.ckpt"
        path.write_bytes(b"".join(out) + end)
        return ["params", path] if not twice else _twice(["params", path])

    return make


_CKPT = {
    "many empty tensors": ckpt(lambda place: ckpt_tensor(f"{place}")),
    "many empty tensors, compared": ckpt(lambda place: ckpt_tensor(f"{place}"), twice=True),
    "a tensor in slices": ckpt(lambda _: ckpt_tensor("a", b"", b"\x08\x00")),
    "dimensions without end": ckpt(lambda _: ckpt_tensor("a", b"", b"\x08\x01" * 1000)),
    "one long name": lambda folder, size: ckpt(lambda _: ckpt_tensor("a." * (size // 2), b"\0", b"\x08\x01"))(
        folder, size
    ),
    "long texts": ckpt(lambda place: ckpt_tensor(f"t{place}", b"a\0\0\0" * 1000, b"\x08\x01", "str")),
    "names again and again": ckpt(
        lambda place: field(1, field(1, b"ab") * 10 + field(2, field(2, b"Bool") * 10 + b"\x08\x00" + field(3, b"")))
    ),
}


def safetensors(header: Callable[[int], bytes], data: bytes = bytes(8), twice: bool = False) -> Make:
    """A safetensors file with this header."""

    def make(folder: Path, size: int) -> list[str | Path]:
        path = folder / "x.safetensors"
        start = header(size)
        path.write_bytes(struct.pack("<Q", len(start)) + start + data)
        return ["params", path] if not twice else _twice(["params", path])

    return make


def _entries(name: Callable[[int], str], shape: str = "[0]", kind: str = "U8") -> Callable[[int], bytes]:
    def header(size: int) -> bytes:
        parts, total, place = [], 0, 0
        while total < size:
            parts.append(f'{json.dumps(name(place))}:{{"dtype":"{kind}","shape":{shape},"data_offsets":[0,0]}}')
            total += len(parts[-1]) + 1
            place += 1
        return ("{" + ",".join(parts) + "}").encode()

    return header


_SAFETENSORS = {
    "many empty tensors": safetensors(_entries(str)),
    "many empty tensors, compared": safetensors(_entries(str), twice=True),
    "lists in lists": safetensors(lambda size: b'{"__metadata__":' + b"[" * 1000 + b"]" * 1000 + b"}"),
    "empty lists": safetensors(lambda size: b'{"a":[' + b"[]," * (size // 3) + b"0]}"),
    "objects": safetensors(lambda size: b'{"a":[' + b'{"":0},' * (size // 7) + b"0]}"),
    "numbers of many digits": safetensors(_entries(str, "[" + "9" * 4000 + ",0]")),
    "sides of an empty tensor": safetensors(_entries(str, "[1000000000000,0]")),
    "one long name": safetensors(lambda size: _entries(lambda _: "a." * (size // 2))(1)),
    "names of many parts": safetensors(_entries(lambda place: f"{place}" + ".a" * 2000)),
    "metadata": safetensors(
        lambda size: (
            b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"__metadata__":{'
            + b",".join(b'"%d":"a"' % place for place in range(size // 12))
            + b"}}"
        )
    ),
}


def _same_shard(folder: Path, size: int) -> list[str | Path]:
    """An index that names one shard in many spellings."""
    names = size // 40
    header = _entries(str)(size // 2)
    (folder / "s.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    index = {"weight_map": {str(place): "./" * (place % 1000) + "s.safetensors" for place in range(min(names, 1000))}}
    path = folder / "x.safetensors.index.json"
    path.write_text(json.dumps(index))
    return ["params", path]


def _many_links(folder: Path, size: int) -> list[str | Path]:
    """An index of shards that are links to one file."""
    header = _entries(str)(size // 2)
    (folder / "s.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    places = {}
    for place in range(500):
        (folder / f"{place}.safetensors").symlink_to("s.safetensors")
        places[str(place)] = f"{place}.safetensors"
    path = folder / "x.safetensors.index.json"
    path.write_text(json.dumps({"weight_map": places}))
    return ["params", path]


_SHARDS = {"one shard in a thousand spellings": _same_shard, "links to one shard": _many_links}

CASES = [
    *(Case("pth", name, make) for name, make in _PTH.items()),
    *(Case("ckpt", name, make) for name, make in _CKPT.items()),
    *(Case("safetensors", name, make) for name, make in _SAFETENSORS.items()),
    *(Case("shards", name, make) for name, make in _SHARDS.items()),
]
