"""Files and notebooks: many beside each other give what one after another gives; what is no Python is told."""

from __future__ import annotations

import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from trueline.script.uses.found import FileUses
from trueline.script.uses.many import list_files, read_many


def notebook(path: Path, *cells: str, kind: str = "code") -> None:
    """A notebook of these cells."""
    path.write_text(json.dumps({"cells": [{"cell_type": kind, "source": cell} for cell in cells], "nbformat": 4}))


def read(*paths: Path) -> list[FileUses]:
    """What is in files and folders."""
    return list(read_many(list_files(paths), list(paths)))


def test_a_notebook_is_its_cells_without_magics(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    notebook(
        path,
        "%matplotlib inline\n!pip install torch\nimport torch",
        "x = torch.ones(2)\nfiles = !ls\nif True:\n    %time x.mean()",
        "%%bash\necho not Python",
        "this is no Python",
        "x.view(1)",
    )
    (found,) = read(path)
    assert [(use.name, found.place(use.line)) for use in found.uses] == [
        ("torch.ones", "[2]:1"),
        ("torch.Tensor.view", "[5]:1"),
    ]
    assert found.cells is not None and found.cells.left_out == (4,)


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text("def f(:")
    (tmp_path / "good.py").write_text("import torch\ntorch.cat([])")
    (tmp_path / "no.ipynb").write_text("[]")
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    found = {Path(file.file).name: file for file in read(tmp_path)}
    assert {name for name, file in found.items() if file.trouble} == {"bad.py", "no.ipynb", "binary.py"}
    assert [use.name for use in found["good.py"].uses] == ["torch.cat"]


def test_processes_give_what_one_process_gives(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"m{number}.py").write_text(f"import torch\nfrom m{number // 2} import *\ntorch.ones({number})\n")
    files = list_files([tmp_path])
    with ProcessPoolExecutor(2) as pool:
        assert list(read_many(files, [tmp_path], pool)) == list(read_many(files, [tmp_path]))


def test_expressions_without_end_are_told(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text("import torch\nx = " + "+".join(["torch.ones(1)"] * 3000))
    (found,) = read(tmp_path / "deep.py")
    assert found.trouble or len(found.uses) == 3000
