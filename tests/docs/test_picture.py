"""The pictures of the READMEs show what the command prints today."""

from __future__ import annotations

import contextlib
import importlib.util
import re
import shutil
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import pytest
import warm
from click.testing import CliRunner

from trueline.cli.verbs import trueline

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def drawing() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_picture", DOCS / "picture.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def words(svg: str) -> list[str]:
    """What a picture says, wherever its lines end; numbers differ from CPU to CPU."""
    said = " ".join(part.text or "" for part in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}tspan"))
    return re.sub(r"\d[\d.e+-]*", "#", said).split()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_picture_shows_what_the_command_prints(lang: str, tmp_path: Path) -> None:
    picture = drawing()
    folder = tmp_path / "digits"
    shutil.copytree(picture.EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    with warm.guests(), contextlib.chdir(folder):
        env = {"TRUELINE_LANG": lang, "COLUMNS": str(picture.COLUMNS)}
        called = CliRunner().invoke(trueline, list(picture.ARGUMENTS), env=env)
    assert called.exit_code == 1, called.stderr
    current = picture.drawn(picture.chosen(called.stdout.replace(f"{folder}/", "").splitlines()))
    shown = picture.PICTURES[lang].read_text("utf-8")
    assert "".join(words(shown)) == "".join(words(current)), "run: python docs/picture.py"


def test_a_picture_is_small_and_needs_no_network() -> None:
    for path in drawing().PICTURES.values():
        text = path.read_text("utf-8")
        assert len(text) < 20_000
        assert re.findall(r"https?://\S+?(?=\")", text) == ["http://www.w3.org/2000/svg"]
