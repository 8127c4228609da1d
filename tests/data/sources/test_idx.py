"""IDX files as MNIST has them."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from data.sources.digits import digits, joined

from trueline.data.source import class_names
from trueline.data.sources.opening import open_source
from trueline.model.trouble import BadFile

TYPES = {"u1": 8, "i1": 9, ">i2": 11, ">i4": 12, ">f4": 13, ">f8": 14}


def idx(array: npt.NDArray[np.generic], kind: str = "u1") -> bytes:
    sides = b"".join(side.to_bytes(4, "big") for side in array.shape)
    return bytes([0, 0, TYPES[kind], array.ndim]) + sides + array.astype(kind).tobytes()


def write(folder: Path, packed: bool = False) -> Path:
    images, labels = digits()
    folder.mkdir(parents=True, exist_ok=True)
    for split, rows in (("train", slice(0, 100)), ("t10k", slice(100, 130))):
        for name, data in (("images-idx3-ubyte", images[rows]), ("labels-idx1-ubyte", labels[rows])):
            path = folder / f"{split}-{name}{'.gz' if packed else ''}"
            path.write_bytes(gzip.compress(idx(data)) if packed else idx(data))
    return folder


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("inner", ["", "MNIST/raw"])
def test_images_and_labels_of_a_folder_belong_together(tmp_path: Path, packed: bool, inner: str) -> None:
    images, labels = digits()
    write(tmp_path / inner, packed)
    source = open_source(str(tmp_path))
    assert (source.kind, source.fields, source.label) == ("idx", ["image", "label", "split"], "label")
    order = [*range(100, 130), *range(100)]
    assert np.array_equal(joined(source, "image"), images[order])
    assert np.array_equal(joined(source, "label"), labels[order])
    assert joined(source, "split") == ["test"] * 30 + ["train"] * 100
    assert np.array_equal(source.take([129, 0])[0]["image"], images[99])
    assert source.skipped.total == 0


def test_the_labels_of_a_file_of_images_are_found(tmp_path: Path) -> None:
    write(tmp_path)
    source = open_source(str(tmp_path / "train-images-idx3-ubyte"))
    assert (source.fields, source.length) == (["image", "label"], 100)
    assert np.array_equal(joined(source, "label"), digits()[1][:100])


def test_names_of_classes_beside_it_are_used(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "classes.txt").write_text("zero\none\ntwo\n")
    source = open_source(str(tmp_path / "train-labels-idx1-ubyte"))
    assert class_names(source) == ["zero", "one", "two"]
    assert joined(source, "label")[:5] == ["zero", "one", "two", 3, 4]


@pytest.mark.parametrize("kind", TYPES)
def test_every_type_is_read(tmp_path: Path, kind: str) -> None:
    wanted = np.arange(12).reshape(4, 3).astype(kind)
    (tmp_path / "numbers.idx").write_bytes(idx(wanted, kind))
    found = joined(open_source(str(tmp_path / "numbers.idx")), "image")
    assert np.array_equal(found, wanted)
    assert found.dtype.isnative


def test_damaged_files_are_read_as_far_as_they_go(tmp_path: Path) -> None:
    write(tmp_path)
    images, labels = tmp_path / "train-images-idx3-ubyte", tmp_path / "train-labels-idx1-ubyte"
    images.write_bytes(images.read_bytes()[: 16 + 64 * 90 + 5])
    source = open_source(str(images))
    assert source.length == 100
    found = joined(source, "image")
    assert found[89] is not None
    assert found[90:] == [None] * 10
    assert source.skipped.counts == {"cut_short": 1, "unequal_length": 1}
    labels.write_bytes(b"no labels")
    again = open_source(str(tmp_path))
    assert again.skipped.counts["unreadable_file"] == 1
    assert again.length == 120


def test_a_packed_file_cut_short_or_lying_ends_its_part(tmp_path: Path) -> None:
    data = gzip.compress(idx(np.random.default_rng(0).integers(0, 255, (3000, 80, 80), np.uint8)), 1)
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(data[: len(data) * 9 // 10])
    source = open_source(str(tmp_path))
    assert 0 < sum(chunk.size for chunk in source.chunks()) < 3000
    assert source.skipped.counts == {"damaged_part": 1}
    huge = bytes([0, 0, 8, 3]) + b"\xff" * 12
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(huge))
    with pytest.raises(BadFile):
        open_source(str(tmp_path / "train-images-idx3-ubyte.gz"))
