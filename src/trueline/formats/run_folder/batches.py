"""The batches of a step, whole: one safetensors file, each array under its batch's number in the step and its field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from trueline.formats.run_folder.guard import bad, decode_json
from trueline.formats.run_folder.json_text import json_bytes
from trueline.formats.run_folder.tensors import can_keep, read_with_texts, write_arrays
from trueline.kernel.array import Array

_TEXTS: Final = "trueline.texts"


@dataclass(frozen=True, slots=True)
class WholeBatch:
    """One batch: arrays and lists of texts by field, a row for each sample; empty where it was not kept."""

    arrays: dict[str, Array]
    texts: dict[str, Sequence[str]]


def write_batches(path: Path, batches: Sequence[WholeBatch]) -> None:
    """A step's batches in the order of its batch events; an array of a type that fits into no file is left out."""
    arrays: dict[str, Array] = {}
    texts: dict[str, Sequence[str]] = {}
    for number, batch in enumerate(batches):
        arrays |= {f"{number}/{field}": array for field, array in batch.arrays.items() if can_keep(array)}
        texts |= {f"{number}/{field}": list(words) for field, words in batch.texts.items()}
    write_arrays(path, arrays, {_TEXTS: json_bytes(texts).decode()} if texts else {})


def read_batches(root: Path, path: Path) -> list[WholeBatch]:
    """The batches again, arrays as read-only views of the mapped file."""
    arrays, about = read_with_texts(root, path)
    texts = _words(path, about.get(_TEXTS, "{}").encode())
    numbers = [_number(path, name) for name in (*arrays, *texts)]
    batches = [WholeBatch({}, {}) for _ in range(max(numbers, default=-1) + 1)]
    for name, array in arrays.items():
        batches[_number(path, name)].arrays[name.partition("/")[2]] = array
    for name, words in texts.items():
        batches[_number(path, name)].texts[name.partition("/")[2]] = words
    return batches


def _number(path: Path, name: str) -> int:
    number, _, field = name.partition("/")
    if not field or not (number.isascii() and number.isdigit()) or len(number) > 4:
        raise bad(path, "bad_key", key=repr(name[:200]))
    return int(number)


def _words(path: Path, text: bytes) -> dict[str, list[str]]:
    """Lists of texts by name."""
    found = decode_json(path, text)
    if not isinstance(found, dict):
        raise bad(path, "bad_content", reason=_TEXTS)
    words: dict[str, list[str]] = {}
    for name, texts in found.items():
        words[name] = [text for text in texts if isinstance(text, str)] if isinstance(texts, list) else []
        if words[name] != texts:
            raise bad(path, "bad_content", reason=_TEXTS)
    return words
