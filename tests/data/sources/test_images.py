"""Folders of images: classes by folder, sizes and modes as on disk, and what is broken stepped over."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import numpy as np
import pytest
from data.sources.digits import digits, joined
from PIL import Image

from trueline.data.source import Picture, Source
from trueline.data.sources.opening import open_source
from trueline.model.trouble import BadFile, BadUsage


@pytest.fixture(scope="module")
def classes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty digits as PNG, a folder for each class."""
    root = tmp_path_factory.mktemp("digits")
    images, labels = digits()
    for number in range(60):
        folder = root / f"digit_{labels[number]}"
        folder.mkdir(exist_ok=True)
        Image.fromarray(images[number]).save(folder / f"{number:04d}.png")
    return root


def pictures(source: Source) -> list[Picture]:
    return joined(source, "image")


def test_sub_folders_are_the_labels(classes: Path) -> None:
    source = open_source(str(classes))
    assert (source.kind, source.fields, source.label, source.length) == ("images", ["image", "label"], "label", 60)
    images, labels = digits()
    found = {one.place: one for one in pictures(source)}
    told = dict(zip(found, joined(source, "label"), strict=True))
    assert len(found) == 60
    for number in range(60):
        place = f"digit_{labels[number]}/{number:04d}.png"
        assert np.array_equal(found[place].pixels, images[number])
        assert (found[place].width, found[place].height, found[place].mode) == (8, 8, "L")
        assert told[place] == f"digit_{labels[number]}"
    assert source.skipped.total == 0


def test_samples_are_taken_by_index_in_the_order_asked_for(classes: Path) -> None:
    source = open_source(str(classes))
    everything, labels = pictures(source), joined(source, "label")
    taken = source.take([59, 0, 31, 31])
    assert [one["image"].place for one in taken] == [everything[index].place for index in (59, 0, 31, 31)]
    assert [one["label"] for one in taken] == [labels[index] for index in (59, 0, 31, 31)]
    assert np.array_equal(taken[2]["image"].pixels, everything[31].pixels)
    with pytest.raises(IndexError):
        source.take([60])


def test_a_flat_folder_has_no_labels(tmp_path: Path) -> None:
    for number in range(3):
        Image.fromarray(digits()[0][number]).save(tmp_path / f"{number}.jpg")
    source = open_source(str(tmp_path))
    assert (source.fields, source.label, source.length) == (["image"], None, 3)
    assert [one.place for one in pictures(source)] == ["0.jpg", "1.jpg", "2.jpg"]


def test_train_and_test_are_parts_and_not_classes(tmp_path: Path) -> None:
    for place in ("train/cat/1.png", "train/dog/2.png", "test/cat/3.png"):
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (4, 3)).save(tmp_path / place)
    source = open_source(str(tmp_path))
    assert source.fields == ["image", "label", "split"]
    assert joined(source, "label") == ["cat", "cat", "dog"]
    assert joined(source, "split") == ["test", "train", "train"]
    assert joined(open_source(str(tmp_path / "train")), "label") == ["cat", "dog"]


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "I;16", "I", "F"])
def test_the_mode_is_told_as_it_is_on_disk(tmp_path: Path, mode: str) -> None:
    endings = {"CMYK": "jpg", "YCbCr": "jpg", "F": "tif", "I": "tif"}
    Image.new(mode, (5, 3)).save(tmp_path / f"one.{endings.get(mode, 'png')}")
    (found,) = pictures(open_source(str(tmp_path)))
    # JPEG stores YCbCr as what is read as RGB.
    assert found.mode == ("RGB" if mode == "YCbCr" else mode)
    assert found.pixels is not None
    assert found.pixels.shape[:2] == (3, 5)
    assert found.pixels.dtype != object


def test_bad_files_are_counted_and_stepped_over(classes: Path, tmp_path: Path) -> None:
    good = sorted(classes.rglob("*.png"))
    for folder in ("a", "b", "empty", "b/inner"):
        (tmp_path / folder).mkdir()
    for place in ("a/1.png", "b/2.png", "b/inner/3.png"):
        (tmp_path / place).write_bytes(good[0].read_bytes())
    big = tmp_path / "a/cut.jpg"
    Image.effect_noise((64, 64), 50).save(big)
    big.write_bytes(big.read_bytes()[:900])
    (tmp_path / "a/nothing.png").write_bytes(b"")
    (tmp_path / "a/text.png").write_text("not an image at all")
    (tmp_path / "a/notes.txt").write_text("hello")
    (tmp_path / "b/without_ending").write_bytes(good[1].read_bytes())
    (tmp_path / "b/README").write_text("hello")
    (tmp_path / "b/up").symlink_to(tmp_path)
    (tmp_path / "b/gone.png").symlink_to(tmp_path / "nowhere.png")
    (tmp_path / "b/self.png").symlink_to(tmp_path / "b/self.png")
    os.mkfifo(tmp_path / "b/pipe.png")
    bomb = bytearray(good[0].read_bytes())
    bomb[16:24] = (60000).to_bytes(4, "big") * 2
    bomb[29:33] = zlib.crc32(bomb[12:29]).to_bytes(4, "big")
    (tmp_path / "a/bomb.png").write_bytes(bomb)
    source = open_source(str(tmp_path))
    found = {one.place: one for one in pictures(source)}
    whole = [place for place, one in found.items() if one.pixels is not None]
    assert whole == ["a/1.png", "b/2.png", "b/without_ending", "b/inner/3.png"]
    broken = {place: one.broken for place, one in found.items() if one.broken}
    assert broken == {
        "a/bomb.png": "picture_too_large",
        "a/cut.jpg": "picture_truncated",
        "a/nothing.png": "picture_empty",
        "a/text.png": "picture_unknown",
    }
    places = source.skipped.places
    assert places["not_an_image"] == ["a/notes.txt", "b/README"]
    assert places["link_loop"] == ["b/self.png", "b/up"]
    assert places["dead_link"] == ["b/gone.png"]
    assert places["not_a_file"] == ["b/pipe.png"]
    assert places["empty_folder"] == ["empty"]
    assert places["picture_truncated"] == ["a/cut.jpg"]
    before = dict(source.skipped.counts)
    assert len(pictures(source)) == source.length == 8
    assert source.skipped.counts == before
    assert joined(source, "label") == ["a"] * 5 + ["b"] * 3
    assert all(text.text() != text.id for text, _, _ in source.skipped.told())


def test_a_linked_class_folder_is_read(classes: Path, tmp_path: Path) -> None:
    for number in (0, 1):
        (tmp_path / f"digit_{number}").symlink_to(classes / f"digit_{number}")
    source = open_source(str(tmp_path))
    assert set(joined(source, "label")) == {"digit_0", "digit_1"}
    assert source.skipped.total == 0


def test_labels_alone_open_no_image(tmp_path: Path) -> None:
    for place in ("a/1.png", "b/2.png"):
        (tmp_path / place).parent.mkdir()
        (tmp_path / place).write_bytes(b"broken")
    source = open_source(str(tmp_path))
    assert joined(source, "label") == ["a", "b"]
    assert source.skipped.total == 0


def test_what_is_no_dataset_is_said_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no files"):
        open_source(str(tmp_path))
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(BadFile, match="no images"):
        open_source(str(tmp_path))
    with pytest.raises(BadUsage, match="neither a file"):
        open_source(str(tmp_path / "nowhere"))
    Image.new("L", (2, 2)).save(tmp_path / "1.png")
    with pytest.raises(BadUsage, match="no field colour; it has: image"):
        open_source(str(tmp_path), label="colour")
