"""What ``pair --json`` prints is in the schema and on its pages; that its answers are so, its own tests ask."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from trueline.pair.blame import Cause, Stage, StageVerdict
from trueline.pair.report import CODES

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
THE_SCHEMA: dict[str, Any] = json.loads((DOCS / "schema" / "trueline-1.schema.json").read_text("utf-8"))
PAGE = (DOCS / "json.md").read_text("utf-8")
PAIR_PAGE = (DOCS / "pair.md").read_text("utf-8")


def test_the_schema_speaks_of_the_contract_as_the_code_has_it() -> None:
    defined = THE_SCHEMA["$defs"]
    assert defined["pair_stage"]["enum"] == [one.value for one in Stage]
    stage = defined["pair"]["properties"]["stages"]["items"]["properties"]
    assert set(stage["verdict"]["enum"]) == {one.value for one in StageVerdict}
    finding = defined["pair_finding"]["properties"]
    assert all(re.search(finding["code"]["pattern"], code) for code in CODES.values())
    assert all(re.search(finding["cause"]["pattern"], one.value) for one in Cause)


def test_every_field_cause_and_code_is_on_its_page() -> None:
    defined = THE_SCHEMA["$defs"]
    fields = {*defined["pair"]["properties"], *defined["pair_finding"]["properties"]}
    fields |= defined["pair"]["properties"]["stages"]["items"]["properties"].keys()
    assert {name for name in fields if f"`{name}`" not in PAGE} == {"findings"} & fields
    assert {one.value for one in Cause if f"`{one.value}`" not in PAIR_PAGE} == set()
    assert {code for code in CODES.values() if f"| {code} |" not in PAIR_PAGE} == set()
