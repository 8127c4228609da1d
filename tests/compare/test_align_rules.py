"""What the user says about names comes first; what cannot be meant is one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest

from trueline.compare.align import Alignment, Item, Reason, Rules, Structure, align
from trueline.model.finding import Certainty
from trueline.model.key import Key
from trueline.model.trouble import BadFile, BadUsage


def side(*names: str) -> Structure:
    return Structure([Item(Key.of_parameter(name), (4, 4)) for name in names])


def paired(found: Alignment) -> dict[str, str]:
    return {pair.a.parameter: pair.b.parameter for pair in found.pairs}


def rules(tmp_path: Path, text: str, name: str = "names.txt") -> Rules:
    (tmp_path / name).write_text(text, "utf-8")
    return Rules.read(tmp_path / name, ())


def test_a_rule_wins_over_equal_names(tmp_path: Path) -> None:
    found = align(side("x.weight", "y.weight"), side("x.weight", "y.weight"), rules(tmp_path, "x = y\ny = x\n"))
    assert paired(found) == {"x.weight": "y.weight", "y.weight": "x.weight"}
    assert {(pair.reason, pair.certainty) for pair in found.pairs} == {(Reason.MAP, Certainty.CERTAIN)}
    assert found.renamed == {"x": "y", "y": "x"} and not found.unused


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "# by hand\n\nold.first.weight = new.one.gamma  # the norm\n'old.second.*' = \"new.two.*\"\n"),
        ("a.toml", '"old.first.weight" = "new.one.gamma"\n"old.second.*" = "new.two.*"\n'),
        ("b.toml", 'old.first.weight = "new.one.gamma"\nold.second.weight = "new.two.weight"\n'),
        ("a.json", '{"old.first.weight": "new.one.gamma", "old": {"second.*": "new.two.*"}}'),
        ("b.json", '[["old.first.weight", "new.one.gamma"], ["old.second", "new.two"]]'),
    ],
)
def test_files_of_every_kind(tmp_path: Path, name: str, text: str) -> None:
    here, there = side("old.first.weight", "old.second.weight"), side("new.one.gamma", "new.two.weight")
    found = align(here, there, rules(tmp_path, text, name))
    assert paired(found) == {"old.first.weight": "new.one.gamma", "old.second.weight": "new.two.weight"}
    assert {pair.reason for pair in found.pairs} == {Reason.MAP}


def test_every_star_stands_for_its_own_part(tmp_path: Path) -> None:
    here = side(*(f"enc.{n}.at.{leaf}.weight" for n in range(12) for leaf in "xy"))
    there = side(*(f"blocks.{n}.mix.{leaf}_.weight" for n in reversed(range(12)) for leaf in "xy"))
    found = align(here, there, rules(tmp_path, "enc.*.at.*.weight = blocks.*.mix.*_.weight"))
    assert paired(found) == {
        f"enc.{n}.at.{leaf}.weight": f"blocks.{n}.mix.{leaf}_.weight" for n in range(12) for leaf in "xy"
    }
    assert {pair.reason for pair in found.pairs} == {Reason.MAP}


def test_a_module_s_rule_holds_for_all_below_it_and_for_its_outputs(tmp_path: Path) -> None:
    def structure(path: str, leaf: str) -> Structure:
        return Structure([Item(Key.of(path, "out"), (2,)), Item(Key.of_parameter(f"{path}.bn.{leaf}"), (2,))])

    found = align(structure("tail", "gamma"), structure("last", "weight"), rules(tmp_path, "tail = last"))
    assert len(found.pairs) == 2 and {pair.reason for pair in found.pairs} == {Reason.MAP}


def test_a_rule_that_matches_nothing_is_named(tmp_path: Path) -> None:
    given = rules(tmp_path, "fc = head\nfcc.* = head.*\n")
    weights, tensors = align(side("fc.weight"), side("head.weight"), given), align(side("x.w"), side("x.w"), given)
    assert weights.unused == ["fcc.* = head.*"]
    with pytest.raises(BadUsage, match="fcc") as trouble:
        given.need_used([weights, tensors])
    assert "\n" not in str(trouble.value)
    rules(tmp_path, "fc = head").need_used([weights, tensors])
    Rules().need_used([])


def test_ignored_names_are_counted_and_nowhere_else() -> None:
    given = Rules.read(None, ["*.num_batches_tracked", "aux.*"])
    here, there = side("bn.weight", "bn.num_batches_tracked"), side("bn.weight", "aux.fc.weight", "aux.fc.bias")
    found = align(here, there, given)
    assert len(found.pairs) == 1 and not found.only_a and not found.only_b and found.ignored == 3


def test_an_activation_is_ignored_by_its_module() -> None:
    outputs = Structure([Item(Key.of("drop", "out")), Item(Key.of("fc", "out"))])
    assert align(outputs, outputs, Rules(ignore=["drop*"])).ignored == 2


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", b"no equals sign"),
        ("a.txt", b"a = b = c"),
        ("a.txt", b"a.* = b"),
        ("a.txt", b" = b"),
        ("a.txt", b"a ="),
        ("a.txt", b""),
        ("a.txt", b"\xff\xfe\x00a"),
        ("a.txt", b"*" * 9 + b" = " + b"*" * 9),
        ("a.toml", b"a = "),
        ("a.toml", b"a = 3"),
        ("a.toml", b"a = [1]"),
        ("a.json", b"{"),
        ("a.json", b"[" * 100_000),
        ("a.json", b"17"),
        ("a.json", b'{"a": null}'),
        ("a.json", b'[["a", "b", "c"]]'),
        ("a.json", b'[["a", 3]]'),
        ("a.json", b"{" + b'"a":{' * 500 + b"}" * 501),
    ],
)
def test_a_file_that_is_no_map_is_one_clear_line(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadFile) as trouble:
        Rules.read(tmp_path / name, ())
    assert name in str(trouble.value) and "\n" not in str(trouble.value) and len(str(trouble.value)) < 500


def test_a_file_that_is_not_there_and_an_empty_pattern(tmp_path: Path) -> None:
    with pytest.raises(BadFile):
        Rules.read(tmp_path / "missing.txt", ())
    with pytest.raises(BadFile):
        Rules.read(tmp_path, ())
    with pytest.raises(BadUsage):
        Rules.read(None, [" "])


def test_stars_cannot_be_made_to_take_for_ever(tmp_path: Path) -> None:
    name = "a" * 3_000
    found = align(side(name), side("b"), rules(tmp_path, "*a*a*a*a*b = *b*b*b*b*b"))
    assert found.unused


def test_a_star_for_all_of_a_module_needs_no_equal_leaves(tmp_path: Path) -> None:
    here, there = side("bn1.weight", "bn1.bias", "bn2.weight"), side("norm.gamma", "norm.beta", "bn1.weight")
    found = align(here, there, rules(tmp_path, "bn1.* = norm.*\n"))
    assert paired(found).items() >= {"bn1.weight": "norm.gamma", "bn1.bias": "norm.beta"}.items()
    assert not found.unused
