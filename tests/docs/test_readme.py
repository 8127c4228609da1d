"""The hand-written pages show commands that exist, links that lead somewhere, and the same things in both languages."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from docs.pages import ROOT, blocks, links, named, prose

import trueline as package
from trueline.cli.verbs import VERBS, every_verb, trueline

READMES = {"en": ROOT / "README.md", "zh": ROOT / "README.zh.md"}
GENERATED = ROOT / "docs" / "cli"
PAGES = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "decisions/*.md", "examples/**/*.md")
    for path in ROOT.glob(pattern)
    if GENERATED not in path.parents
)
INLINE = re.compile(r"(?<!`)`(trueline [^`\n]+)`(?!`)")


def commands(path: Path) -> Iterator[list[str]]:
    """What follows ``trueline`` in every command of a page."""
    shown = [line for kind, text in blocks(path) if kind in ("bash", "") for line in text.splitlines()]
    for line in [*shown, *INLINE.findall(prose(path))]:
        words = shlex.split(line, comments=True)
        if words[:1] == ["trueline"]:
            yield words[1:]
        elif "trueline" in words and words[words.index("trueline") - 1] == "-m":
            yield words[words.index("trueline") + 1 :]


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_command_parses(path: Path) -> None:
    for words in commands(path):
        verb, *arguments = words
        assert verb in VERBS, words
        command = trueline.get_command(click.Context(trueline), verb)
        assert command is not None
        if arguments:
            command.make_context(verb, arguments)


@pytest.mark.parametrize("path", PAGES, ids=named)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    for _, target in links(path):
        if not target.startswith("#"):
            assert (path.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("lang", READMES)
def test_every_verb_is_in_the_table(lang: str) -> None:
    rows = re.findall(r"^\| `trueline (\w+)` \|", READMES[lang].read_text("utf-8"), re.MULTILINE)
    assert rows == list(VERBS)


def test_python_that_is_shown_compiles_and_uses_public_names() -> None:
    for kind, text in blocks(READMES["en"]):
        if kind == "python":
            compile(text, "README.md", "exec")
            for name in re.findall(r"trueline\.(\w+)", text):
                assert name in package.__all__, name
                assert callable(getattr(package, name))


def test_options_named_in_prose_exist() -> None:
    known = {option for command in every_verb().values() for param in command.params for option in param.opts}
    for path in READMES.values():
        for option in re.findall(r"`(--[a-z0-9-]+)", prose(path)):
            assert option in known, option


def test_make_targets_that_are_named_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for path in PAGES:
        shown = "\n".join(text for kind, text in blocks(path) if kind == "bash")
        targets = re.findall(r"`(?:JOBS=\d )?make ([a-z0-9-]+)", prose(path))
        for target in [*targets, *re.findall(r"^make ([a-z0-9-]+)", shown, re.MULTILINE)]:
            assert re.search(rf"^{target}:", makefile, re.MULTILINE), f"{path.name}: make {target}"


@pytest.mark.parametrize("extra", ["torch", "mindspore", "data", "all", "dev"])
def test_every_extra_is_explained(extra: str) -> None:
    for path in READMES.values():
        assert f"`{extra}`" in path.read_text("utf-8")


def test_pages_have_no_machine_of_their_own() -> None:
    for path in PAGES:
        found = re.findall(r"(?<![\w.])/(?:home|root|tmp|work|usr|opt)/\w+", path.read_text("utf-8"))
        assert not found, (path.name, found)
