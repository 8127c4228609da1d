"""What comes with a command: the user's own map of names, and what a guest process says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from fuzz.case import Target
from fuzz.judging import Refused
from fuzz.mutators.raw import RAW
from fuzz.mutators.text import JSON, TEXT, by_ending, json_line, token
from fuzz.targets.verbs import each
from fuzz.targets.weights import save

_NAMES = ("conv1.weight", "conv1.bias", "fc.weight")


def _map_files(folder: Path) -> None:
    forms = {
        "map.toml": '"conv1.weight" = "stem.weight"\nconv1.bias = "stem.bias"\n[fc]\n"*" = "head.*"\n',
        "map.json": '{"conv1.*": "stem.*", "fc": {"weight": "head.weight"}}',
        "map.txt": "# names\nconv1.* = stem.*\n'fc.weight' = head.weight\n",
    }
    for number, (name, text) in enumerate(forms.items()):
        place = folder / str(number)
        place.mkdir()
        (place / name).write_text(text)
        save(place / "a.safetensors", dict.fromkeys(_NAMES, np.ones(3, np.float32)))
        other = dict.fromkeys(("stem.weight", "stem.bias", "head.weight"), np.ones(3, np.float32))
        save(place / "b.safetensors", other)


def _read_map(folder: Path, whole: bool) -> None:
    """What compare --map does."""
    from trueline.compare.paths import compare

    given = next((one for one in sorted(folder.iterdir()) if one.name.startswith("map")), folder / "map.toml")
    a, b = folder / "a.safetensors", folder / "b.safetensors"
    if whole:
        each(
            ("compare", str(a), str(b), "--map", str(given), "--json"),
            ("params", str(a), str(b), "--map", str(given), "--json"),
            ("convert", str(a), str(folder / "out.npz"), "--map", str(given), "--dry-run"),
        )
        return
    compare(a, b, map=given).result.dump()


class _Stream:
    """What a guest's pipe gives."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._at = 0

    def line(self) -> bytes:
        end = self._content.find(b"\n", self._at)
        if end < 0:
            return b""
        found = self._content[self._at : end + 1]
        self._at = end + 1
        return found

    def fill(self, room: memoryview) -> None:
        from trueline.adapters.guest.process import Died

        found = self._content[self._at : self._at + len(room)]
        if len(found) < len(room):
            raise Died(1)
        room[:] = found
        self._at += len(found)


def _wire(folder: Path) -> None:
    from trueline.adapters.guest.wire import packed

    messages: list[tuple[dict[str, Any], list[np.ndarray]]] = [
        ({"ok": True, "value": {"a": [1, 2]}}, [np.arange(6, dtype=np.float32).reshape(2, 3), np.array(3)]),
        ({"error": {"kind": "ValueError", "text": "x", "file": "a.py", "line": 3}}, []),
        ({"ok": True}, [np.zeros((0, 4)), np.array([True, False])]),
    ]
    (folder / "1").mkdir()
    content = b"".join(bytes(one) for message in messages for one in packed(*message))
    (folder / "1" / "wire").write_bytes(content)


def _read_wire(folder: Path, whole: bool) -> None:
    """What the parent of a guest does with what it says."""
    from trueline.adapters.guest.process import Died
    from trueline.adapters.guest.wire import Garbled, packed, unpacked

    path = folder / "wire"
    stream = _Stream(path.read_bytes() if path.is_file() and not path.is_symlink() else b"")
    try:
        while (found := unpacked(stream)) is not None:
            for _ in packed(*found):
                pass
    except (Died, Garbled) as error:
        # Both are told as what they are by who asked.
        raise Refused from error


TARGETS = (
    Target(
        "map_file", _map_files, _read_map, by_ending({".json": JSON}, TEXT), fixed=("a.safetensors", "b.safetensors")
    ),
    Target("wire", _wire, _read_wire, lambda _: {**RAW, token: 3, json_line: 4}),
)
