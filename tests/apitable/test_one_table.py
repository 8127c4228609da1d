"""What functions do stands in one table: no item and no analysis has a list of their names."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import trueline
from trueline.apitable.functions import functions, word

HOUSE = Path(trueline.__file__).parent
ROOMS = ("checks", "script/analysis", "script/diff")
# Of Python's operators ``Add`` and ``Div`` are the names that a tree has for them.
NAMES = {
    form for row in functions() for name in (*row.names, *row.classes) for form in (name, name.lower(), word(name))
}.union(*((*row.full, *row.stem) for row in functions())) - set(dir(ast))
# Arguments of layers and datasets, and modules, some of which are called as functions are; by the first of them.
OTHERS = {
    ("script/diff/network_subjects.py", "device"),
    ("script/diff/network_subjects.py", "p"),
    ("script/analysis/passes.py", "root"),
    ("script/analysis/followed.py", "builtins"),
    # What a recording calls optimizers, exchanges between ranks and dtypes.
    ("checks/tr_17_update_not_as_formula/formula.py", "SGD"),
    ("checks/tr_32_exchange_differs/laws.py", "all_gather"),
    ("checks/tr_32_exchange_differs/results.py", "float64"),
    ("checks/tr_32_exchange_differs/results.py", "all_reduce"),
}


def listed(tree: ast.Module) -> Iterator[list[str]]:
    """Three or more texts together, at least two of which are names of the table.

    What a function has as a dict is evidence, or the parameters of a message.
    """
    constants = {
        id(node)
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement)
    }
    for node in ast.walk(tree):
        held: list[ast.expr | None] = []
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            held = [*node.elts]
        elif isinstance(node, ast.Dict) and id(node) in constants:
            held = [*node.keys]
        texts = [one.value for one in held if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if len(texts) >= 3 and sum(text in NAMES for text in texts) >= 2:
            yield texts


@pytest.mark.parametrize("room", ROOMS)
def test_no_list_of_functions_outside_of_the_table(room: str) -> None:
    found = [
        (path.relative_to(HOUSE).as_posix(), texts)
        for path in sorted((HOUSE / room).rglob("*.py"))
        for texts in listed(ast.parse(path.read_text("utf-8")))
    ]
    assert [one for one in found if (one[0], one[1][0]) not in OTHERS] == []


@pytest.mark.parametrize(
    "line",
    [
        '_CUTTING: Final = frozenset(("detach", "item", "asnumpy"))',
        '_NORMS = ("BatchNorm1d", "BatchNorm2d", "SyncBatchNorm")',
        '_CUTS = ("detach", "stopgradient", "asnumpy")',
        'LOADED = ["torch.load", "mindspore.load_checkpoint", "mine.read"]',
        '_FILLS = {"zeros": 0, "ones": 1, "thousands": 1000}',
        'def is_same(event): return event.method in {"view", "reshape", "flatten"}',
    ],
)
def test_a_list_is_seen_in_every_form(line: str) -> None:
    assert list(listed(ast.parse(line)))


@pytest.mark.parametrize(
    "line",
    [
        '_ARITHMETIC = ("Add", "Sub", "Mult", "Div")',
        '_NAMES = ("label", "target", "class")',
        'if event.method in ("view", "reshape"): pass',
        'def evidence(one): return {"mean": one.mean, "std": one.std, "field": one.name}',
    ],
)
def test_what_is_no_list_of_functions_may_stay(line: str) -> None:
    assert not list(listed(ast.parse(line)))
