"""Every item has scripts that show its fault and scripts that come close to it, for each framework."""

from __future__ import annotations

from collections import Counter
from typing import Final

import pytest
from checks.fixtures import FOLDER, all_fixtures

from trueline.checks.listing import codes

FRAMEWORKS: Final = ("torch", "mindspore")
AT_LEAST: Final = 2
# Frameworks in which an item cannot be shown, with the reason. None so far: where MindSpore hands gradients out, tr.01
# is a sum of the script's own that is never cleared.
EXCEPTIONS: Final[dict[tuple[str, str], str]] = {}
# Items whose faults no recorded run shows in a framework, with the reason; all others have a bad script with `# run:`.
NOT_BY_RUN: Final[dict[tuple[str, str], str]] = {}

COUNTS: Final = Counter((one.code, one.framework, one.good) for one in all_fixtures())


@pytest.mark.parametrize("framework", FRAMEWORKS)
@pytest.mark.parametrize("code", codes())
def test_an_item_has_bad_and_good_scripts(code: str, framework: str) -> None:
    if (code, framework) in EXCEPTIONS:
        pytest.skip(EXCEPTIONS[code, framework])
    for good in (False, True):
        kind = "good" if good else "bad"
        assert COUNTS[code, framework, good] >= AT_LEAST, f"{kind} scripts of {code} in {framework}"


def test_exceptions_are_still_needed() -> None:
    for code, framework in EXCEPTIONS:
        assert not all(COUNTS[code, framework, good] >= AT_LEAST for good in (False, True)), (code, framework)


def test_every_folder_is_an_items() -> None:
    folders = {one.parent.name.replace("_", ".") for one in FOLDER.glob("*/*.py")} - {"__pycache__"}
    assert folders == set(codes())
