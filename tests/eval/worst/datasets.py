"""Datasets that ask for more than they are worth: Arrow files, MindRecord, folders of pictures."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cli.worst_data import chunk, mindrecord, page, png

from .case import Case, Make


def arrow(values: Callable[[Any, int], Any], info: Any = None) -> Make:
    """A dataset of Hugging Face with one column; ``info`` is the type that its page gives it."""

    def make(folder: Path, size: int) -> list[str | Path]:
        import pyarrow as pa

        place = folder / "set"
        place.mkdir()
        table = pa.table({"a": values(pa, size)})
        options = pa.ipc.IpcWriteOptions(compression="zstd")
        with (
            pa.OSFile(str(place / "data.arrow"), "wb") as out,
            pa.ipc.new_stream(out, table.schema, options=options) as to,
        ):
            to.write_table(table)
        (place / "dataset_info.json").write_text(json.dumps({"features": {"a": info} if info is not None else {}}))
        (place / "state.json").write_text(json.dumps({"_data_files": [{"filename": "data.arrow"}]}))
        return ["data", "describe", place]

    return make


def _zeros(pa: Any, size: int) -> Any:
    return pa.array(np.zeros(20 * size, np.int8))


def _lists(pa: Any, size: int) -> Any:
    return pa.ListArray.from_arrays(pa.array(np.zeros(2 * size + 1, np.int32)), pa.array([], pa.int8()))


def _repeated_text(pa: Any, size: int) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(100_000, np.int32)), pa.array(["a" * (size // 2)]))


_ARROW = {
    "zeros": arrow(_zeros),
    "empty lists": arrow(_lists),
    "one long text many times": arrow(_repeated_text),
    "short texts": arrow(lambda pa, size: pa.array([""] * size)),
    "classes": arrow(
        lambda pa, size: pa.array(np.zeros(size, np.int64)), {"_type": "ClassLabel", "names": ["a"] * 1000}
    ),
    "arrays without end": arrow(
        lambda pa, size: pa.array([[[0]]] * 1000), {"_type": "Array2D", "shape": [1 << 30, 1 << 30], "dtype": "int64"}
    ),
    "pictures of one colour": arrow(
        lambda pa, size: pa.array([{"bytes": png(5000, 5000), "path": None}] * 10), {"_type": "Image"}
    ),
}


def _mindrecord(pages: Callable[[], list[dict[str, Any]]], page_size: int = 1 << 15) -> Make:
    def make(folder: Path, size: int) -> list[str | Path]:
        path = folder / "x.mindrecord"
        path.write_bytes(mindrecord(pages(), page_size))
        return ["data", "describe", path]

    return make


_MINDRECORD = {
    "many pages at one place": _mindrecord(lambda: [page(0, number) for number in range(6000)]),
    "many pages": _mindrecord(lambda: [page(number, number) for number in range(6000)]),
    "a page far away": _mindrecord(lambda: [page((1 << 48) - 1, 0)], (1 << 48) - 1),
    "rows without end": _mindrecord(lambda: [{**page(0, 0), "end_row_id": 1 << 60}]),
}


def pictures(content: Callable[[int], bytes], count: Callable[[int, int], int], name: str = "png") -> Make:
    """A folder of the same picture."""

    def make(folder: Path, size: int) -> list[str | Path]:
        place = folder / "set" / "a"
        place.mkdir(parents=True)
        data = content(size)
        for number in range(max(1, count(size, len(data)))):
            (place / f"{number}.{name}").write_bytes(data)
        return ["data", "describe", folder / "set"]

    return make


def _texts(size: int) -> bytes:
    return png(4, 4, chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(60_000_000), 9)) * 16)


_PICTURES = {
    "of more pixels than is safe": pictures(lambda _: png(12_000, 12_000), lambda size, each: size // each),
    "of as many pixels as is safe": pictures(lambda _: png(4000, 4000), lambda size, each: size // each),
    "packed texts beside the pixels": pictures(_texts, lambda size, each: size // each),
    "very small": pictures(lambda _: png(1, 1), lambda size, each: min(4000, size // each)),
    "cut short": pictures(lambda _: png(3000, 3000)[:20_000], lambda size, each: min(50, size // each)),
    "that are none": pictures(lambda _: bytes(200), lambda size, each: min(4000, size // each), "jpg"),
}

CASES = [
    *(Case("arrow", name, make) for name, make in _ARROW.items()),
    *(Case("mindrecord", name, make) for name, make in _MINDRECORD.items()),
    *(Case("pictures", name, make) for name, make in _PICTURES.items()),
]
