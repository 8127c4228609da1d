"""The pages about the command line say what the command line says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import click
import pytest

from trueline.cli.verbs import every_verb

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_generated_pages_are_up_to_date() -> None:
    current = generator().pages()
    stale = [path.name for path, text in current.items() if not path.exists() or path.read_text("utf-8") != text]
    assert not stale, "run: python docs/generate.py"
    written = {path for folder in ("api", "cli", "checks", "codes") for path in (DOCS / folder).glob("*.md")}
    written.add(DOCS / "rooms.md")
    assert written == set(current)


@pytest.mark.parametrize("verb", every_verb())
@pytest.mark.parametrize("ending", ["md", "zh.md"])
def test_every_verb_and_option_is_documented(verb: str, ending: str) -> None:
    page = (DOCS / "cli" / f"{verb.replace(' ', '-')}.{ending}").read_text("utf-8")
    for param in every_verb()[verb].params:
        if isinstance(param, click.Option) and not param.hidden:
            entries = [
                line for line in page.splitlines() if line.startswith("- `") and max(param.opts, key=len) in line
            ]
            assert len(entries) >= 1, param.opts
            assert entries[0].split("`: ", 1)[1].strip(), param.opts
