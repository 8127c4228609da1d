"""Lists of files: read and held against each other."""

from __future__ import annotations

from array import array
from pathlib import Path

from fuzz.case import Target
from fuzz.mutators.raw import RAW
from fuzz.mutators.text import JSON, TEXT, by_ending
from fuzz.targets.verbs import each, verb


def _read(folder: Path, whole: bool) -> None:
    """What data diff does."""
    from trueline.data.manifest.diff_report import Differences, result
    from trueline.data.manifest.sides import hash_sides, open_sides

    texts = [str(one) for one in sorted(folder.iterdir())]
    if len(texts) < 2:
        texts *= 2
    if whole or not texts:
        each(
            ("data diff", *texts),
            ("data diff", *texts, "--json"),
        )
        return
    result(Differences(hash_sides(open_sides(texts)))).dump()


def _json(folder: Path) -> None:
    from trueline.formats.manifest.json_form import write_manifest
    from trueline.formats.manifest.listed import MD5, UNKNOWN, Digests, Manifest, Unread
    from trueline.model.message import message

    (folder / "1").mkdir()
    for number, file in enumerate(("a.json", "b.json")):
        names = sorted(["a/b.png", "图片.png", 'quote".txt', "new\nline", f"only{number}"])
        digests = Digests.room_for(len(names))
        digests[0], digests[2] = bytes(range(16)), bytes(range(16, 32))
        sizes = array("q", [0, 1, 2, UNKNOWN, 1 << 50])
        notes = [message("manifest.note_named", count=3)]
        unread = [Unread("x", "unreadable", "I/O")]
        made = Manifest("data", names, sizes, {MD5: digests}, unread, "node-1", None, frozenset({names[1]}), notes)
        write_manifest(folder / "1" / file, made)


def _text(folder: Path) -> None:
    sums = ["d41d8cd98f00b204e9800998ecf8427e  a.png\n", "0cc175b9c0f1b6a831c399e269772661 *b/c.png\n"]
    forms = {
        "md5": "".join(sums),
        "paths": "a.png\nb/c.png\n图片.png\n",
        "listed": "MD5 (a.png) = d41d8cd98f00b204e9800998ecf8427e\n",
        "sizes": "12 a.png\n13 b.png\n",
        "csv": "a.png,0\nb.png,1\n",
    }
    for name, text in forms.items():
        (folder / name).mkdir()
        (folder / name / "a.txt").write_text(text)
        (folder / name / "b.txt").write_text(text + text.splitlines()[0].replace("a.png", "z.png") + "\n")


def _opened(folder: Path) -> None:
    """The list of a run that was killed."""
    from formats.run_folder.made_run import INFO

    from trueline.formats.manifest.opened_log import READ, Head, record
    from trueline.formats.manifest.places import LOG_PATTERN
    from trueline.formats.run_folder.json_text import json_page

    run = folder / "1" / "run"
    run.mkdir(parents=True)
    (run / "run.json").write_bytes(json_page(INFO.to_json()))
    log = run / LOG_PATTERN.replace("*", "0")
    log.parent.mkdir(parents=True, exist_ok=True)
    paths = [b"/data/a.png", b"/data/b.png", b"/elsewhere/c"]
    log.write_bytes(Head("node", "/data", 5, 0, ("/data",)).to_bytes() + b"".join(record(READ, one) for one in paths))


def _read_opened(folder: Path, whole: bool) -> None:
    from trueline.data.manifest.of_run import opened_by

    if whole:
        verb("data diff", str(folder / "run"), str(folder / "run"), "--json")
        return
    opened_by(folder / "run")


TARGETS = (
    Target("manifest_json", _json, _read, lambda _: JSON),
    Target("manifest_text", _text, _read, lambda _: TEXT),
    Target("opened_list", _opened, _read_opened, by_ending({".json": JSON}, {**RAW, **dict(list(TEXT.items())[:2])})),
)
