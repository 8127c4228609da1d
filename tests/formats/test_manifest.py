"""Lists of files are read as they were written, by us and by others; what is none is one clear line."""

from __future__ import annotations

import json
import os
import subprocess
from array import array
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueline.formats.manifest.json_form import read_manifest, write_manifest
from trueline.formats.manifest.listed import FAST, MD5, UNKNOWN, Digests, Manifest, Unread, escaped, unescaped
from trueline.formats.manifest.opened_log import gather
from trueline.formats.manifest.text_form import read_list
from trueline.model.message import message
from trueline.model.trouble import BadFile

ONE, TWO = bytes(range(16)), bytes(range(16, 32))


def made() -> Manifest:
    names = sorted(["a/b.png", "图片.png", 'quote".txt', "new\nline", "\\slash", os.fsdecode(b"\xff.png")])
    digests = Digests.room_for(len(names))
    digests[0], digests[2] = ONE, TWO
    notes = [message("manifest.note_named", count=3)]
    unread = [Unread(os.fsdecode(b"\xfe"), "dangling"), Unread("x", "unreadable", "I/O")]
    sizes = array("q", [0, 1, 2, UNKNOWN, 4, 1 << 50])
    times = array("q", [5, 6, 7, 8, 9, 10])
    return Manifest("data", names, sizes, {MD5: digests}, unread, "node-1", times, frozenset({names[1]}), notes)


def test_a_manifest_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_manifest(tmp_path / "m.json", made())
    assert read_manifest(tmp_path / "m.json") == made()
    page = json.loads((tmp_path / "m.json").read_text("utf-8"))
    assert page["schema"] == "trueline/manifest/1"
    assert page["totals"] == {"files": 6, "bytes": 7 + (1 << 50), "skipped": 2}


def test_the_order_in_a_file_does_not_matter_and_a_name_counts_once(tmp_path: Path) -> None:
    files = [{"path": "b", "size": 1}, {"path": "a", "size": 2}, {"path": "b", "size": 3}]
    (tmp_path / "m.json").write_text(json.dumps({"schema": "trueline/manifest/1", "files": files, "later": 1}))
    found = read_manifest(tmp_path / "m.json")
    assert (found.paths, list(found.sizes)) == (["a", "b"], [2, 1])


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "{}",
        '{"schema": "trueline/manifest/2", "files": []}',
        '{"schema": "trueline/manifest/1"}',
        '{"schema": "trueline/manifest/1", "files": {}}',
        '{"schema": "trueline/manifest/1", "files": [{"size": 1}]}',
        '{"schema": "trueline/manifest/1", "files": [{"path": ""}]}',
        '{"schema": "trueline/manifest/1", "files": [{"path": "a", "size": -1}]}',
        '{"schema": "trueline/manifest/1", "files": [{"path": "a", "size": 99999999999999999999}]}',
        '{"schema": "trueline/manifest/1", "files": [{"path": "a", "md5": "12"}]}',
        '{"schema": "trueline/manifest/1", "files": [{"path": "a", "md5": "zz"}]}',
        '{"schema": "trueline/manifest/1", "files": [{"path": 5}]}',
        "[" * 100_000,
    ],
)
def test_what_is_no_manifest_is_refused_by_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "m.json").write_text(content)
    with pytest.raises(BadFile, match=r"m\.json"):
        read_manifest(tmp_path / "m.json")


@given(st.binary(min_size=1, max_size=12).filter(lambda raw: b"\0" not in raw))
def test_every_name_survives_its_escapes(raw: bytes) -> None:
    name = os.fsdecode(raw)
    text = escaped(name)
    text.encode("utf-8")
    assert unescaped(text) == name


def md5_of(found: Manifest) -> dict[str, Any]:
    return {name: found.digest(MD5, place) for place, name in enumerate(found.paths)}


def test_what_md5sum_writes_is_read(tmp_path: Path) -> None:
    names = ["a.png", "two words.txt", "back\\slash", "new\nline", "图.png"]
    for name in names:
        (tmp_path / name).write_text(name)
    (tmp_path / "list").mkdir()
    lists = {}
    for place, option in enumerate(([], ["--tag"], ["-b"])):
        output = subprocess.run(["md5sum", *option, *names], cwd=tmp_path, capture_output=True, check=True).stdout
        path = tmp_path / "list" / str(place)
        path.write_bytes(output)
        lists[place] = md5_of(read_list(path))
    assert lists[0] == lists[1] == lists[2]
    assert sorted(lists[0]) == sorted(names)
    assert None not in lists[0].values()


@pytest.mark.parametrize(
    "line", ["{md5}  ./a/b.png", "{md5} *a/b.png", "a/b.png\t{md5}", "a/b.png,{md5}", "{md5},a/b.png", "a//b.png {MD5}"]
)
def test_names_and_hashes_in_columns(tmp_path: Path, line: str) -> None:
    (tmp_path / "list").write_text(
        "\ufeff# the standard set\r\n\r\n" + line.format(md5=ONE.hex(), MD5=ONE.hex().upper()) + "\r\n"
    )
    assert md5_of(read_list(tmp_path / "list")) == {"a/b.png": ONE}


def test_headings_are_no_file_and_names_alone_are_enough(tmp_path: Path) -> None:
    (tmp_path / "list").write_text(f"path,md5\na,{ONE.hex()}\nb,{TWO.hex()}\n")
    assert md5_of(read_list(tmp_path / "list")) == {"a": ONE, "b": TWO}
    (tmp_path / "list").write_text("b/1.png\na/2.png\nb/1.png\n")
    found = read_list(tmp_path / "list")
    assert (found.paths, found.hashes) == (["a/2.png", "b/1.png"], {})


def test_lists_of_xxhsum_are_told_apart_by_their_tag(tmp_path: Path) -> None:
    (tmp_path / "list").write_text(f"XXH128 (a) = {ONE.hex()}\n")
    assert read_list(tmp_path / "list").digest(FAST, 0) == ONE


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\0\0\n", b"a" * 64 + b"  file\n", b"SHA256 (a) = " + b"b" * 64])
def test_what_is_no_list_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "list").write_bytes(content)
    with pytest.raises(BadFile, match="list"):
        read_list(tmp_path / "list")


def test_a_list_that_leads_out_of_a_run_folder_is_refused(tmp_path: Path) -> None:
    write_manifest(tmp_path / "outside.json", made())
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "manifest.json").symlink_to("../outside.json")
    assert read_manifest(tmp_path / "run" / "manifest.json").paths
    with pytest.raises(BadFile, match=r"manifest\.json"):
        read_manifest(tmp_path / "run" / "manifest.json", tmp_path / "run")


def test_a_log_of_anything_gives_a_list_or_none(tmp_path: Path) -> None:
    log = tmp_path / ".opened-x-0-1.log"
    head = b'h{"host": "x", "folder": "/", "started_ns": 9223372036854775807, "rank": 0, "roots": []}\0'
    (tmp_path / "data").write_text("1")
    read = b"r" + os.fsencode(tmp_path / "elsewhere" / ".." / "data")
    for content in (b"", b"\0\0\0", b"h{}\0", b"h[]\0", b"h\xff\0", b"r/x\0", b"z" * 100, b'h{"roots": 5}\0'):
        log.write_bytes(content)
        assert gather([log]) is None
    for content in (head, head + b"r", head + b"r/no/such/file", head + b"?what\0", head + b"r\xff\xfe\0"):
        log.write_bytes(content)
        found = gather([log])
        assert found is not None
        assert found.paths == []
    (tmp_path / "run").mkdir()
    log = log.rename(tmp_path / "run" / log.name)
    # The last record was being written when the process was killed.
    log.write_bytes(head + read + b"\0" + read[:-2])
    found = gather([log])
    assert found is not None
    assert [os.fspath(tmp_path / "data").lstrip("/")] == found.paths
    os.mkfifo(tmp_path / "pipe")
    assert gather([tmp_path / "pipe"]) is None
