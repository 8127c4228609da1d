from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module

import pytest
from cli.calling import call, environment, process

from trueline.cli.cells import columns, wrap
from trueline.cli.verbs import VERBS, every_verb
from trueline.locale import ids, render

HEAVY = {"numpy", "rich", "safetensors", "msgspec", "ml_dtypes", "torch", "mindspore"}
LOOK = """
import sys
from trueline.cli.main import main
sys.argv = ["trueline", *sys.argv[1:]]
try:
    main()
except SystemExit as end:
    assert end.code == 0, end.code
print("\\n".join(sorted(sys.modules)), file=sys.stderr)
"""


def modules_loaded(*arguments: str) -> set[str]:
    child = subprocess.run(
        [sys.executable, "-c", LOOK, *arguments], env=environment(), capture_output=True, text=True, check=True
    )
    return set(child.stderr.split())


def test_the_list_of_verbs_imports_no_verb_and_nothing_heavy() -> None:
    loaded = modules_loaded("--help")
    assert not loaded & HEAVY
    assert not loaded & {module for module, _ in VERBS.values()}


@pytest.mark.parametrize("verb", every_verb())
def test_help_of_a_verb_imports_nothing_heavy(verb: str) -> None:
    loaded = modules_loaded(*verb.split(), "--help")
    assert not loaded & HEAVY
    assert VERBS[verb.split()[0]][0] in loaded


def test_help_lists_every_verb_with_its_line() -> None:
    page = call("--help").stdout
    for name in VERBS:
        assert f"\n  {name} " in page
    assert "look at one recorded run" in page


@pytest.mark.parametrize("verb", every_verb())
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_has_a_sentence_for_everything(verb: str, lang: str) -> None:
    page = call(*verb.split(), "--help", "--lang", lang).stdout
    # A message without a sentence would be shown as its id.
    assert not set(re.findall(r"[a-z_]+\.[a-z0-9_]+", page)) & ids()
    chinese = any("\u4e00" <= character <= "\u9fff" for character in page)
    assert chinese == (lang == "zh")


@pytest.mark.parametrize("arguments", [("--lang", "zh", "show", "--help"), ("show", "--lang=zh", "--help")])
def test_language_before_and_after_the_verb(arguments: tuple[str, ...]) -> None:
    assert call(*arguments).stdout.startswith("用法：trueline show [选项] RUN")


def test_help_before_the_language_is_in_that_language() -> None:
    assert call("--help", "--lang", "zh").stdout.startswith("用法：")
    assert call("show", "--help", "--lang", "zh").stdout.startswith("用法：")


def test_language_of_the_environment_and_its_overruling() -> None:
    assert call("--help", TRUELINE_LANG="zh").stdout.startswith("用法：")
    assert call("--lang", "en", "--help", TRUELINE_LANG="zh").stdout.startswith("Usage: ")
    assert process("--help", TRUELINE_LANG="", LC_ALL="zh_CN.UTF-8").stdout.startswith("用法：")


def test_language_after_the_script_belongs_to_the_script() -> None:
    ours = call("run", "--lang", "zh", "-o", "out", "missing_script.py", "--lang", "en")
    theirs = call("run", "-o", "out", "missing_script.py", "--lang", "zh")
    assert ours.exit_code == theirs.exit_code == 2
    assert any("\u4e00" <= character <= "\u9fff" for character in ours.stderr)
    assert theirs.stderr.isascii()


@pytest.mark.parametrize("output", [("-o", "out"), ("-oout",), ("--output=out",), ("-mo", "out")])
def test_a_value_is_not_taken_for_the_script(output: tuple[str, ...]) -> None:
    answer = call("run", *output, "--lang", "zh", "no_such_module_or_script.py")
    assert answer.exit_code == 2
    assert any("\u4e00" <= character <= "\u9fff" for character in answer.stderr)


def test_no_verb_shows_the_help_and_is_bad_usage() -> None:
    answer = call()
    assert answer.exit_code == 2
    assert answer.stdout == ""
    assert "Usage: trueline" in answer.stderr


def test_version() -> None:
    from trueline.version import __version__

    assert call("--version").stdout == f"trueline {__version__}\n"


@pytest.mark.parametrize("verb", ["", *every_verb()])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_help_fits_eighty_columns_also_with_wide_characters(verb: str, lang: str) -> None:
    page = call("--lang", lang, *verb.split(), "--help", COLUMNS="80").stdout
    assert max(columns(line) for line in page.splitlines()) <= 80


@pytest.mark.parametrize(("lang", "word"), [("en", "default"), ("zh", "默认")])
def test_pair_says_what_holds_where_an_option_is_not_given(lang: str, word: str) -> None:
    command = import_module("trueline.cli.pair").command
    for option in command.params:
        if not option.required and not option.is_flag and option.name != "output":
            assert word in render(option.help, lang=lang), option.name
            if option.default is not None and str(option.default).isdigit():
                assert str(option.default) in render(option.help, lang=lang), option.name


def test_option_texts_start_in_one_column_with_wide_characters() -> None:
    page = call("show", "--help", "--lang", "zh").stdout
    texts = [line for line in page.splitlines() if line.startswith("  --")]
    positions = {len(line) - len(line[17:].lstrip()) for line in texts}
    assert len(positions) == 1


def test_wrapping_counts_columns_and_keeps_punctuation_with_its_word() -> None:
    text = "训练中的网络精度为何不达预期，并把它拉回到标杆线上。"
    lines = wrap(text, 20)
    assert "".join(lines) == text
    assert all(columns(line) <= 22 for line in lines)
    assert not any(line[0] in "，。" for line in lines)
    assert wrap("one two three", 7) == ["one two", "three"]
    assert wrap("", 7) == []
