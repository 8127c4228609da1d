"""Files made to hurt: each is refused with one line that names the file and the reason."""

from __future__ import annotations

import json
import os
import struct
import tracemalloc
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from formats.run_folder.made_run import read_everything, write_run

from trueline.formats.run_folder import layout
from trueline.formats.run_folder.layout import BLOCK, FRAME
from trueline.formats.run_folder.reader import find_runs, open_run
from trueline.model.trouble import BadFile

Spoil = Callable[[Path], object]
RANK = Path("rank-00000")


def edit_json(name: str, change: Callable[[dict], object]) -> Spoil:
    def spoil(run: Path) -> None:
        content = json.loads((run / name).read_text("utf-8"))
        change(content)
        (run / name).write_text(json.dumps(content), "utf-8")

    return spoil


def replace_with(name: str, data: bytes) -> Spoil:
    return lambda run: (run / name).write_bytes(data)


def edit_bytes(name: str, change: Callable[[bytes], bytes]) -> Spoil:
    return lambda run: (run / name).write_bytes(change((run / name).read_bytes()))


def head(kind: struct.Struct, *values: object) -> bytes:
    packed = kind.pack(*values, 0)[:-4]
    return packed + struct.pack("<I", zlib.crc32(packed))


def edit_header(change: Callable[[dict], object]) -> Spoil:
    def spoil(data: bytes) -> bytes:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        change(header)
        text = json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + data[8 + length :]

    return edit_bytes("rank-00000/tensors/5.safetensors", spoil)


def first(header: dict) -> dict:
    return next(entry for name, entry in header.items() if name != "__metadata__")


def link(name: str, target: str) -> Spoil:
    def spoil(run: Path) -> None:
        (run / name).unlink()
        (run / name).symlink_to(target)

    return spoil


def pipe(run: Path) -> None:
    (run / RANK / "events.jsonl").unlink()
    os.mkfifo(run / RANK / "events.jsonl")


def sparse(name: str) -> Spoil:
    def spoil(run: Path) -> None:
        with (run / name).open("r+b") as file:
            file.truncate(1 << 40)

    return spoil


def block_with_rows_beyond_its_steps(run: Path) -> None:
    record = np.zeros(1, layout.RECORD)
    record["ref"] = 4_000_000_000
    tables = np.array([(0, 0, 1)], layout.STEP_ROW).tobytes()
    tables += np.array([(0, 1, zlib.crc32(record.tobytes()))], layout.DIRECTORY_ROW).tobytes()
    length = BLOCK.size + len(tables) + len(record.tobytes())
    start = head(BLOCK, layout.BLOCK_MAGIC, 0, length, 1, 1, 1, zlib.crc32(tables))
    for path in (run / RANK).glob("stats-*"):
        path.unlink()
    (run / RANK / "stats-0000.bin").write_bytes(start + tables + record.tobytes())


def tail_with_an_unknown_id(run: Path) -> None:
    record = np.zeros(1, layout.RECORD)
    record["ref"] = 4_000_000_000
    start = head(FRAME, layout.FRAME_MAGIC, 0, 0, 0, 0, 1, zlib.crc32(record.tobytes()))
    for path in (run / RANK).glob("stats-*"):
        path.unlink()
    (run / RANK / "stats-tail.bin").write_bytes(start + record.tobytes())


NAMES = "rank-00000/names.jsonl"
EVENTS = "rank-00000/events.jsonl"
PARAMS = "rank-00000/params.json"
MODULES = "rank-00000/modules.json"
SEGMENT = "rank-00000/stats-0000.bin"
TAIL = "rank-00000/stats-tail.bin"
TENSORS = "rank-00000/tensors/5.safetensors"

CASES: dict[str, tuple[str, Spoil]] = {
    "newer version": ("newer TrueLine", edit_json("run.json", lambda run: run.update(format=2))),
    "no version": ("format", edit_json("run.json", lambda run: run.pop("format"))),
    "version of another type": ("format", edit_json("run.json", lambda run: run.update(format="1"))),
    "id of another type": ("id: expected str", edit_json("run.json", lambda run: run.update(id=[]))),
    "world that is true": ("world: expected int", edit_json("run.json", lambda run: run.update(world=True))),
    "sources of another type": ("sources", edit_json("run.json", lambda run: run.update(sources={"a.py": 3}))),
    "source path": ("hash", edit_json("run.json", lambda run: run.update(sources={"a.py": "../../etc/passwd"}))),
    "run.json is a list": ("run.json", replace_with("run.json", b"[]")),
    "run.json is empty": ("JSON", replace_with("run.json", b"")),
    "run.json is deep": ("JSON", replace_with("run.json", b'{"format":' * 200_000)),
    "run.json has NaN": ("JSON", replace_with("run.json", b'{"format": 1, "id": "x", "world": NaN}')),
    "run.json is not UTF-8": ("JSON", replace_with("run.json", b'{"format": 1, "id": "\xff\xfe", "world": 1}')),
    "run.json is a terabyte": ("too large", sparse("run.json")),
    "params of another type": ("params", replace_with(PARAMS, b'{"params": {}}')),
    "shape below zero": ("shape", edit_json(PARAMS, lambda found: found["params"][0].update(shape=[-1]))),
    "a fingerprint that is none": (
        "params",
        edit_json(PARAMS, lambda found: found["params"][0]["initial"].update(fingerprint="xyz")),
    ),
    "modules of another type": ("modules", edit_json(MODULES, lambda found: found["modules"].append(3))),
    "calls fed from nowhere": (
        "feeds_from",
        edit_json(MODULES, lambda found: found["calls"][0].update(feeds_from=[9])),
    ),
    "events are deep": ("line 1 ", replace_with(EVENTS, b'{"event":' * 100_000 + b"\n")),
    "events with NaN": ("line 1 ", replace_with(EVENTS, b'{"event": "end", "step": 0, "phase": "train", "t": NaN}\n')),
    "event of another type": ("line 1 ", replace_with(EVENTS, b"[1]\n")),
    "end without its step": ("line 1 ", replace_with(EVENTS, b'{"event": "end", "phase": "train"}\n')),
    "end of a huge step": ("line 1 ", replace_with(EVENTS, b'{"event": "end", "step": 1e300, "phase": "train"}\n')),
    "end below zero": ("line 1 ", replace_with(EVENTS, b'{"event": "end", "step": -1, "phase": "train"}\n')),
    "end of no phase": ("line 1 ", replace_with(EVENTS, b'{"event": "end", "step": 1, "phase": "play"}\n')),
    "loss that is no number": (
        "loss",
        edit_bytes(EVENTS, lambda data: data.replace(b'"value":1.0', b'"value":[]', 1)),
    ),
    "an endless line": ("line of more", sparse(EVENTS)),
    "a pipe": ("regular file", pipe),
    "link out of the folder": ("out of the run folder", link(EVENTS, "/etc/passwd")),
    "link in a circle": ("out of the run folder", link(EVENTS, "events.jsonl")),
    "link to another folder": ("out of the run folder", link(TENSORS, "/etc/hostname")),
    "link for run.json": ("out of the run folder", link("run.json", "/etc/passwd")),
    "duplicate id": ("line 2 ", edit_bytes(NAMES, lambda data: data.replace(b'"id":1', b'"id":0'))),
    "duplicate key": (
        "line 2 ",
        edit_bytes(
            NAMES,
            lambda data: b'{"id":0,"key":"train/a#0/out/0"}\n{"id":1,"key":"train/a#0/out/0"}\n',
        ),
    ),
    "key that is none": ("line 1 ", replace_with(NAMES, b'{"id":0,"key":"train/../x"}\n')),
    "names are missing": ("names.jsonl does not have", lambda run: (run / NAMES).unlink()),
    "names are a terabyte": ("too large", sparse(NAMES)),
    "wrong magic": ("damaged", edit_bytes(SEGMENT, lambda data: b"X" + data[1:])),
    "one bit of a record": ("damaged", edit_bytes(SEGMENT, lambda data: data[:-1] + bytes([data[-1] ^ 1]))),
    "one bit of a table": (
        "damaged",
        edit_bytes(SEGMENT, lambda data: data[: BLOCK.size] + bytes([data[BLOCK.size] ^ 1]) + data[BLOCK.size + 1 :]),
    ),
    "a block that claims too much": (
        "damaged",
        replace_with(SEGMENT, head(BLOCK, layout.BLOCK_MAGIC, 0, 1 << 62, 1 << 55, 1 << 16, 1 << 31, 0)),
    ),
    "a row beyond the steps": ("damaged", block_with_rows_beyond_its_steps),
    "an id beyond the names": ("names.jsonl does not have", tail_with_an_unknown_id),
    "a segment is missing": ("stats-0000.bin is missing", lambda run: (run / SEGMENT).unlink()),
    "an early segment is cut": ("cut short", edit_bytes(SEGMENT, lambda data: data[:-5])),
    "a tail that skips steps": (
        "missing before",
        replace_with(TAIL, head(FRAME, layout.FRAME_MAGIC, 10_000, 0, 0, 0, 0, zlib.crc32(b""))),
    ),
    "tail of another kind": ("damaged", replace_with(TAIL, b"something else entirely, longer than a frame's head")),
    "header longer than the file": ("header", edit_bytes(TENSORS, lambda data: b"\xff" * 8 + data[8:])),
    "header is a list": ("header", replace_with(TENSORS, b"\2\0\0\0\0\0\0\0[]")),
    "header is deep": ("JSON", replace_with(TENSORS, (600_000).to_bytes(8, "little") + b'{"a":' * 120_000)),
    "tensors are cut": ("does not fit its data", edit_bytes(TENSORS, lambda data: data[:-1])),
    "tensors are empty": ("header", replace_with(TENSORS, b"")),
    "shape that overflows": (
        "does not fit its data",
        edit_header(lambda found: first(found).update(shape=[1 << 62, 1 << 62])),
    ),
    "empty shape that overflows": (
        "does not fit its data",
        edit_header(lambda found: first(found).update(shape=[0, 1 << 62, 1 << 62], data_offsets=[0, 0])),
    ),
    "shape of too many sides": (
        "does not fit its data",
        edit_header(lambda found: first(found).update(shape=[1] * 99)),
    ),
    "offsets backwards": ("does not fit its data", edit_header(lambda found: first(found).update(data_offsets=[3, 0]))),
    "offsets beyond": (
        "does not fit its data",
        edit_header(lambda found: first(found).update(data_offsets=[0, 1 << 60])),
    ),
    "offsets below zero": (
        "does not fit its data",
        edit_header(lambda found: first(found).update(data_offsets=[-3, 0])),
    ),
    "dtype that is none": ("does not fit its data", edit_header(lambda found: first(found).update(dtype="O"))),
    "complex from booleans": (
        "does not fit its data",
        edit_header(lambda found: found.update(__metadata__={"trueline.complex": "0"})),
    ),
    "tensor name that is none": (
        "name of a tensor",
        edit_header(lambda found: found.update({"../x\n": {**first(found), "shape": [0], "data_offsets": [0, 0]}})),
    ),
    "a source was changed": (
        "checksums",
        lambda run: next((run / "sources").iterdir()).write_bytes(b"import evil\n"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refused_in_one_line(tmp_path: Path, case: str) -> None:
    reason, spoil = CASES[case]
    write_run(tmp_path / "run", 30)
    spoil(tmp_path / "run")
    tracemalloc.start()
    try:
        with pytest.raises(BadFile) as caught:
            read_everything(tmp_path / "run")
        # Python sees every allocation: none is made because a file says so.
        assert tracemalloc.get_traced_memory()[1] < 300 << 20
    finally:
        tracemalloc.stop()
    assert reason in str(caught.value)
    assert str(tmp_path / "run") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_no_run_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    for path in (tmp_path, tmp_path / "file", tmp_path / "missing"):
        with pytest.raises(BadFile):
            open_run(path)
    with pytest.raises(BadFile, match="no such folder"):
        find_runs(tmp_path / "missing")


def test_a_rank_that_is_not_there(tmp_path: Path) -> None:
    write_run(tmp_path, 1)
    with pytest.raises(BadFile, match="rank 7"):
        open_run(tmp_path).rank(7)


@pytest.mark.parametrize("hash", ["", "../run.json", "A" * 64, "0" * 63, "0" * 64 + "\n"])
def test_a_source_is_asked_for_by_hash_only(tmp_path: Path, hash: str) -> None:
    write_run(tmp_path, 1)
    with pytest.raises(BadFile, match="hash"):
        open_run(tmp_path).source(hash)


def test_messages_in_chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUELINE_LANG", "zh")
    with pytest.raises(BadFile, match="目录不存在"):
        open_run(tmp_path / "missing")
