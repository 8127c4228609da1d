"""What a user may name as a dataset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from data.sources.digits import digits
from PIL import Image

from trueline.data.sources.opening import open_source
from trueline.model.trouble import BadFile, BadUsage, Trouble


def test_tables_are_opened_by_their_ending(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,label\nAda,1\nAlan,0\n")
    (tmp_path / "more").mkdir()
    (tmp_path / "more/a.jsonl").write_text('{"x": 1}\n{"x": 2}\n')
    assert open_source(str(tmp_path / "people.csv"), label="name").label == "name"
    assert open_source(str(tmp_path / "more")).kind == "jsonl"


def test_a_folder_is_what_most_of_its_files_are(tmp_path: Path) -> None:
    for number in range(3):
        Image.fromarray(digits()[0][number]).save(tmp_path / f"{number}.png")
    (tmp_path / "labels.csv").write_text("file,label\n0.png,0\n")
    np.save(tmp_path / "mean.npy", np.zeros(3))
    source = open_source(str(tmp_path))
    assert source.kind == "images"
    assert source.skipped.places == {"not_an_image": ["labels.csv", "mean.npy"]}


@pytest.mark.parametrize("text", ["", "nowhere", "nowhere/data.npy", "a:b:c", "no file:here", "\0", "x" * 5000])
def test_what_is_not_there_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Trouble) as raised:
        open_source(text)
    assert isinstance(raised.value, BadUsage | BadFile)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("content", [b"", b"hello", b"\x80\x04.", b"PK\3\4", b"\0\0\x08\1"])
def test_a_file_of_another_kind_is_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "thing.xyz").write_bytes(content)
    with pytest.raises(BadFile, match="not a dataset"):
        open_source(str(tmp_path / "thing.xyz"))
