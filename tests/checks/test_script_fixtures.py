"""Every fault that reading a script shows is found on exactly the marked lines; in healthy scripts nothing is."""

from __future__ import annotations

from pathlib import Path

import pytest
from checks.fixtures import Fixture, all_fixtures
from checks.test_run_fixtures import told

from trueline.checks.engine.listing import all_checks
from trueline.checks.engine.placing import placed
from trueline.checks.engine.roots import with_roots
from trueline.checks.engine.running import ask_all
from trueline.checks.engine.sources import Sources
from trueline.model.finding import roots
from trueline.script.script import read_script

FIXTURES = all_fixtures()


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda one: one.name)
def test_reading_a_script_shows_what_is_marked_in_it(fixture: Fixture) -> None:
    evidence = {"script": read_script([fixture.path])}
    if fixture.port_of is not None:
        evidence["bench_script"] = read_script([fixture.port_of])
    ways = [one for one in all_checks() if set(one.evidence) <= set(evidence)]
    findings = with_roots(placed(ask_all(ways, evidence), Sources()))
    crashed = [f"{one.code}: {one.error}" for one in findings if one.error is not None]
    assert not crashed
    problems = roots(findings)
    seen = {(one.code, one.where.line) for one in problems if Path(one.where.file or "").name == fixture.path.name}
    assert seen == set(fixture.expected), told(problems) + "\n---\n" + told(findings)


def test_every_script_is_marked_as_its_name_says() -> None:
    for one in FIXTURES:
        if one.good:
            assert not one.expected, one.name
        else:
            assert one.expected or one.run is not None, one.name
