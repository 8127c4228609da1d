"""Logs, event files and lists of files that ask for more than they are worth."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path

from cli.worst_data import event_record

from .case import Case, Make
from .tables import file, lines
from .weights import field


def events(name: str, version: str, event: Callable[[int], bytes]) -> Make:
    """An event file of numbered events."""

    def make(folder: Path, size: int) -> list[str | Path]:
        parts, total = [event_record(b"\x1a" + bytes([len(version)]) + version.encode())], 0
        while total < size:
            parts.append(event_record(event(len(parts))))
            total += len(parts[-1])
        path = folder / name
        path.write_bytes(b"".join(parts))
        return ["compare", path, path]

    return make


def _scalar(tag: str, place: int, number: bytes) -> bytes:
    return b"\x10" + bytes([place & 0x7F]) + field(5, field(1, field(1, tag.encode()) + number))


_NUMBER = b"\x15" + struct.pack("<f", 1.0)
_MS_NUMBER = b"\x1d" + struct.pack("<f", 1.0)


def _event_files(name: str, version: str, number: bytes) -> dict[str, Make]:
    return {
        "nothing": events(name, version, lambda _: b""),
        "one tag": events(name, version, lambda place: _scalar("loss", place, number)),
        "many tags": events(name, version, lambda place: _scalar(f"{place}", place, number)),
        "long tags": events(name, version, lambda place: _scalar(f"{place}" + "a/" * 2000, place, number)),
        "values in an event": events(name, version, lambda _: field(5, field(1, field(1, b"loss") + number) * 1000)),
        "empty values": events(name, version, lambda _: field(5, field(1, b"") * 5000)),
    }


_TENSORBOARD = _event_files("events.out.tfevents.1.host", "brain.Event:2", _NUMBER)
_MS_SUMMARY = _event_files("x.out.events.summary.1.0.host_MS", "MindSpore.Event:2", _MS_NUMBER)

_LOGS = {
    "names": file("x.log", lambda size: b"".join(b"a%d: 1\n" % place for place in range(size // 11)), "compare"),
    "long lines": file("x.log", lines(b"step 1 loss 1.0 " + b"1.5 " * 2000 + b"\n"), "compare"),
    "brackets": file("x.log", lines(b"([" * 500 + b"\n"), "compare"),
    "empty lines": file("x.log", lines(b"\n"), "compare"),
    "colours": file("x.log", lines(b"\x1b[0;" * 500 + b"\n"), "compare"),
    "carriage returns": file("x.log", lines(b"loss: 1\r"), "compare"),
}
_CSV_LOGS = {
    "two cells a line": file("x.csv", lines(b"1,2\n", b"step,loss\n"), "compare"),
    "one line": file("x.csv", lambda size: b"step,loss," + b"a," * (size // 2) + b"\n", "compare"),
    "columns": file(
        "x.csv",
        lambda size: b"step," + b",".join(b"%d" % place for place in range(size // 10)) + b"\n" + b"1," * (size // 10),
        "compare",
    ),
    "an open quote": file("x.csv", lambda size: b'step,loss\n"' + b"x,\n" * (size // 3), "compare"),
}
_JSON_LOGS = {
    "small objects": file("x.jsonl", lines(b'{"loss":1}\n'), "compare"),
    "keys": file("x.jsonl", lambda size: b"".join(b'{"%d":1}\n' % place for place in range(size // 13)), "compare"),
    "one object": file(
        "x.jsonl",
        lambda size: b'{"loss":1' + b"".join(b',"%d":1' % place for place in range(size // 11)) + b"}\n",
        "compare",
    ),
    "lists in lists": file("x.jsonl", lines(b'{"loss":' + b"[" * 500 + b"]" * 500 + b"}\n"), "compare"),
    "empty lists": file("x.jsonl", lambda size: b'{"loss":[' + b"[]," * (size // 3) + b"0]}\n", "compare"),
    "digits": file("x.jsonl", lines(b'{"loss":' + b"9" * 4000 + b"}\n"), "compare"),
}


def listing(name: str, content: Callable[[int], bytes]) -> Make:
    """A list of files against itself."""

    def make(folder: Path, size: int) -> list[str | Path]:
        path = folder / name
        path.write_bytes(content(size))
        return ["data", "diff", path, path]

    return make


_HASH = b"0" * 32
_LISTS = {
    "names of a letter": listing("x.txt", lines(b"a\n")),
    "names": listing("x.txt", lambda size: b"".join(b"%d\n" % place for place in range(size // 7))),
    "sums": listing("x.md5", lambda size: b"".join(_HASH + b"  %d\n" % place for place in range(size // 41))),
    "separators": listing("x.txt", lines(b"a" + b" ,;" * 8000 + b"\n")),
    "escapes": listing("x.md5", lines(b"\\" + _HASH + b"  " + b"\\n" * 5000 + b"\n")),
    "parents": listing("x.txt", lines(b"../" * 1000 + b"a\n")),
}


def _manifest(each: Callable[[int], dict[str, object]]) -> Callable[[int], bytes]:
    def content(size: int) -> bytes:
        parts, total = [], 0
        while total < size:
            parts.append(json.dumps(each(len(parts)), separators=(",", ":")))
            total += len(parts[-1]) + 1
        return b'{"schema":"trueline/manifest/1","files":[' + ",".join(parts).encode() + b"]}"

    return content


_JSON_LISTS = {
    "files": listing("x.json", _manifest(lambda place: {"path": str(place)})),
    "sums": listing("x.json", _manifest(lambda place: {"path": str(place), "size": 1, "md5": "0" * 32})),
    "empty objects": listing("x.json", _manifest(lambda _: {})),
    "lists in lists": listing(
        "x.json",
        lambda size: b'{"schema":"trueline/manifest/1","files":' + b"[" * (size // 2) + b"]" * (size // 2) + b"}",
    ),
    "empty lists": listing(
        "x.json", lambda size: b'{"schema":"trueline/manifest/1","files":[' + b"[]," * (size // 3) + b"0]}"
    ),
}

CASES = [
    *(Case("tensorboard", name, make) for name, make in _TENSORBOARD.items()),
    *(Case("ms_summary", name, make) for name, make in _MS_SUMMARY.items()),
    *(Case("text log", name, make) for name, make in _LOGS.items()),
    *(Case("csv log", name, make) for name, make in _CSV_LOGS.items()),
    *(Case("json lines log", name, make) for name, make in _JSON_LOGS.items()),
    *(Case("manifest, text", name, make) for name, make in _LISTS.items()),
    *(Case("manifest, json", name, make) for name, make in _JSON_LISTS.items()),
]
