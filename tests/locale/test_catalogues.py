"""Both languages say the same things, everything the code says can be said, and nothing is left over."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator

import pytest
from parsed_sources import SOURCE, nodes, place

from trueline.locale import LANGUAGES, ids, language, render, use_language
from trueline.locale.catalogue import every_message

ID = re.compile(r"[a-z][a-z0-9_]*\.[a-z0-9_]+")
SAYING = {"message", "Message", "notice", "render"}
# Parameters of a check's answer that are not its sentence's.
ANSWERS = {"found", "suspect", "none", "undecided", "na"}


def _parameters(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None}


def _troubles() -> set[str]:
    """The names of Trouble and all its subclasses, without importing them."""
    kinds = {"Trouble"}
    classes = [node for _, node in nodes(ast.ClassDef)]
    while True:
        more = {one.name for one in classes for base in one.bases if ast.unparse(base).split(".")[-1] in kinds}
        if more <= kinds:
            return kinds
        kinds |= more


def _strings(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from _strings(node.body)
        yield from _strings(node.orelse)


def _said() -> Iterator[tuple[str, str, set[str] | None]]:
    """(place, id, the parameters given by name or None where they cannot be seen) of every literal use."""
    speaking = SAYING | ANSWERS | (_troubles() - {"BadFile"})
    for path, node in nodes(ast.Call):
        if not node.args:
            continue
        # (na if seen else undecided)("…"): both say the same.
        func = node.func.body if isinstance(node.func, ast.IfExp) else node.func
        name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
        if name == "__init__" and isinstance(node.func, ast.Attribute):
            name = "Trouble" if ast.unparse(node.func.value) == "super()" else name
        if name not in speaking:
            continue
        given: set[str] | None = {one.arg for one in node.keywords if one.arg is not None}
        if name in ("Message", "render") or any(one.arg is None for one in node.keywords):
            given = None
        for id in _strings(node.args[0]):
            if ID.fullmatch(id):
                yield place(path, node), id, given


def test_both_languages_have_the_sameevery_message() -> None:
    assert ids("en") == ids("zh")
    assert ids("en")


def test_both_languages_take_the_same_parameters() -> None:
    different = [id for id in ids() if _parameters(every_message("en")[id]) != _parameters(every_message("zh")[id])]
    assert different == []


def test_parameters_are_names() -> None:
    odd = [id for id in ids() for name in _parameters(every_message("en")[id]) if not name.isidentifier()]
    assert odd == []


def test_every_sentence_says_something_and_does_not_end_in_an_empty_line() -> None:
    for lang in LANGUAGES:
        bad = [id for id, text in every_message(lang).items() if not text.strip() or text != text.strip("\r\n")]
        assert bad == []


def test_every_message_that_the_code_says_exists() -> None:
    unknown = sorted({f"{place} {id}" for place, id, _ in _said() if id not in ids()})
    assert unknown == []


def test_every_message_is_given_the_parameters_it_shows() -> None:
    short = [
        f"{place} {id} lacks {sorted(_parameters(every_message('en')[id]) - given)}"
        for place, id, given in _said()
        if given is not None and id in ids() and not _parameters(every_message("en")[id]) <= given
    ]
    assert short == []


def test_no_message_is_left_over() -> None:
    patterns: list[re.Pattern[str]] = []
    for _, text in nodes(ast.JoinedStr):
        parts = [
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else "[a-z0-9_.]+" for part in text.values
        ]
        # An item's sentence for all items alike begins with the item.
        if re.match(r"[a-z]+[a-z0-9_]*\\\.", parts[0]) or re.match(r"\\\.bench_script", parts[-1]):
            patterns.append(re.compile("".join(parts)))
    literals = {node.value for _, node in nodes(ast.Constant) if isinstance(node.value, str)}
    templates = "".join(path.read_text("utf-8") for path in SOURCE.rglob("*.html"))
    unused = [
        id
        for id in sorted(ids())
        if id not in literals
        and id not in templates
        and not any(one.fullmatch(id) for one in patterns)
        and not id.endswith(".advice")
    ]
    assert unused == []


@pytest.mark.parametrize(
    ("environment", "wanted"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "TRUELINE_LANG": "zh"}, "zh"),
        ({"LC_ALL": "", "LANG": "zh_TW"}, "zh"),
    ],
)
def test_the_language_is_the_environment_s(
    environment: dict[str, str], wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_language(None)
    for name in ("TRUELINE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert language() == wanted


def test_a_chosen_language_wins_until_it_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRUELINE_LANG", "en")
    try:
        use_language("zh")
        assert render("conclusion.none") == "无问题"
    finally:
        use_language(None)
    assert render("conclusion.none") == "No problem"


def test_a_message_is_shown_even_where_a_parameter_or_the_sentence_is_missing() -> None:
    assert render("trouble.bad_file", {"path": "a"}, "en") == "a: {reason}"
    assert render("no.such_message", {"x": 1}, "en") == "no.such_message"
    assert render("trouble.bad_file", {"path": "{reason}", "reason": "b"}, "en") == "{reason}: b"


def test_a_word_goes_with_its_number() -> None:
    words = {"bench": "a", "port": "b", "modules": 1, "checks": 2}
    assert render("pair.same", words, "en") == "b matches a: 1 module and 2 values agree within rounding error"
    assert [render("pair_update.all_parameters", {"count": count}, "en") for count in (1, 3)] == [
        "the only parameter",
        "all 3 parameters",
    ]


def test_an_id_with_braces_from_a_stored_result_is_shown_and_does_not_crash() -> None:
    assert render("{0.__class__}", {}, "en") == "{0.__class__}"
    assert render("broken {", {}, "en") == "broken {"


def test_chinese_uses_the_terms_of_mindspore_s_own_documents() -> None:
    """标杆, 正向, 混洗, 移植侧."""
    odd = [id for id, text in every_message("zh").items() if re.search("基准|前向|打乱|移植端", text)]
    assert odd == []
