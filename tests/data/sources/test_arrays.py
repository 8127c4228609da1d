"""Arrays of NumPy as datasets: columns, records, splits, samples in files of their own, and what is damaged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from data.sources.digits import digits, joined

from trueline.data.sources.opening import open_source
from trueline.model.trouble import BadFile


def test_the_rows_of_an_array_are_samples(tmp_path: Path) -> None:
    images, _ = digits()
    np.save(tmp_path / "images.npy", images)
    source = open_source(str(tmp_path / "images.npy"))
    assert (source.kind, source.fields, source.label, source.length) == ("npy", ["images"], None, 1797)
    assert np.array_equal(joined(source, "images"), images)
    assert np.array_equal(source.take([5, 3])[0]["images"], images[5])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F", ">"])
def test_an_archive_has_its_arrays_as_fields(tmp_path: Path, save: object, order: str) -> None:
    images, labels = digits()
    stored = np.asarray(images, order=order) if order != ">" else images.astype(">i4")
    save(tmp_path / "digits.npz", X=stored, y=labels, names=np.array(["zero", "one"]))  # type: ignore[operator]
    source = open_source(str(tmp_path / "digits.npz"))
    assert (source.kind, source.fields, source.label, source.length) == ("npz", ["X", "y"], "y", 1797)
    assert np.array_equal(joined(source, "X"), images)
    assert np.array_equal(joined(source, "y"), labels)
    assert joined(source, "X").dtype.isnative
    taken = source.take([1700, 2, 900])
    assert all(np.array_equal(one["X"], images[at]) for one, at in zip(taken, (1700, 2, 900), strict=True))
    assert source.skipped.places == {"other_length": ["digits.npz: names [2]"]}


def test_train_and_test_of_an_archive_are_parts(tmp_path: Path) -> None:
    images, labels = digits()
    np.savez(tmp_path / "d.npz", x_train=images[:9], y_train=labels[:9], x_test=images[9:12], y_test=labels[9:12])
    source = open_source(str(tmp_path / "d.npz"))
    assert source.fields == ["x", "y", "split"]
    assert np.array_equal(joined(source, "x"), images[:12])
    assert joined(source, "split") == ["train"] * 9 + ["test"] * 3
    assert [one["split"] for one in source.take([8, 9])] == ["train", "test"]
    part = open_source(str(tmp_path / "d.npz/test"))
    assert (part.fields, part.length) == (["x", "y"], 3)
    assert np.array_equal(joined(part, "y"), labels[9:12])
    with pytest.raises(BadFile, match="no part called val in it; it has: train, test"):
        open_source(str(tmp_path / "d.npz/val"))


def test_records_texts_and_dates_are_read(tmp_path: Path) -> None:
    kind = [("age", "<i4"), ("name", "<U8"), ("when", "<M8[D]"), ("place", ">f4", (2,))]
    people = np.array([(41, "Ada", "1815-12-10", (1, 2)), (36, "艾伦", "NaT", (3, np.nan))], kind)
    np.save(tmp_path / "people.npy", people)
    source = open_source(str(tmp_path / "people.npy"), label="name")
    assert (source.fields, source.label) == (["age", "name", "when", "place"], "name")
    assert joined(source, "name").tolist() == ["Ada", "艾伦"]
    assert np.array_equal(joined(source, "place"), people["place"], equal_nan=True)
    assert np.isnat(source.take([1])[0]["when"])


def test_columns_in_files_of_their_own(tmp_path: Path) -> None:
    images, labels = digits()
    for name, array in {"X_train": images, "y_train": labels, "X_test": images[:5], "y_test": labels[:5]}.items():
        np.save(tmp_path / f"{name}.npy", array)
    (tmp_path / "notes.txt").write_text("hello")
    source = open_source(str(tmp_path))
    assert source.fields == ["X", "y", "split"]
    assert (source.length, source.label) == (1802, "y")
    assert source.skipped.places == {"not_an_array": ["notes.txt"]}


def test_archives_of_a_folder_are_parts_of_one_dataset(tmp_path: Path) -> None:
    images, labels = digits()
    for number in range(3):
        rows = slice(number * 100, number * 100 + 100)
        np.savez(tmp_path / f"part-{number}.npz", image=images[rows], label=labels[rows])
    (tmp_path / "part-1.npz").write_bytes(b"PK\3\4 no archive")
    source = open_source(str(tmp_path))
    assert source.length == 200
    assert np.array_equal(joined(source, "label"), np.concatenate([labels[:100], labels[200:300]]))
    assert source.skipped.counts == {"unreadable_file": 1}


def test_files_that_are_samples(tmp_path: Path) -> None:
    images, labels = digits()
    for number in range(30):
        (tmp_path / str(labels[number])).mkdir(exist_ok=True)
        np.save(tmp_path / str(labels[number]) / f"{number:03d}.npy", images[number])
    cut = tmp_path / "0/000.npy"
    cut.write_bytes(cut.read_bytes()[:-5])
    np.save(tmp_path / "1/objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    source = open_source(str(tmp_path))
    assert (source.fields, source.length) == (["array", "label"], 31)
    arrays, told = joined(source, "array"), joined(source, "label")
    assert arrays[0] is None
    assert all(np.array_equal(images[number], arrays[told.index(str(labels[number]))]) for number in (1, 2, 3))
    assert source.skipped.places == {"cut_short": ["0/000.npy"], "unreadable_file": ["1/objects.npy"]}


def test_of_a_file_cut_short_the_rows_that_are_there(tmp_path: Path) -> None:
    images, _ = digits()
    path = tmp_path / "images.npy"
    np.save(path, images)
    path.write_bytes(path.read_bytes()[: 128 + 64 * 100 + 7])
    source = open_source(str(path))
    assert np.array_equal(joined(source, "images"), images[:100])
    assert source.skipped.places == {"cut_short": ["images.npy"]}


def test_labels_that_are_fewer_than_the_images_are_missing_ones(tmp_path: Path) -> None:
    images, labels = digits()
    np.savez(tmp_path / "d.npz", images=images, labels=labels[:-2])
    source = open_source(str(tmp_path / "d.npz"))
    assert source.length == 1797
    assert joined(source, "labels")[-3:] == [labels[-3], None, None]
    assert source.skipped.counts == {"unequal_length": 1}


def test_a_damaged_archive_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    many = np.random.default_rng(0).integers(0, 256, (4000, 6000), np.uint8)
    path = tmp_path / "d.npz"
    np.savez_compressed(path, x=many, y=np.arange(4000))
    data = bytearray(path.read_bytes())
    data[len(data) * 3 // 4] ^= 0xFF
    path.write_bytes(data)
    source = open_source(str(path))
    found = joined(source, "x")
    assert 0 < len(found) < 4000
    assert np.array_equal(found, many[: len(found)])
    assert source.skipped.counts == {"damaged_part": 1}
    assert source.take([3999])[0] == {"x": None, "y": None}


@pytest.mark.parametrize("array", [np.float32(3), np.array([{}], dtype=object)])
def test_what_has_no_rows_is_said_in_one_line(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "one.npy", array, allow_pickle=True)
    with pytest.raises(BadFile):
        open_source(str(tmp_path / "one.npy"))


def test_an_empty_array_has_no_samples(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "none.npz", x=np.zeros((0, 3)), y=np.zeros(0, int))
    source = open_source(str(tmp_path / "none.npz"))
    assert source.length == 0
    assert list(source.chunks()) == []


def test_memory_is_bounded_by_a_chunk(tmp_path: Path) -> None:
    path = tmp_path / "zeros.npy"
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": (1 << 20, 128)})
        file.truncate(file.tell() + (512 << 20))
    code = (
        "import resource, sys; from trueline.data.sources.opening import open_source\n"
        "source = open_source(sys.argv[1])\n"
        "first = next(iter(source.chunks()))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print(sum(chunk.size for chunk in source.chunks()))\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    samples, more = map(int, ran.stdout.split())
    assert samples == 1 << 20
    assert more * 1024 < 64 << 20
