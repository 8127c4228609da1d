"""Big tables of cases: a fixed third of each runs with the tests, all where TRUELINE_WHOLE is set (make eval)."""

from __future__ import annotations

import os
from collections import Counter

import pytest

TABLES = frozenset(
    {
        "test_attribute_causes",
        "test_backward_causes",
        "test_convert_networks",
        "test_data_stage",
        "test_loss_stage",
        "test_networks_agree",
        "test_op_level_kinds",
        "test_pair_failures",
        "test_pair_inputs",
        "test_schedule_stage",
        "test_update_stage",
    }
)
SHARE = 3


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out two thirds of the cases of a table; tests without cases all stay."""
    if os.environ.get("TRUELINE_WHOLE"):
        return
    counts: Counter[str] = Counter()
    left: list[pytest.Item] = []
    for item in items:
        if item.path.stem in TABLES and hasattr(item, "callspec"):
            name = f"{item.path}::{getattr(item, 'originalname', '')}"
            counts[name] += 1
            if counts[name] % SHARE != 1:
                left.append(item)
    if left:
        gone = {id(one) for one in left}
        config.hook.pytest_deselected(items=left)
        items[:] = [one for one in items if id(one) not in gone]
