"""Healthy pipelines in many styles are left alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from trueline.adapters.guest.entry import Entry
from trueline.data.pipeline.judged import judged
from trueline.data.pipeline.looking import Wish, look_at_several
from trueline.model.finding import Conclusion

pytestmark = pytest.mark.usefixtures("warm_guests")

HERE = Path(__file__).parent
HELPERS = ("to_tensor", "pad", "split_in_two", "gather", "numbers", "noise")


@pytest.mark.parametrize("file", ["healthy_torch.py", "healthy_mindspore.py"])
def test_nothing_is_found_in_a_healthy_pipeline(file: str) -> None:
    names = [one for one in re.findall(r"^def (\w+)\(", (HERE / file).read_text("utf-8"), re.M) if one not in HELPERS]
    assert len(names) > 12
    entries = [(Entry.parse(f"{file}:{name}"), HERE) for name in names]
    found = {}
    for name, evidence in zip(names, look_at_several(entries, Wish()), strict=True):
        assert evidence.looked > 0, name
        found[name] = [one.message.text("en") for one in judged(evidence) if one.conclusion is Conclusion.FOUND]
    assert {name: one for name, one in found.items() if one} == {}
