"""A new item is one folder: nothing else is touched, and every verb knows it."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import trueline

# A code, or the id of an item's message.
CODE = re.compile(r"(api|cg|dp|ds|hp|mp|tr|wi)[._]\d\d(\.\w+)*$")

PAGE = '''"""The learning rate has a round number.

What it looks at
----------------
Numbers.

Why it hurts
------------
It does not.

What to do
----------
Nothing.

When it is wrong
----------------
Always.
"""
'''
WAY = """
from collections.abc import Iterator

from trueline.model.location import Location
from trueline.checks.engine.check import check, found, none
from trueline.model.finding import Finding
from trueline.script.script import Script


@check("zz.01", "the learning rate is round")
def from_script(script: Script, *, roundest: float = 0.1) -> Iterator[Finding]:
    for event in script.trace.events:
        if event.name.endswith("optim.SGD"):
            yield found("zz_01.script.round", event.place, limit=roundest, evidence=["SGD"])
            return
    yield none("zz_01.script.none", evidence=["calls"])
"""
MESSAGES = """
[en.script]
advice = "Take another one."
round = "The rate is round."
none = "No round rate."

[en.bench_script]
differs = "{told}: the rate is rounder than the benchmark's."
advice = "Take the benchmark's."

[zh.script]
advice = "换一个。"
round = "学习率是整数。"
none = "没有。"

[zh.bench_script]
differs = "{told}：学习率比标杆的更整。"
advice = "使用标杆的学习率。"

[page.zh]
title = "学习率是整数。"
looks_at = "数字。"
why = "无害。"
todo = "无。"
wrong_when = "总是。"
"""
FOLLOWS = """
from trueline.checks.engine.following import Rule

FOLLOWS = (Rule("tr.06"),)
"""
CLAIMED = """
from trueline.checks.bench_script.claim import Claim
from trueline.script.diff.difference import Difference
from trueline.script.diff.subject import Subject


def is_near(difference: Difference) -> bool:
    mine, bench = difference.numbers or (0.0, 0.0)
    return bench < mine < 3 * bench


CLAIMS = (Claim(Subject.LEARNING_RATE, when=is_near),)
"""
CALL = """
from pathlib import Path
from trueline.checks.engine.listing import add_items
add_items(Path("items"))
from trueline.cli.main import main
main()
"""
TRAINING = """
import torch

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    optimizer.zero_grad()
    net(torch.ones(3, 2)).pow(2).mean().backward()
    optimizer.step()
"""


def call(folder: Path, *line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", CALL, *line], cwd=folder, capture_output=True, text=True, check=False)


def add_item(place: Path) -> None:
    folder = place / "items" / "zz_01_round_rate"
    folder.mkdir(parents=True)
    for name, text in (
        ("__init__.py", PAGE),
        ("script.py", WAY),
        ("bench_script.py", CLAIMED),
        ("messages.toml", MESSAGES),
        ("follows.py", FOLLOWS),
    ):
        (folder / name).write_text(text, "utf-8")


def test_an_item_claims_differences_between_two_scripts_by_its_folder_alone(tmp_path: Path) -> None:
    add_item(tmp_path)
    (tmp_path / "train.py").write_text(TRAINING, "utf-8")
    (tmp_path / "bench.py").write_text(TRAINING.replace("lr=0.1", "lr=0.07"), "utf-8")
    checked = call(tmp_path, "check", "--select", "zz", "--json", "train.py", "--bench", "bench.py")
    (finding,) = json.loads(checked.stdout)["findings"]
    assert (finding["code"], finding["where"]["line"], finding["by"]) == ("zz.01", 5, "script, script + bench_script")
    assert "rounder than the benchmark" in finding["also"][0]["message"]


def test_check_explain_and_docs_know_an_item_by_its_folder_alone(tmp_path: Path) -> None:
    add_item(tmp_path)
    (tmp_path / "train.py").write_text(TRAINING, "utf-8")
    checked = call(tmp_path, "check", "--select", "zz", "--json", "train.py")
    assert (checked.returncode, checked.stderr) == (1, "")
    (finding,) = json.loads(checked.stdout)["findings"]
    assert (finding["code"], finding["where"]["line"], finding["by"]) == ("zz.01", 5, "script")
    assert (finding["message"], finding["advice"]) == ("The rate is round.", "Take another one.")
    chinese = call(tmp_path, "explain", "zz.01", "--lang", "zh")
    assert "学习率是整数" in chinese.stdout, chinese.stderr
    explained = call(tmp_path, "explain", "zz.01")
    assert "roundest" in explained.stdout and "Nothing." in explained.stdout
    docs = "from pathlib import Path; from trueline.checks.engine.listing import add_items; "
    docs += "add_items(Path('items')); from trueline.report.code_page import code_page, items_index; "
    docs += "print(items_index('en', '.md'), code_page('zz.01', [], 'en'))"
    written = subprocess.run([sys.executable, "-c", docs], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert written.stdout.count("The learning rate has a round number") == 2, written.stderr


@pytest.mark.parametrize("room", ["checks/engine", "checks/bench_script", "checks/evidence", "script"])
def test_what_items_share_names_none_of_them(room: str) -> None:
    named = [
        (path.name, node.value)
        for path in sorted((Path(trueline.__file__).parent / room).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and CODE.match(node.value)
    ]
    assert named == []
