"""Datasets: opened, described field by field, and a sheet of samples drawn."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.case import Target
from fuzz.mutators.framed import ARROW, MINDRECORD, NPY, PARQUET, PNG
from fuzz.mutators.pickles import PICKLE
from fuzz.mutators.raw import RAW
from fuzz.mutators.text import JSON, JSON_LINES, TEXT, by_ending, gzipped, one_of
from fuzz.targets.verbs import each
from fuzz.targets.weights import NPZ

# Both reserve address space for threads that they hardly use.
_ROOMY = 6 << 30
# An engine has buffers of its own, whatever it reads.
_ENGINE = 320 << 20
_TEXT = one_of(TEXT)


def _named(folder: Path) -> Path:
    names = [one for one in sorted(folder.iterdir()) if one.suffix != ".db"]
    return names[0] if len(names) == 1 and names[0].is_file() else folder


def _read(folder: Path, whole: bool) -> None:
    """What data describe and data sheet do."""
    from trueline.data.describing import Wanted, describe
    from trueline.data.describing.report import result
    from trueline.data.sources.opening import open_source

    path = _named(folder)
    if whole:
        each(
            ("data describe", str(path)),
            ("data describe", str(path), "--json"),
            ("data sheet", str(path), "--count", "4", "--json"),
            ("data sheet", str(path), "--count", "4", "-o", str(folder / "sheet.png")),
        )
        return
    source: Any = open_source(str(path))
    try:
        result(describe(source, Wanted())).dump()
        if source.length:
            source.take([0, source.length - 1])
    finally:
        if hasattr(source, "close"):
            source.close()


def _tables(folder: Path, ending: str) -> None:
    from data.sources.table_writing import write_table

    columns = {
        "id": list(range(12)),
        "x": [0.5, None, 1e300, -1.0, 2.0, 3.0, float("nan"), 1.0, 2.0, 3.0, 4.0, 5.0],
        "text": ["a", "b,c", 'd"e', "", "图", "n/a", "x" * 50, "1", "2", "3", "\t", "z"],
        "label": [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 1],
    }
    (folder / "1").mkdir()
    write_table(folder / "1" / f"a.{ending}", columns)
    for part in ("a", "b"):
        (folder / "2" / part).mkdir(parents=True)
        write_table(
            folder / "2" / part / f"x.{ending}", {name: one[: 5 + (part == "a")] for name, one in columns.items()}
        )


def _csv(folder: Path) -> None:
    _tables(folder, "csv")


def _tsv(folder: Path) -> None:
    _tables(folder, "tsv")


def _json_lines(folder: Path) -> None:
    _tables(folder, "jsonl")
    rows = [{"a": {"b": [1, 2, None]}, "c": "x", "label": n % 3} for n in range(8)]
    (folder / "3").mkdir()
    (folder / "3" / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))


def _csv_gz(folder: Path) -> None:
    (folder / "1").mkdir()
    text = "a,b,label\n" + "".join(f"{n},{n / 3},{n % 3}\n" for n in range(20))
    (folder / "1" / "a.csv.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def _parquet(folder: Path) -> None:
    _tables(folder, "parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "3").mkdir()
    table = pa.table(
        {
            "l": pa.array([[1, 2], [], None]),
            "s": pa.array([{"a": 1}, None, {"a": 2}]),
            "t": pa.array(["a", None, "b"]).dictionary_encode(),
            "d": pa.array([1, 2, 3], pa.timestamp("us")),
            "b": pa.array([b"x", b"", None]),
        }
    )
    pq.write_table(table, folder / "3" / "a.parquet", compression="gzip")


def _huggingface(folder: Path) -> None:
    import pyarrow as pa

    table = pa.table(
        {
            "image": pa.array([{"bytes": _png(n), "path": None} for n in range(4)]),
            "label": pa.array([0, 1, 0, 1]),
            "text": ["a", None, "c", "d"],
            "tokens": pa.array([[1], [], [1, 2], [3]], pa.list_(pa.int64())),
        }
    )
    features = {
        "image": {"_type": "Image"},
        "label": {"names": ["a", "b"], "_type": "ClassLabel"},
        "text": {"dtype": "string", "_type": "Value"},
        "tokens": {"feature": {"dtype": "int64", "_type": "Value"}, "_type": "List"},
    }
    for place in (folder / "1", folder / "2" / "train", folder / "2" / "test"):
        place.mkdir(parents=True)
        with (
            pa.OSFile(str(place / "data-00000-of-00001.arrow"), "wb") as file,
            pa.ipc.new_stream(file, table.schema) as stream,
        ):
            stream.write_table(table, max_chunksize=3)
        state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_fingerprint": "x", "_split": None}
        (place / "state.json").write_text(json.dumps(state))
        (place / "dataset_info.json").write_text(json.dumps({"features": features, "citation": ""}))
    (folder / "2" / "dataset_dict.json").write_text(json.dumps({"splits": ["train", "test"]}))


def _picture(number: int, size: int = 8, bands: int = 3) -> np.ndarray:
    rng = np.random.default_rng(number)
    return rng.integers(0, 255, (size, size, bands), np.uint8)


def _png(number: int) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(_picture(number)).save(out, "png")
    return out.getvalue()


def _idx(folder: Path) -> None:
    def idx(array: np.ndarray, kind: int) -> bytes:
        return (
            bytes([0, 0, kind, array.ndim]) + b"".join(one.to_bytes(4, "big") for one in array.shape) + array.tobytes()
        )

    images, labels = _picture(0, 6, 6).astype(np.uint8), np.array([0, 1, 2, 1, 0, 9], np.uint8)
    for number, packed in enumerate((False, True)):
        place = folder / str(number)
        place.mkdir()
        for split in ("train", "t10k"):
            for name, data in (("images-idx3-ubyte", images), ("labels-idx1-ubyte", labels)):
                content = idx(data, 8)
                file = place / f"{split}-{name}{'.gz' if packed else ''}"
                file.write_bytes(gzip.compress(content, mtime=0) if packed else content)
    for number, (kind, dtype) in enumerate(((11, ">i2"), (12, ">i4"), (13, ">f4"), (14, ">f8"))):
        (folder / f"k{number}").mkdir()
        (folder / f"k{number}" / "a.idx").write_bytes(idx(np.arange(6).reshape(2, 3).astype(dtype), kind))


def _cifar(folder: Path) -> None:
    rows = np.random.default_rng(0).integers(0, 255, (3, 3072), np.uint8)
    labels = np.array([[1], [0], [9]], np.uint8)
    place = folder / "bin" / "cifar-10-batches-bin"
    place.mkdir(parents=True)
    (place / "data_batch_1.bin").write_bytes(np.concatenate([labels, rows], 1).tobytes())
    (place / "test_batch.bin").write_bytes(np.concatenate([labels, rows], 1)[:1].tobytes())
    (place / "batches.meta.txt").write_text("a\nb\nc\n")


def _cifar_pickle(folder: Path) -> None:
    rows = np.random.default_rng(0).integers(0, 255, (2, 3072), np.uint8)
    place = folder / "py" / "cifar-10-batches-py"
    place.mkdir(parents=True)
    for name in ("data_batch_1", "test_batch"):
        batch = {b"batch_label": b"x", b"labels": [1, 0], b"data": rows, b"filenames": [b"a.png", b"b.png"]}
        (place / name).write_bytes(pickle.dumps(batch, 2))
    meta = {b"label_names": [b"a", b"b"], b"num_cases_per_batch": 2, b"num_vis": 3072}
    (place / "batches.meta").write_bytes(pickle.dumps(meta, 2))


def _images(folder: Path) -> None:
    from PIL import Image

    for form, ending in (
        ("png", "png"),
        ("jpeg", "jpg"),
        ("bmp", "bmp"),
        ("gif", "gif"),
        ("webp", "webp"),
        ("tiff", "tif"),
    ):
        for label in ("cat", "dog"):
            place = folder / form / label
            place.mkdir(parents=True)
            for number in range(2):
                Image.fromarray(_picture(number)).save(place / f"{number}.{ending}", form)
    place = folder / "modes" / "x"
    place.mkdir(parents=True)
    for mode in ("1", "L", "P", "LA", "RGBA", "I;16", "CMYK"):
        form = "tiff" if mode in ("CMYK", "I;16") else "png"
        image = Image.new(mode, (5, 4))
        image.save(place / f"{mode.replace(';', '')}.{form}")


def _arrays(folder: Path) -> None:
    rng = np.random.default_rng(0)
    (folder / "1").mkdir()
    np.savez(folder / "1" / "a.npz", images=rng.integers(0, 255, (6, 4, 4), np.uint8), labels=np.arange(6) % 2)
    (folder / "2").mkdir()
    np.save(folder / "2" / "x.npy", rng.normal(size=(6, 3)))
    (folder / "3").mkdir()
    for name in ("x_train", "y_train"):
        np.save(folder / "3" / f"{name}.npy", rng.normal(size=(5,)))
    rows = np.zeros(4, [("image", "<f4", (2, 3)), ("name", "<U5"), ("day", "<M8[D]"), ("label", "<i4")])
    for number, array in enumerate((rows, rows["name"], rows["day"], np.array([b"a", b"bc"])), 4):
        (folder / str(number)).mkdir()
        np.save(folder / str(number) / "x.npy", array)
    (folder / "records").mkdir()
    np.savez(folder / "records" / "a.npz", rows=rows, names=rows["name"])


def _mindrecord(folder: Path) -> None:
    """One page of rows and one of blobs, by hand; MindSpore's own are among the real ones."""
    import msgspec

    schema = {
        "label": {"type": "int32"},
        "name": {"type": "string"},
        "data": {"type": "bytes"},
        "x": {"type": "float32", "shape": [2]},
    }
    rows = [msgspec.msgpack.encode({"label": n % 3, "name": f"n{n}"}) for n in range(5)]
    blobs = []
    for n in range(5):
        parts = [bytes([n]) * 6, struct.pack("<2f", n, n / 2)]
        blobs.append(b"".join(struct.pack(">Q", len(one)) + one for one in parts))
    page_size, header_size = 512, 2048
    pages = [b"".join(struct.pack("<Q", len(one)) + one for one in group) for group in (rows, blobs)]
    header = {
        "header_size": header_size,
        "page_size": page_size,
        "page": [
            {
                "page_id": number, "page_type": kind, "page_type_id": 0, "page_size": len(pages[number]), "start_row_id": 0,
                "end_row_id": 5, "row_group_ids": [{"id": 0, "offset": 0}], "shard_id": 0,
            }
            for number, kind in enumerate(("RAW_DATA", "BLOB_DATA"))
        ],
        "schema": [{"desc": "x", "schema": schema, "blob_fields": ["data", "x"], "schema_id": 0}],
        "shard_addresses": ["a.mindrecord"],
        "index_fields": [],
        "compression_size": 0,
        "shard_count": 1,
        "version": "3.0",
    }  # fmt: skip
    text = json.dumps(header).encode()
    content = struct.pack("<Q", len(text)) + text.ljust(header_size - 8, b"\0")
    (folder / "1").mkdir()
    (folder / "1" / "a.mindrecord").write_bytes(content + b"".join(one.ljust(page_size, b"\0") for one in pages))


_GZ = {gzipped(_TEXT): 4, gzipped(one_of(RAW)): 1, one_of(RAW): 2}
_IDX = by_ending({".gz": {gzipped(one_of(RAW)): 3, one_of(RAW): 1}})
TARGETS = (
    Target("csv", _csv, _read, lambda _: TEXT, memory=_ROOMY, held=_ENGINE, needs=("duckdb", "pyarrow")),
    Target("tsv", _tsv, _read, lambda _: TEXT, memory=_ROOMY, held=_ENGINE, needs=("duckdb", "pyarrow")),
    Target("csv_gz", _csv_gz, _read, lambda _: _GZ, memory=_ROOMY, held=_ENGINE, needs=("duckdb", "pyarrow")),
    Target("json_lines", _json_lines, _read, lambda _: JSON_LINES, memory=_ROOMY, held=_ENGINE, needs=("duckdb", "pyarrow")),
    Target("parquet", _parquet, _read, lambda _: PARQUET, memory=_ROOMY, held=_ENGINE, needs=("duckdb", "pyarrow")),
    Target("huggingface", _huggingface, _read, by_ending({".json": JSON, ".arrow": ARROW}), memory=_ROOMY, needs=("pyarrow", "PIL")),
    Target("idx", _idx, _read, _IDX),
    Target("cifar", _cifar, _read, by_ending({".txt": TEXT})),
    Target("cifar_pickle", _cifar_pickle, _read, lambda _: PICKLE),
    Target("images", _images, _read, by_ending({".png": PNG}), memory=_ROOMY, needs=("PIL",)),
    Target("arrays", _arrays, _read, by_ending({".npz": NPZ}, NPY)),
    Target("mindrecord", _mindrecord, _read, lambda _: MINDRECORD, real=("mindrecord",)),
)  # fmt: skip
