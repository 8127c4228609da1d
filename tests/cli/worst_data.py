"""Small files of data, logs and lists that once took gigabytes, minutes, or ended in an internal error."""

from __future__ import annotations

import gzip
import json
import os
import random
import struct
import zlib
from pathlib import Path
from typing import Any

from cli.sample_runs import losses, record

from trueline.formats.checksums import masked_crc

PAGE = 1 << 15


def chunk(kind: bytes, data: bytes) -> bytes:
    """A chunk of a PNG."""
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, more: bytes = b"") -> bytes:
    """A black picture."""
    pack = zlib.compressobj(9)
    row = bytes(3 * width + 1)
    pixels = b"".join(pack.compress(row) for _ in range(height)) + pack.flush()
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + more + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def event_record(data: bytes) -> bytes:
    """A framed record of an event file."""
    head = struct.pack("<Q", len(data))
    return head + struct.pack("<I", masked_crc(head)) + data + struct.pack("<I", masked_crc(data))


def mindrecord(pages: list[dict[str, Any]], page_size: int = PAGE) -> bytes:
    """A file whose header speaks of these pages, with one page of zeros."""
    head = {"header_size": 1 << 20, "page_size": page_size, "page": pages, "shard_addresses": []}
    text = json.dumps({**head, "schema": [{"schema": {"x": {"type": "int32"}}, "blob_fields": []}]}).encode()
    return (len(text).to_bytes(8, "little") + text).ljust(1 << 20, b"\0") + bytes(PAGE)


def page(place: int, number: int) -> dict[str, Any]:
    """A page of rows."""
    told = {"page_id": place, "page_type": "RAW_DATA", "page_type_id": number, "page_size": PAGE}
    return {**told, "start_row_id": 0, "end_row_id": 10}


def damaged_gzip(dice: random.Random) -> bytes:
    """A packed table with some bytes in its middle changed."""
    packed = bytearray(gzip.compress(b"a,b\n" + b"".join(b"%d,%f\n" % (at, dice.random()) for at in range(5000))))
    packed[len(packed) // 2 : len(packed) // 2 + 20] = b"\xff" * 20
    return bytes(packed)


def write_all(folder: Path) -> None:
    """Every one of them."""
    (folder / "pictures").mkdir()
    picture = png(6000, 6000)
    for number in range(12):
        (folder / f"pictures/{number}.png").write_bytes(picture)
    (folder / "texts").mkdir()
    text = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(60_000_000), 9))
    (folder / "texts/0.png").write_bytes(png(4, 4, text * 16))
    (folder / "bomb.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 30_000_000, 6))
    (folder / "damaged.csv.gz").write_bytes(damaged_gzip(random.Random(0)))
    (folder / "wide.csv").write_text(",".join(["a"] * 60_000) + "\n" + ",".join(["1"] * 60_000) + "\n")
    (folder / "sparse.jsonl").write_text(json.dumps(dict.fromkeys(map(str, range(4000)), 1)) + "\n" + "{}\n" * 100_000)
    for name, kind, rows in (("numbers", "<f4", 1_000_000), ("texts", "<U3", 1_000_000), ("wide", "<U99999999", 1)):
        header = f"{{'descr': '{kind}', 'fortran_order': True, 'shape': ({rows}, 0), }}"
        (folder / f"empty_{name}.npy").write_bytes(
            b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode()
        )
    (folder / "gaps.jsonl").write_bytes(b'{"a":1}\n\xff\nx\n' * 40_000)
    (folder / "gaps.csv").write_bytes(b"a,b\n" + b"1,2\n1\n" * 20_000)
    (folder / "long.csv").write_text("a,b\n1," + "x" * 200_000 + "\n3,4\n")
    (folder / "digits.csv").write_text("a,b\n1," + "9" * 5000 + "\n3,4\n" + "5," + "9" * 400 + "\n")
    rows = ['{"a":1,"b":' + "9" * 5000 + "}", '{"a":2,"b":1e400}', '{"a":3,"b":' + "9" * 400 + "}"]
    (folder / "digits.jsonl").write_text("\n".join([*rows, ""]))
    (folder / "deep.jsonl").write_text('{"a":1,"b":' + "[" * 100_000 + "]" * 100_000 + '}\n{"a":3,"b":4}\n')
    (folder / "mac.csv").write_bytes(b"a,b\r1,2\r3,4,5\r\r5,6\r")
    (folder / "mac.jsonl").write_bytes(b'{"a":1}\r{"a":2}\rx\r{"a":3}\r')
    (folder / "pages.mindrecord").write_bytes(mindrecord([page(0, number) for number in range(6000)]))
    (folder / "far.mindrecord").write_bytes(mindrecord([page((1 << 48) - 1, 0)], (1 << 48) - 1))
    first = event_record(b"\x1a\x0dbrain.Event:2")
    (folder / "empty.tfevents.1.x").write_bytes(first + event_record(b"") * 300_000)
    (folder / "separators.txt").write_text(("a" + " ,;" * 8000 + "\n") * 10)
    files = [{"path": "a" * 400}]
    (folder / "small.json").write_text(json.dumps({"schema": "trueline/manifest/1", "files": files}))
    (folder / "zero.json").write_text(json.dumps({"schema": "trueline/manifest/1", "files": [{"path": "a\0b"}]}))
    for name in ("csv", "jsonl", "parquet", "mindrecord", "arrow", "log"):
        os.mkfifo(folder / f"pipe.{name}")
        (folder / f"device.{name}").symlink_to("/dev/zero")
    run = record(folder / "run", losses(3))
    events = run / "rank-00000/events.jsonl"
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    for line in lines:
        if line["event"] == "batch":
            line["samples"] = {"size": 400_000_000, "fields": [], "indexes": None}
    events.write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "listed").mkdir()
    record(folder / "listed/run", losses(3))
    opened = {
        "schema": "trueline/manifest/1",
        "root": "/dev",
        "host": "h",
        "files": [{"path": "zero", "size": 9 << 20}],
    }
    (folder / "listed/run/rank-00000/opened.json").write_text(json.dumps(opened))
