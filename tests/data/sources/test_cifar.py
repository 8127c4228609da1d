"""CIFAR as it is handed out, and pickles that are read without being run."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from data.sources.digits import digits, joined

from trueline.data.sources.opening import open_source
from trueline.formats.pickled_arrays import read_pickle
from trueline.model.trouble import BadFile

NAMES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]


def pictures() -> npt.NDArray[np.uint8]:
    """Digits as CIFAR's images are: 32x32 in three colours, the last of them inverted."""
    large = digits()[0][:40].repeat(4, 1).repeat(4, 2)
    return np.stack([large, large // 2, 255 - large], -1)


def flat(rows: slice) -> npt.NDArray[np.uint8]:
    return np.ascontiguousarray(pictures()[rows].transpose(0, 3, 1, 2)).reshape(-1, 3072)


def records(rows: slice, *labels: npt.NDArray[Any]) -> bytes:
    columns = [one[rows].astype(np.uint8)[:, None] for one in labels]
    return np.concatenate([*columns, flat(rows)], 1).tobytes()


def test_the_binary_version_of_cifar_10(tmp_path: Path) -> None:
    labels = digits()[1]
    folder = tmp_path / "cifar-10-batches-bin"
    folder.mkdir()
    (folder / "data_batch_1.bin").write_bytes(records(slice(0, 20), labels))
    (folder / "data_batch_2.bin").write_bytes(records(slice(20, 30), labels))
    (folder / "test_batch.bin").write_bytes(records(slice(30, 40), labels))
    (folder / "batches.meta.txt").write_text("\n".join(NAMES) + "\n\n")
    source = open_source(str(tmp_path))
    assert (source.kind, source.fields, source.label) == ("cifar", ["image", "label", "split"], "label")
    assert np.array_equal(joined(source, "image"), pictures())
    assert joined(source, "label") == [NAMES[one] for one in labels[:40]]
    assert joined(source, "split") == ["train"] * 30 + ["test"] * 10
    assert np.array_equal(source.take([35])[0]["image"], pictures()[35])
    (folder / "data_batch_2.bin").write_bytes(records(slice(20, 30), labels)[:-9])
    again = open_source(str(folder / "data_batch_2.bin"))
    assert again.length == 9
    assert again.skipped.counts == {"cut_short": 1}


def test_the_binary_version_of_cifar_100(tmp_path: Path) -> None:
    fine = digits()[1]
    (tmp_path / "train.bin").write_bytes(records(slice(0, 30), fine // 2, fine))
    (tmp_path / "test.bin").write_bytes(records(slice(30, 40), fine // 2, fine))
    (tmp_path / "fine_label_names.txt").write_text("\n".join(NAMES))
    source = open_source(str(tmp_path))
    assert source.fields == ["image", "coarse_label", "label", "split"]
    assert joined(source, "label") == [NAMES[one] for one in fine[:40]]
    assert np.array_equal(joined(source, "coarse_label"), fine[:40] // 2)


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_the_python_version_is_read_without_running_it(tmp_path: Path, protocol: int) -> None:
    labels = digits()[1]
    for name, rows in (("data_batch_1", slice(0, 25)), ("test_batch", slice(25, 40))):
        page = {b"data": flat(rows), b"labels": labels[rows].tolist(), b"filenames": [b"a.png"] * 3}
        (tmp_path / name).write_bytes(pickle.dumps(page, protocol))
    (tmp_path / "batches.meta").write_bytes(pickle.dumps({"label_names": NAMES}, protocol))
    source = open_source(str(tmp_path))
    assert np.array_equal(joined(source, "image"), pictures())
    assert joined(source, "label") == [NAMES[one] for one in labels[:40]]
    assert source.take([39])[0]["split"] == "test"


def test_a_pickle_of_python_2_is_read(tmp_path: Path) -> None:
    images = flat(slice(0, 2))
    data = images.tobytes()
    # As Python 2 wrote it: strings that do not say what they are, and NumPy's old names.
    code = b"\x80\x02}(U\x04datacnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01"
    code += b"K\x02M\x00\x0c\x86cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xff"
    code += b"K\x00tb\x89T" + len(data).to_bytes(4, "little") + data + b"tbU\x06labels](K\x03K\x04eu."
    (tmp_path / "data_batch_1").write_bytes(code)
    source = open_source(str(tmp_path / "data_batch_1"))
    assert np.array_equal(joined(source, "image"), pictures()[:2])
    assert joined(source, "label").tolist() == [3, 4]
    assert pickle.loads(code, encoding="latin1")["labels"] == [3, 4]


class Evil:
    def __reduce__(self) -> Any:
        return os.mkdir, ("was_run",)


def test_a_pickle_that_would_run_something_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data_batch_1").write_bytes(pickle.dumps({"data": Evil(), "labels": [1]}))
    with pytest.raises(BadFile, match=r"refused, because it would run posix\.mkdir"):
        open_source(str(tmp_path / "data_batch_1"))
    assert not (tmp_path / "was_run").exists()
    for code in (b"", b"\x80\x02", b"\x80\x04]" + b"2" * 50, pickle.dumps(3), pickle.dumps({"data": np.zeros(3)})):
        (tmp_path / "data_batch_1").write_bytes(code)
        with pytest.raises(BadFile):
            open_source(str(tmp_path / "data_batch_1"))


def test_arrays_of_a_pickle_are_as_they_were(tmp_path: Path) -> None:
    wanted = {"c": np.arange(6.0).reshape(2, 3), "f": np.asfortranarray(np.arange(6).reshape(2, 3)), "n": [1, None]}
    for protocol in range(2, 6):
        (tmp_path / "one").write_bytes(pickle.dumps(wanted, protocol))
        found = read_pickle(tmp_path / "one")
        assert np.array_equal(found["c"], wanted["c"])
        assert np.array_equal(found["f"], wanted["f"])
        assert found["n"] == [1, None]
