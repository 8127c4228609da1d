"""Every code that any verb prints has a page in both languages, and there is no page for a code that nothing prints."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from parsed_sources import nodes, place

from trueline.checks.engine.listing import SECTIONS
from trueline.checks.engine.listing import codes as item_codes
from trueline.locale import LANGUAGES
from trueline.locale.of_codes import code_files, pages_of_codes
from trueline.report.codes import FAMILIES, every_code, family, limits_of, nearest, page
from trueline.watch.points import IDS

ROOT = Path(__file__).resolve().parent.parent.parent
CODE = re.compile(r"[a-z]{2,3}\.\d\d")
NAMED = re.compile(rf"\b(?:(?:{'|'.join(FAMILIES)})\.\d\d|wp\.[a-z]{{2,3}})\b")
# What a code that is put together in an f-string can become, by how it begins.
PUT_TOGETHER = {"wp.": [f"wp.{one.lower()}" for one in IDS]}
CHINESE = re.compile(r"[\u4e00-\u9fff]")


def beginning(node: ast.JoinedStr) -> str:
    first = node.values[0]
    return str(first.value) if isinstance(first, ast.Constant) else ""


def printed() -> Iterator[tuple[str, str]]:
    """Every code in the sources, with its place; one that is put together as all that it can become."""
    inside = {id(part) for _, text in nodes(ast.JoinedStr) for part in text.values}
    for path, constant in nodes(ast.Constant):
        if id(constant) not in inside and isinstance(constant.value, str) and CODE.fullmatch(constant.value):
            yield place(path, constant), constant.value
    for path, text in nodes(ast.JoinedStr):
        if beginning(text) in {f"{one}." for one in FAMILIES}:
            # A new way to put one together is to be told here.
            yield from ((place(path, text), code) for code in PUT_TOGETHER[beginning(text)])


def test_every_code_that_is_printed_has_a_page_and_every_page_a_code() -> None:
    places = {code: place for place, code in printed()}
    assert {code: place for code, place in places.items() if code not in every_code()} == {}
    assert set(pages_of_codes()) - set(places) == set()


def test_a_finding_s_code_is_no_text_that_this_test_cannot_read() -> None:
    for path, call in nodes(ast.Call):
        if getattr(call.func, "id", "") == "Finding" and call.args:
            code = call.args[0]
            assert not isinstance(code, ast.Constant) or CODE.fullmatch(str(code.value)), place(path, call)
            assert not isinstance(code, ast.JoinedStr) or beginning(code) in PUT_TOGETHER, place(path, call)


def test_a_code_has_one_page() -> None:
    told = [code for file in code_files() for code in tomllib.loads(file.read_text("utf-8"))]
    assert sorted({code for code in told if told.count(code) > 1}) == []
    assert set(told) & set(item_codes()) == set()
    assert {family(code) for code in every_code()} == set(FAMILIES)


@pytest.mark.parametrize("code", every_code())
def test_a_page_is_complete_in_both_languages(code: str) -> None:
    for lang in LANGUAGES:
        told = page(code, lang)
        assert all(part.strip() for part in (told.title, *told.sections)), lang
        assert [bool(CHINESE.search(part)) for part in (told.title, *told.sections)] == [lang == "zh"] * 5
        assert "\n" not in told.title
        assert told.title.endswith("。" if lang == "zh" else ".")


@pytest.mark.parametrize("code", pages_of_codes())
def test_a_page_in_a_room_has_five_parts_and_the_field_s_words(code: str) -> None:
    pages = pages_of_codes()[code]
    assert set(pages) == set(LANGUAGES)
    for texts in pages.values():
        assert list(texts) == ["title", *SECTIONS]
    said = "".join(pages["zh"].values())
    assert not re.search(r"基准|前向|打乱", said), "标杆, 正向, 混洗"
    assert not re.search(r"[\u4e00-\u9fff][A-Za-z]|[A-Za-z][\u4e00-\u9fff]", said), "a space beside Latin words"


def test_limits_are_those_that_can_be_set() -> None:
    assert limits_of("wp.wcl") == [("ratio", 0.1), ("settle", 10)]
    assert ("max_changed", 0.1) in limits_of("dp.02")
    assert limits_of("cmp.05") == []


@pytest.mark.parametrize(("name", "near"), [("WCL", "wp.wcl"), ("dp03", "dp.03"), ("cmp.13", "cmp.12")])
def test_the_nearest_codes_of_a_name_that_is_none(name: str, near: str) -> None:
    assert near in nearest(name)


@pytest.mark.parametrize("path", sorted({*(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md")}), ids=lambda one: one.name)
def test_codes_that_the_documentation_names_exist(path: Path) -> None:
    assert set(NAMED.findall(path.read_text("utf-8"))) - set(every_code()) == set()
