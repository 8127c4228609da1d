"""Whatever stands in a script where a number is expected, no item ends in an error of its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from checks.fixtures import all_fixtures

from trueline.checks.engine.checklist import fill_in
from trueline.checks.engine.listing import all_checks
from trueline.script.script import read_script

ODD = {
    "huge": "10**30",
    "beyond floats": "10**400",
    "many digits": "9" * 400,
    "infinite": "1e999",
    "negative": "-1",
    "nothing": "None",
    "text": "'a'",
    "list": "[1, 2]",
}
# Those that once ended in an error: epochs, and the bounds of a rank's part.
ALWAYS = ("hp_02", "dp_05")


class _Replacing(ast.NodeTransformer):
    """Every number of a script gives way to an odd value."""

    def __init__(self, written: str) -> None:
        self._written = written

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.JoinedStr:
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            return node
        return ast.parse(self._written, mode="eval").body


@pytest.mark.parametrize("odd", ODD)
def test_no_item_ends_in_an_error(tmp_path: Path, odd: str) -> None:
    scripts = [fixture.path for fixture in all_fixtures()]
    turn = list(ODD).index(odd)
    chosen = [path for path in scripts if path.parent.name in ALWAYS] + scripts[turn :: 8 * len(ODD)]
    assert len(chosen) > 15
    errors = []
    for path in chosen:
        tree = ast.fix_missing_locations(_Replacing(ODD[odd]).visit(ast.parse(path.read_text("utf-8"))))
        (tmp_path / "train.py").write_text(ast.unparse(tree), "utf-8")
        evidence = {"script": read_script([tmp_path / "train.py"]), "bench_script": read_script([path])}
        findings = fill_in(all_checks(), evidence).findings
        errors += [(path.name, finding.code, finding.error) for finding in findings if finding.error is not None]
    assert not errors
