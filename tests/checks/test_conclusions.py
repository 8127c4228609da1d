"""Five conclusions: which of two ways speaks for an item, and what is only No problem where the evidence decides it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from trueline.checks.engine.check import Check, found, na, none, suspect, undecided
from trueline.checks.engine.checklist import Checklist, Row, chosen, fill_in
from trueline.checks.engine.deciding import decided_by
from trueline.checks.engine.gathering import Gathered
from trueline.checks.engine.listing import all_checks, codes
from trueline.checks.engine.report import conclusion_of, report, result
from trueline.locale import use_language
from trueline.model.finding import Conclusion, Evidence, Finding
from trueline.model.location import Location
from trueline.report.markdown import render_markdown
from trueline.script.script import read_script

FOUND = found("tr_02.script.cut", Location(file="train.py", line=3))
SUSPECT = suspect("tr_02.script.cut", Location(file="train.py", line=4))
NONE = none("tr_02.script.whole", evidence=["the loss"])
OPEN = undecided("tr_02.script.no_loss")
NA = na("tr_02.script.no_loss")
TRAIN = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
data = TensorDataset(torch.randn(640, 4), torch.randint(0, 2, (640,)))
loader = DataLoader(data, batch_size=64, shuffle=True)
loss_of = nn.CrossEntropyLoss()
for epoch in range(3):
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = loss_of(network(inputs), labels)
        loss.backward()
        optimizer.step()
"""


def way(kinds: str, *findings: Finding, decides: bool = True) -> Check:
    """A check of tr.02 that answers with these."""

    def ask(*_: Any) -> Iterator[Finding]:
        yield from findings

    return Check("tr.02", "a title", ask, tuple(map(Evidence, kinds.split(" + "))), {}, __name__, decides)


def crashing(kinds: str) -> Check:
    def ask(*_: Any) -> Iterator[Finding]:
        raise ZeroDivisionError("by nothing")
        yield

    return Check("tr.02", "a title", ask, tuple(map(Evidence, kinds.split(" + "))), {}, __name__)


def row_of(tmp_path: Path, *ways: Check) -> Row:
    path = tmp_path / "train.py"
    path.write_text("one\ntwo\nthree\nfour\n", "utf-8")
    given = {"script": read_script([path]), "data": "some", "bench_data": "some"}
    return fill_in(ways, given).rows[0]


@pytest.mark.parametrize(
    ("by_script", "by_data", "conclusion"),
    [
        (FOUND, SUSPECT, "found"),
        (FOUND, NONE, "found"),
        (FOUND, OPEN, "found"),
        (FOUND, NA, "found"),
        (SUSPECT, FOUND, "found"),
        (SUSPECT, NONE, "suspect"),
        (SUSPECT, OPEN, "suspect"),
        (SUSPECT, NA, "suspect"),
        (NONE, FOUND, "found"),
        (NONE, SUSPECT, "suspect"),
        (NONE, OPEN, "none"),
        (NONE, NA, "none"),
        (OPEN, FOUND, "found"),
        (OPEN, SUSPECT, "suspect"),
        (OPEN, NONE, "none"),
        # What has seen the data knows better than reading whether an item applies.
        (OPEN, NA, "na"),
        (NA, FOUND, "found"),
        (NA, SUSPECT, "suspect"),
        (NA, NONE, "none"),
        (NA, OPEN, "open"),
    ],
)
def test_of_two_ways_the_one_that_decides_speaks(
    tmp_path: Path, by_script: Finding, by_data: Finding, conclusion: str
) -> None:
    assert row_of(tmp_path, way("script", by_script), way("data", by_data)).conclusion == conclusion
    assert row_of(tmp_path, way("data", by_data), way("script", by_script)).conclusion == conclusion


@pytest.mark.parametrize("each", [FOUND, SUSPECT, NONE, OPEN, NA], ids=lambda each: each.conclusion.value)
def test_two_ways_that_agree_say_what_each_says(tmp_path: Path, each: Finding) -> None:
    assert row_of(tmp_path, way("script", each), way("data", each)).conclusion is each.conclusion


def test_of_two_that_know_as_much_the_one_that_decided_speaks(tmp_path: Path) -> None:
    assert row_of(tmp_path, way("data", OPEN), way("data", NA)).conclusion is Conclusion.NA


@pytest.mark.parametrize(
    "silent",
    [way("script + data", OPEN), way("data + bench_data", OPEN), crashing("data"), crashing("script")],
    ids=["placing", "comparing", "crashed", "crashed in reading"],
)
def test_who_cannot_know_whether_an_item_applies_leaves_it_to_those_who_do(tmp_path: Path, silent: Check) -> None:
    assert row_of(tmp_path, way("script", NA), silent).conclusion is Conclusion.NA


def test_a_check_that_crashed_is_not_decided_and_shows_its_error(tmp_path: Path) -> None:
    row = row_of(tmp_path, crashing("data"))
    assert row.conclusion is Conclusion.OPEN
    assert row.speaks.error is not None and "by nothing" in row.speaks.error
    assert row_of(tmp_path, way("data", OPEN), crashing("data")).conclusion is Conclusion.OPEN
    assert row_of(tmp_path, way("script", NONE), crashing("data")).conclusion is Conclusion.NONE


def checked(folder: Path, **scripts: str) -> Checklist:
    """The checklist of scripts by name, from their text."""
    for name, text in scripts.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    gathered = Gathered()
    gathered.add([str(folder / f"{name}.py") for name in scripts] if len(scripts) == 1 else [str(folder)])
    return fill_in(chosen([], []), gathered.evidence, looked_at=gathered.looked_at)


def rows_of(checklist: Checklist) -> dict[str, Row]:
    return {row.code: row for row in checklist.rows}


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Checklist:
    """A script with nothing wrong in it."""
    return checked(tmp_path_factory.mktemp("usual"), train=TRAIN)


@pytest.mark.parametrize(
    ("code", "command"),
    [
        ("hp.01", "trueline tune lr"),
        ("hp.02", "trueline run --check"),
        ("hp.03", "trueline tune batch"),
        ("ds.01", "--data DATA"),
        ("ds.02", "trueline data sheet"),
        ("ds.03", "--data DATA"),
        ("mp.01", "trueline run --check"),
        ("cg.01", "--bench BENCH_RUN"),
        ("api.01", "--bench BENCH_SCRIPT"),
    ],
)
def test_what_a_script_alone_cannot_decide_names_the_command_that_does(
    usual: Checklist, code: str, command: str
) -> None:
    row = rows_of(usual)[code]
    assert row.conclusion is Conclusion.OPEN
    assert command in render_markdown(report(usual), "en")
    assert row.speaks.advice is not None and command in row.speaks.advice.text("en")
    assert command in next(item["decided_by"] for item in result(usual).fields["items"] if item["code"] == code)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_everything_that_is_open_says_in_both_languages_what_would_decide_it(usual: Checklist, lang: str) -> None:
    left = [row for row in usual.rows if row.conclusion is Conclusion.OPEN]
    assert left
    for row in left:
        assert row.speaks.advice is not None and "`trueline " in row.speaks.advice.text(lang)


@pytest.mark.parametrize("code", ["mp.02", "mp.03", "tr.03", "tr.04", "tr.07", "tr.08", "dp.02", "dp.05", "wi.02"])
def test_what_a_script_does_not_do_is_not_applicable(usual: Checklist, code: str) -> None:
    assert rows_of(usual)[code].conclusion is Conclusion.NA


def test_where_no_training_is_found_nothing_is_known_not_to_apply(tmp_path: Path) -> None:
    left = [row.code for row in checked(tmp_path, train="import torch\n").rows if row.conclusion is not Conclusion.OPEN]
    assert left == []


def test_networks_that_nobody_has_looked_into_may_tie_and_load_and_drop(tmp_path: Path) -> None:
    opaque = TRAIN.replace(
        "network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))",
        "import timm\nnetwork = timm.create_model('resnet18', pretrained=True)",
    )
    rows = rows_of(checked(tmp_path, train=opaque))
    assert {rows[code].conclusion for code in ("tr.15", "wi.02")} == {Conclusion.OPEN}
    assert Conclusion.NA not in {rows[code].conclusion for code in ("api.02", "tr.09")}


def test_of_several_trainings_one_that_is_not_decided_is_not_cleared_by_another(tmp_path: Path) -> None:
    unknown = TRAIN.replace("shuffle=True", "shuffle=ask()").replace(
        "import torch\n", "import torch\nfrom far import ask\n"
    )
    assert rows_of(checked(tmp_path, first=TRAIN))["dp.03"].conclusion is Conclusion.NONE
    assert rows_of(checked(tmp_path, first=TRAIN, second=unknown))["dp.03"].conclusion is Conclusion.OPEN


def test_the_closing_line_counts_all_five(tmp_path: Path) -> None:
    def item(code: str, finding: Finding) -> Check:
        own = Finding(code, finding.conclusion, finding.message, where=finding.where, evidence=finding.evidence)
        return Check(code, "a title", lambda _: iter([own]), (Evidence.DATA,), {}, __name__)

    answers = {"tr.01": FOUND, "tr.02": SUSPECT, "tr.03": NONE, "tr.04": OPEN, "tr.05": NA}
    filled = fill_in([item(code, finding) for code, finding in answers.items()], {"data": "some"})
    said = conclusion_of(filled)
    assert said.text("en") == (
        "1 problem found: tr.01. Of 5 items: 1 with a problem, 1 suspected, 1 without a problem, 1 not decided, 1 N/A."
    )
    assert said.text("zh") == (
        "发现 1 个问题：tr.01。共 5 项：发现问题 1 项，疑似 1 项，无问题 1 项，待确认 1 项，不涉及 1 项。"
    )


def test_words_of_rows_are_those_of_the_language(usual: Checklist) -> None:
    try:
        for lang, word in (("zh", "待确认"), ("en", "Not decided")):
            use_language(lang)
            items = result(usual).fields["items"]
            assert next(item["word"] for item in items if item["code"] == "hp.01") == word
    finally:
        use_language(None)


@pytest.mark.parametrize("code", codes())
def test_every_item_names_a_command_whatever_is_at_hand(code: str) -> None:
    ways = [each for each in all_checks() if each.code == code]
    for at_hand in ([], ["script"], ["script", "run"], [kind.value for kind in Evidence]):
        assert "`trueline " in decided_by(ways, at_hand, {}).text("en")


def test_commands_name_what_was_looked_at_as_a_shell_reads_it() -> None:
    ways = [way("script", OPEN), way("run", OPEN)]
    said = decided_by(ways, ["script"], {"script": "my project/train.py"})
    assert said.text("en") == "decided by: `trueline run --check 'my project/train.py'`"
    assert said.text("zh") == "确认方法：`trueline run --check 'my project/train.py'`"


def test_a_way_that_only_finds_is_not_named() -> None:
    ways = [way("script", OPEN), way("run", OPEN, decides=False), way("data", OPEN)]
    assert decided_by(ways, ["script"], {}).text("en") == "decided by: `trueline check SCRIPT --data DATA`"


@pytest.mark.parametrize(
    "each", [one for one in all_checks() if not one.decides], ids=lambda one: f"{one.code} {one.name}"
)
def test_a_way_that_only_finds_never_says_no_problem(each: Check) -> None:
    ask: Callable[..., object] = each.ask
    assert "none(" not in inspect.getsource(ask)
