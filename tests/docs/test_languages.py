"""Every page that a user reads exists in both languages, which say the same and keep their reader."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from docs.pages import anchors, blocks, chinese_of, links, named, prose, user_pages

ENGLISH = user_pages()
CHINESE = [chinese_of(path) for path in ENGLISH]
PAIRS = list(zip(ENGLISH, CHINESE, strict=True))
# Of what was measured there is one page.
MEASURED = "benchmarks.md"
# The switch at the top, and what was measured.
TO_ENGLISH = {"English", "英文页"}
NOT_THE_FIELD_S_WORDS = re.compile(
    r"parts? from|number that is not one|\b(?:is|are|be|was|were) told\b|held against|does the like|begins? otherwise"
)


def target_of(path: Path, link: str) -> Path:
    return (path.parent / link.partition("#")[0]).resolve()


@pytest.mark.parametrize("path", ENGLISH, ids=named)
def test_every_page_that_users_read_exists_in_chinese(path: Path) -> None:
    assert chinese_of(path).exists()


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=[named(path) for path in ENGLISH])
def test_each_page_leads_to_the_other_language_first(english: Path, chinese: Path) -> None:
    assert links(english)[0] == ("中文", chinese.name)
    assert links(chinese)[0] == ("English", english.name)


@pytest.mark.parametrize("path", CHINESE, ids=named)
def test_a_chinese_page_leads_to_chinese_pages(path: Path) -> None:
    for text, link in links(path):
        target = target_of(path, link)
        if text not in TO_ENGLISH and target.suffix == ".md" and not target.name.endswith(".zh.md"):
            assert not chinese_of(target).exists(), link


@pytest.mark.parametrize("path", ENGLISH, ids=named)
def test_an_english_page_leads_to_english_pages(path: Path) -> None:
    for text, link in links(path):
        assert text == "中文" or not target_of(path, link).name.endswith(".zh.md"), link


@pytest.mark.parametrize("path", [*ENGLISH, *CHINESE], ids=named)
def test_every_link_leads_to_a_heading_that_is_there(path: Path) -> None:
    for _, link in links(path):
        target = target_of(path, link) if not link.startswith("#") else path
        assert target.exists(), link
        anchor = link.partition("#")[2]
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=[named(path) for path in ENGLISH])
def test_both_languages_have_the_same_sections_and_tables(english: Path, chinese: Path) -> None:
    def shape(path: Path) -> list[str]:
        lines = prose(path).splitlines()
        return [found[0] for line in lines if (found := re.match(r"#+|\||- |\d\. ", line))]

    if english.name != MEASURED:
        assert shape(english) == shape(chinese)


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=[named(path) for path in ENGLISH])
def test_both_languages_show_the_same_commands_and_code(english: Path, chinese: Path) -> None:
    def code(path: Path) -> list[tuple[str, list[list[str]]]]:
        shown = [(kind, text) for kind, text in blocks(path) if kind in ("bash", "python", "toml", "yaml")]
        return [(kind, [words for line in text.splitlines() if (words := _words(line))]) for kind, text in shown]

    if english.name != MEASURED:
        assert code(english) == code(chinese)


@pytest.mark.parametrize(("english", "chinese"), PAIRS, ids=[named(path) for path in ENGLISH])
def test_both_languages_name_the_same_options_and_fields(english: Path, chinese: Path) -> None:
    def code(path: Path) -> set[str]:
        return set(re.findall(r"`([^`\n]+)`", prose(path)))

    if english.name != MEASURED:
        assert code(english) == code(chinese)


def _words(line: str) -> list[str]:
    """A line without its comment; what is in it in words may be in either language."""
    return shlex.split(line.partition('"""')[0].partition("  #")[0], comments=True) if "'''" not in line else []


@pytest.mark.parametrize("path", CHINESE, ids=named)
def test_chinese_pages_use_the_field_s_terms(path: Path) -> None:
    text = prose(path)
    assert not re.findall(r"基准|前向|打乱|移植端|转储", text), "标杆, 正向, 混洗, 移植侧, dump"
    plain = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`\n]*`", "x", text))
    crowded = re.findall(r".{6}[\u4e00-\u9fff][A-Za-z0-9].{4}|.{4}[A-Za-z0-9][\u4e00-\u9fff].{6}", plain)
    assert crowded == [], "a space beside Latin words"


@pytest.mark.parametrize("path", ENGLISH, ids=named)
def test_english_pages_use_the_field_s_terms(path: Path) -> None:
    assert NOT_THE_FIELD_S_WORDS.findall(prose(path)) == []
