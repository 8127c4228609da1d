"""Hugging Face's datasets on disk, in the layout of save_to_disk of datasets 5.2, written here by pyarrow."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from data.sources.digits import digits, joined
from PIL import Image

from trueline.data.source import class_names
from trueline.data.sources.opening import open_source
from trueline.model.trouble import BadFile

FEATURES: dict[str, Any] = {
    "image": {"_type": "Image"},
    "label": {"names": [f"digit {one}" for one in range(10)], "_type": "ClassLabel"},
    "text": {"dtype": "string", "_type": "Value"},
    "tokens": {"feature": {"dtype": "int64", "_type": "Value"}, "_type": "List"},
    "matrix": {"shape": [2, 3], "dtype": "float32", "_type": "Array2D"},
    "share": {"dtype": "float64", "_type": "Value"},
}


def png(at: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(digits()[0][at]).save(file, "png")
    return file.getvalue()


def table(rows: range) -> pa.Table:
    labels = digits()[1]
    return pa.table(
        {
            "image": pa.array(
                [{"bytes": png(at), "path": None} for at in rows],
                pa.struct({"bytes": pa.binary(), "path": pa.string()}),
            ),
            "label": pa.array([int(labels[at]) for at in rows]),
            "text": [f"text {at}" if at % 4 else None for at in rows],
            "tokens": pa.array([list(range(at % 5)) for at in rows], pa.list_(pa.int64())),
            "matrix": pa.array([[[at] * 3, [1.0] * 3] for at in rows], pa.list_(pa.list_(pa.float32()))),
            "share": pa.array([at / 3 for at in rows]),
        }
    )


def save(folder: Path, tables: list[pa.Table], features: dict[str, Any] = FEATURES) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"data-{at:05d}-of-{len(tables):05d}.arrow" for at in range(len(tables))]
    for name, one in zip(names, tables, strict=True):
        with pa.OSFile(str(folder / name), "wb") as file, pa.ipc.new_stream(file, one.schema) as stream:
            stream.write_table(one, max_chunksize=16)
    state = {"_data_files": [{"filename": one} for one in names], "_fingerprint": "x", "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text(json.dumps({"features": features, "citation": ""}))
    return folder


def test_every_feature_is_read(tmp_path: Path) -> None:
    images, labels = digits()
    source = open_source(str(save(tmp_path / "saved", [table(range(40)), table(range(40, 50))])))
    assert (source.kind, source.length, source.label) == ("huggingface", 50, "label")
    assert source.fields == list(FEATURES)
    assert all(np.array_equal(one.pixels, image) for one, image in zip(joined(source, "image"), images, strict=False))
    assert joined(source, "label") == [f"digit {one}" for one in labels[:50]]
    assert joined(source, "text")[:3] == [None, "text 1", "text 2"]
    assert [one.tolist() for one in joined(source, "tokens")[:7]] == [list(range(at % 5)) for at in range(7)]
    assert joined(source, "matrix").shape == (50, 2, 3)
    assert joined(source, "matrix")[17].tolist() == [[17] * 3, [1] * 3]
    assert np.array_equal(joined(source, "share"), np.arange(50) / 3)
    taken = source.take([45, 3])
    assert np.array_equal(taken[0]["image"].pixels, images[45])
    assert (taken[1]["text"], taken[1]["label"]) == ("text 3", f"digit {labels[3]}")
    assert source.skipped.total == 0


def test_splits_are_read_together_or_alone(tmp_path: Path) -> None:
    save(tmp_path / "all/train", [table(range(8))])
    save(tmp_path / "all/test", [table(range(8, 10))])
    (tmp_path / "all/dataset_dict.json").write_text('{"splits": ["train", "test"]}')
    source = open_source(str(tmp_path / "all"))
    assert source.fields == [*FEATURES, "split"]
    assert joined(source, "split") == ["train"] * 8 + ["test"] * 2
    assert open_source(str(tmp_path / "all/test")).length == 2


def test_labels_that_no_class_has_stay_numbers_and_minus_one_is_none(tmp_path: Path) -> None:
    features = {"label": {"names": ["a", "b"], "_type": "ClassLabel"}}
    source = open_source(str(save(tmp_path / "saved", [pa.table({"label": [0, 1, -1, 7, None]})], features)))
    assert joined(source, "label") == ["a", "b", None, 7, None]
    assert class_names(source) == ["a", "b"]


def test_a_page_that_speaks_of_another_number_of_rows_is_told(tmp_path: Path) -> None:
    folder = save(tmp_path / "saved", [table(range(5))])
    page = {"features": FEATURES, "splits": {"train": {"name": "train", "num_examples": 9}}}
    (folder / "dataset_info.json").write_text(json.dumps(page))
    assert open_source(str(folder)).skipped.places == {"count_differs": ["dataset_info.json: 9 / 5"]}


def test_a_broken_image_keeps_its_place(tmp_path: Path) -> None:
    kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    Image.fromarray(digits()[0][2]).save(tmp_path / "lying.png")
    rows = [{"bytes": png(0), "path": "a.png"}, {"bytes": png(1)[:60], "path": None}, None]
    rows += [{"bytes": None, "path": str(tmp_path / "lying.png")}, {"bytes": None, "path": "nowhere.png"}]
    source = open_source(str(save(tmp_path / "saved", [pa.table({"image": pa.array(rows, kind)})], FEATURES)))
    found = joined(source, "image")
    assert found[0].place == "a.png"
    assert found[1].broken is not None
    assert found[2] is None
    assert np.array_equal(found[3].pixels, digits()[0][2])
    assert found[4].broken == "unreadable_file"
    assert source.skipped.total == 2
    joined(source, "image")
    assert source.skipped.total == 2


def test_missing_and_damaged_files_are_stepped_over(tmp_path: Path) -> None:
    folder = save(tmp_path / "saved", [table(range(40)), table(range(40, 50)), table(range(50, 60)), table(range(5))])
    first, second, third, last = sorted(folder.glob("*.arrow"))
    first.write_bytes(first.read_bytes()[: first.stat().st_size // 2])
    second.unlink()
    third.write_bytes(b"nothing of the kind")
    (folder / "dataset_info.json").write_text("{")
    source = open_source(str(folder))
    shares = joined(source, "share")
    assert 0 < len(shares) - 5 < 40
    assert np.array_equal(shares[-5:], np.arange(5) / 3)
    assert {"missing_shard", "unreadable_file", "damaged_part"} == set(source.skipped.counts)
    assert source.skipped.counts["damaged_part"] == 1
    assert last.is_file()


def test_damage_at_any_place_ends_no_scan(tmp_path: Path) -> None:
    folder = save(tmp_path / "saved", [table(range(20))])
    (path,) = folder.glob("*.arrow")
    data = path.read_bytes()
    for at in range(0, len(data), 41):
        hurt = bytearray(data)
        hurt[at] ^= 0xFF
        path.write_bytes(hurt)
        try:
            source = open_source(str(folder))
            assert sum(chunk.size for chunk in source.chunks()) <= 20
        except BadFile:
            continue


def test_a_folder_of_the_cache_has_no_state(tmp_path: Path) -> None:
    folder = save(tmp_path / "saved", [table(range(6))])
    (folder / "state.json").unlink()
    (folder / "data-00000-of-00001.arrow").rename(folder / "digits-train.arrow")
    assert open_source(str(folder)).length == 6
    assert open_source(str(folder / "digits-train.arrow")).label == "label"


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "/tmp", "a\0b", "x" * 300])
def test_a_split_lies_in_the_dataset_s_own_folder(tmp_path: Path, name: str) -> None:
    save(tmp_path, [pa.table({"a": [1, 2]})], {})
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "dataset_dict.json").write_text(json.dumps({"splits": [name]}))
    with pytest.raises(BadFile, match="parts lie in folders"):
        open_source(str(inside))


def test_relative_paths_of_images_stay_inside(tmp_path: Path) -> None:
    kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    Image.fromarray(digits()[0][2]).save(tmp_path / "beside.png")
    rows = [{"bytes": None, "path": "../beside.png"}, {"bytes": None, "path": "/a\0b.png"}]
    source = open_source(str(save(tmp_path / "saved", [pa.table({"image": pa.array(rows, kind)})], FEATURES)))
    assert [one.broken for one in joined(source, "image")] == ["picture_outside", "unreadable_file"]


def test_large_images_of_few_bytes_come_a_few_at_a_time(tmp_path: Path) -> None:
    kind = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    file = io.BytesIO()
    Image.new("RGB", (2500, 2500)).save(file, "png")
    rows = [{"bytes": file.getvalue(), "path": None}] * 5
    source = open_source(str(save(tmp_path / "saved", [pa.table({"image": pa.array(rows, kind)})], FEATURES)))
    chunks = list(source.chunks())
    assert [(one.start, one.size) for one in chunks] == [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]
