"""What MindSpore's own readers are told to read is told when a pipeline starts, and listed as named."""

from __future__ import annotations

from pathlib import Path

import mindspore.dataset as ds
from PIL import Image

from trueline.adapters.mindspore.dataset_paths import watch
from trueline.formats.manifest.opened_log import LISTENED, NAMED, READ, Head, gather, record


def folder(tmp_path: Path) -> Path:
    for kind in "ab":
        (tmp_path / "data" / kind).mkdir(parents=True)
        Image.new("RGB", (4, 4)).save(tmp_path / "data" / kind / "0.png")
    return tmp_path / "data"


def test_every_source_of_a_pipeline_is_told_once_it_starts(tmp_path: Path) -> None:
    images = folder(tmp_path)
    (tmp_path / "lines.txt").write_text("a\nb\n")
    (tmp_path / "table.csv").write_text("1,2\n3,4\n")
    told: list[str] = []
    patches = watch(told.append)
    try:
        pictures = ds.ImageFolderDataset(str(images), shuffle=False).map(lambda one: one, "image")
        lines = ds.TextFileDataset([str(tmp_path / "lines.txt")], shuffle=False)
        both = ds.zip((pictures, lines)).batch(1)
        assert told == []
        assert len(list(both.create_tuple_iterator(num_epochs=1))) == 2
        assert set(told) == {str(images), str(tmp_path / "lines.txt")}
        list(ds.CSVDataset(str(tmp_path / "table.csv"), column_names=["a", "b"]).create_tuple_iterator(num_epochs=1))
        assert str(tmp_path / "table.csv") in told
        told.clear()
        list(ds.NumpySlicesDataset([1, 2], shuffle=False).create_tuple_iterator(num_epochs=1))
        assert told == []
    finally:
        patches.remove()
    list(ds.TextFileDataset(str(tmp_path / "lines.txt")).create_tuple_iterator(num_epochs=1))
    assert told == []


def test_what_is_named_is_listed_whole_and_marked_unless_every_opening_was_heard(tmp_path: Path) -> None:
    images = folder(tmp_path)
    (tmp_path / "run").mkdir()
    log = tmp_path / "run" / ".opened-x-0-1.log"
    head = Head("x", str(tmp_path), 1 << 62)
    seen = record(READ, str(images / "a" / "0.png").encode())
    log.write_bytes(head.to_bytes() + record(NAMED, str(images).encode()) + seen)
    found = gather([log])
    assert found is not None
    assert found.paths == ["data/a/0.png", "data/b/0.png"]
    assert found.named == {"data/b/0.png"}
    assert [one.id for one in found.notes] == ["manifest.note_named"]
    log.write_bytes(log.read_bytes() + record(LISTENED, b""))
    found = gather([log])
    assert found is not None
    assert (found.paths, list(found.notes)) == (["data/a/0.png"], [])
