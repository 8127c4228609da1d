"""Run by MindSpore's Python: writes MindRecord files with its own writer, and what its own reader makes of them."""

from __future__ import annotations

import io
import pickle
import sys
from pathlib import Path

import numpy as np
from mindspore.dataset import MindDataset
from mindspore.mindrecord import FileWriter
from PIL import Image


def write(name: str, schema: dict, rows: list, shards: int = 1, index: list | None = None) -> None:
    writer = FileWriter(name, shard_num=shards, overwrite=True)
    # The smallest there are, so that a small dataset has many pages.
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    writer.add_schema(schema, "made for a test")
    if index:
        writer.add_index(index)
    for start in range(0, len(rows), 100):
        writer.write_raw_data(rows[start : start + 100])
    writer.commit()


def png(image: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(image).save(file, "png")
    return file.getvalue()


def main(folder: Path) -> None:
    images, labels = np.load(folder / "images.npy"), np.load(folder / "labels.npy")
    rng = np.random.default_rng(0)
    one = {"type": "int32"}
    write(
        str(folder / "pictures.mindrecord"),
        {"file_name": {"type": "string"}, "label": one, "data": {"type": "bytes"}},
        [{"file_name": f"{at}.png", "label": int(labels[at]), "data": png(images[at])} for at in range(300)],
        index=["file_name", "label"],
    )
    wide = [0, 1, -1, 127, -128, 128, -129, 32767, -32769, 2**31 - 1, -(2**31), 2**40, -(2**40), 2**63 - 1, -(2**63)]
    write(
        str(folder / "kinds.mindrecord"),
        {
            "ids": {"type": "int64", "shape": [-1]},
            "mask": {"type": "int32", "shape": [2, -1]},
            "weights": {"type": "float32", "shape": [2, 3]},
            "far": {"type": "float64", "shape": [-1]},
            "share": {"type": "float64"},
            "small": {"type": "float32"},
            "long": {"type": "int64"},
            "name": {"type": "string"},
            "raw": {"type": "bytes"},
        },
        [
            {
                "ids": np.array((wide * 3)[: 1 + at % 40], np.int64),
                "mask": rng.integers(-70000, 70000, 6).astype(np.int32),
                "weights": rng.normal(size=(2, 3)).astype(np.float32),
                "far": rng.normal(size=1 + at % 5),
                "share": at / 3,
                "small": float(np.float32(at) / 7),
                "long": 2**40 - at,
                "name": f"名字 {at}",
                "raw": bytes([at % 256]) * (1 + at % 90),
            }
            for at in range(700)
        ],
    )
    write(
        str(folder / "shards"),
        {"x": {"type": "int32", "shape": [-1]}, "y": one},
        [{"x": np.arange(at % 9 + 1, dtype=np.int32) * at, "y": at} for at in range(530)],
        shards=4,
    )
    write(
        str(folder / "numbers.mindrecord"),
        {"a": {"type": "float32"}, "label": one},
        [{"a": float(at), "label": at % 3} for at in range(4000)],
    )
    read = {}
    for name in ("pictures.mindrecord", "kinds.mindrecord", "numbers.mindrecord", "shards"):
        files = [str(folder / f"shards{at}") for at in range(4)] if name == "shards" else str(folder / name)
        dataset = MindDataset(files, shuffle=False, num_parallel_workers=1)
        read[name] = list(dataset.create_dict_iterator(num_epochs=1, output_numpy=True))
    (folder / "read.pickle").write_bytes(pickle.dumps(read))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
