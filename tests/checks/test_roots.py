"""What follows from another finding says so, and only roots are counted."""

from __future__ import annotations

from dataclasses import replace

from trueline.checks.engine.following import Rule
from trueline.checks.engine.placing import Placed
from trueline.checks.engine.roots import Rules, with_roots
from trueline.model.finding import Conclusion, Evidence, Finding, roots
from trueline.model.location import Location
from trueline.model.message import message


def finding(
    code: str, step: int | None = None, conclusion: Conclusion = Conclusion.FOUND, because: str | None = None
) -> Finding:
    return Finding(code, conclusion, message("ds_01.no_batches"), where=Location(step=step), because=because)


def rooted(findings: list[Finding], rules: Rules | None = None) -> list[Finding]:
    return with_roots([Placed(one, (one,)) for one in findings], rules)


def test_nan_in_the_data_is_the_root_of_all_that_is_not_finite_after_it() -> None:
    found = rooted([finding("ds.01", 3), finding("mp.01", 3), finding("hp.01", 4)])
    assert [one.because for one in found] == [None, "ds.01", "ds.01"]
    assert [one.code for one in roots(found)] == ["ds.01"]


def test_what_was_there_before_is_no_consequence() -> None:
    found = rooted([finding("ds.01", 7), finding("mp.01", 2)])
    assert {one.code for one in roots(found)} == {"ds.01", "mp.01"}


def test_only_what_was_found_is_a_root() -> None:
    found = rooted([finding("ds.01", 0, Conclusion.SUSPECT), finding("mp.01", 0)])
    assert [one.code for one in roots(found)] == ["mp.01"]


def test_a_root_that_a_check_names_and_nobody_has_found_does_not_hide_its_finding() -> None:
    found = rooted([finding("cg.02", because="wi.01")])
    assert [one.code for one in roots(found)] == ["cg.02"]


def test_findings_that_name_each_other_are_not_both_hidden() -> None:
    found = rooted([finding("cg.02", because="cg.03"), finding("cg.03", because="cg.02")], rules={})
    assert {one.code for one in roots(found)} == {"cg.02", "cg.03"}


def test_the_nearer_cause_comes_first() -> None:
    rules = {"c": (Rule("b"), Rule("a")), "b": (Rule("a"),)}
    found = rooted([finding("a"), finding("b"), finding("c")], rules)
    assert [one.because for one in found] == [None, "a", "b"]


def by(way: str, code: str, because: str | None = None) -> Finding:
    return replace(finding(code, because=because), seen_by=(frozenset(map(Evidence, way.split(" + "))),))


def test_that_two_runs_are_not_alike_follows_from_what_else_is_wrong() -> None:
    found = rooted([by("script", "cg.01"), by("run + bench_run", "cg.03")])
    assert [one.code for one in roots(found)] == ["cg.01"]
    alone = rooted([by("script", "ds.03"), by("run + bench_run", "cg.03")])
    assert {one.code for one in roots(alone)} == {"ds.03", "cg.03"}


def test_what_the_source_shows_does_not_follow_from_its_being_unlike_the_benchmarks() -> None:
    found = rooted([by("script + bench_script", "cg.03"), by("script", "tr.13")])
    assert "tr.13" in {one.code for one in roots(found)}
