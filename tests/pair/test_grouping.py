"""One cause is told once, however many lines build it; what follows from it belongs to it."""

from __future__ import annotations

import types
from dataclasses import replace
from typing import Any, cast

import pytest

from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Report
from trueline.pair.blame import EDIT_AT, Blame, Cause, Stage, StageResult, StageVerdict
from trueline.pair.grouping import Grouped, grouped
from trueline.pair.pairing import Paired
from trueline.pair.report import report, result


def eps(module: str, line: int, *also: str, value: float = 1e-3, measured: float = 1e-2, **more: Any) -> Blame:
    now, bench = f"eps={value}", "eps=1e-05"
    return Blame(
        Stage.FORWARD,
        Cause.EPS,
        message("pair_attr.argument", layer=module, now=now, bench=bench),
        module,
        module,
        1e-5,
        value,
        confirmed=True,
        measured=measured,
        limit=1e-5,
        left=1e-7,
        line=Location("net.py", line),
        other_line=Location("bench.py", line),
        edit=message(
            EDIT_AT,
            place=f"net.py:{line}",
            edit=message("pair_attr.edit_arguments", type="nn.BatchNorm2d", arguments=bench),
        ),
        evidence=[{"also": list(also)}] if also else [],
        general=message("pair_attr.argument_any", layer="nn.BatchNorm2d", now=now, bench=bench),
        **more,
    )


def bias(module: str, line: int) -> Blame:
    said = message("pair_attr.argument_any", layer="nn.Dense", now="has_bias=False", bench="has_bias=True")
    one = eps(module, line)
    return Blame(
        *(one.stage, Cause.BIAS, one.message, module, module, True, False, True),
        measured=0.5,
        limit=1e-5,
        left=1e-7,
        line=one.line,
        other_line=one.other_line,
        edit=message(EDIT_AT, place="net.py:1", edit=message("pair_attr.edit_arguments", type="x", arguments="y")),
        general=said,
    )


def missing(module: str) -> Blame:
    said = message("pair_stage.missing_parameter", name=f"{module}.bias", shape="8")
    return Blame(Stage.PARAMETERS, Cause.MISSING_PARAMETER, said, module, module, "8", None, confirmed=True)


def curve() -> Blame:
    said = message("pair_update.curve_first", port=1.0, bench=2.0)
    return Blame(Stage.CURVE, Cause.UNKNOWN, said, measured=0.5, limit=1e-5)


def paired(*blames: Blame) -> Paired:
    stages = [StageResult(Stage.FORWARD, StageVerdict.FOUND, Message("pair_update.rules_out"), blames)]
    forward = types.SimpleNamespace(modules=3, checks=9, left_out=None)
    given = {"bench": "b:Net", "port": "p:Net", "inputs": [], "stages": stages, "forward": forward}
    rest: dict[str, object] = {"notes": [], "grafts": [], "shorter": None, "module": ""}
    return cast(Paired, types.SimpleNamespace(**given, **rest, blames=list(blames)))


def numbers(found: Grouped) -> dict[str, int | None]:
    return {f"{one.cause}@{one.module}": number for one, number in zip(found.blames, found.numbers, strict=True)}


def test_the_same_edit_on_several_lines_is_one_cause_with_all_its_lines_and_modules() -> None:
    (group,) = grouped([eps("a", 3), eps("b", 7, "c", "d", measured=0.5), eps("e", 5)]).groups
    assert group.modules == ["a", "b", "c", "d", "e"]
    assert [str(line) for line in group.lines] == ["net.py:3", "net.py:7", "net.py:5"]
    assert group.worst.measured == 0.5


def test_other_values_are_another_cause() -> None:
    found = grouped([eps("a", 3), eps("b", 7, value=1e-6)])
    assert [group.number for group in found.causes] == [1, 2]


def test_an_argument_is_one_cause_whichever_stage_and_inputs_show_it() -> None:
    shown = [eps("a", 3, latent=True), replace(eps("b", 7), stage=Stage.BACKWARD), eps("c", 9)]
    (group,) = grouped(shown).groups
    assert not group.first.latent
    (answer,) = report(paired(*shown)).answers
    assert (answer.code, answer.marks) == ("pr.05, pr.08", [])


def test_what_is_confirmed_in_one_module_is_not_confirmed_in_another() -> None:
    found = grouped([eps("a", 3), replace(eps("b", 7), confirmed=False)])
    assert (len(found.causes), len(found.suspects)) == (1, 1)


def test_an_unexplained_difference_elsewhere_is_another_one() -> None:
    said = message("pair_stage.unknown_whole")
    found = grouped([Blame(Stage.FORWARD, Cause.UNKNOWN, said, module) for module in ("a", "b")])
    assert len(found.causes) == 2


def test_parameters_that_an_argument_removes_belong_to_it() -> None:
    layers = [f"blocks.{place}.proj" for place in range(7)]
    blames = [bias(layer, 10 + place) for place, layer in enumerate(layers)] + [missing(layer) for layer in layers]
    found = grouped(blames)
    assert len(found.causes) == 1
    assert len(found.causes[0].following) == 7
    assert set(numbers(found).values()) == {1}


def test_a_parameter_is_not_lacking_because_of_an_eps() -> None:
    found = grouped([eps("norm", 3), missing("norm")])
    assert [group.first.cause for group in found.causes] == [Cause.EPS, Cause.MISSING_PARAMETER]


@pytest.mark.parametrize("stage", [Stage.LOSS, Stage.UPDATE, Stage.METRICS, Stage.BACKWARD, Stage.DATA])
def test_a_measured_difference_that_nothing_explains_is_no_clean_bill(stage: Stage) -> None:
    said = message("pair_stage.unknown_whole")
    blame = Blame(stage, Cause.LOSS, said, measured=0.3, limit=1e-5)
    answer = result(paired(blame, curve()))
    assert answer.exit == 1
    assert [one.conclusion for one in answer.findings] == ["found", "found"]
    assert "0 confirmed" in answer.conclusion.text("en")
    # Beside a cause of the same part it is a suspicion: the cause may explain it.
    explained = grouped([blame, replace(blame, confirmed=True, message=DROPS)])
    assert (len(explained.causes), len(explained.suspects)) == (1, 1)


def test_what_is_only_built_otherwise_is_a_suspicion() -> None:
    built = Blame(Stage.LOSS, Cause.IGNORED_INDEX, DROPS)
    weak = Blame(Stage.UPDATE, Cause.OPTIMIZER_EPS, DROPS, measured=1e-7, limit=1e-4)
    latent = Blame(Stage.LOSS, Cause.LOSS, DROPS, latent=True, measured=0.5, limit=1e-4)
    answer = result(paired(built, weak, latent))
    assert answer.exit == 0
    assert {one.conclusion for one in answer.findings} == {"suspect"}


def test_a_dropout_that_drops_otherwise_is_found_though_no_one_edit_confirms_it() -> None:
    drops = Blame(Stage.FORWARD, Cause.DROPOUT, DROPS, "net", measured=0.4, limit=0.1, left=0.25)
    assert result(paired(drops)).exit == 1
    assert result(paired(replace(drops, measured=0.11))).exit == 0


def test_a_curve_belongs_to_the_only_cause_or_to_none_of_several() -> None:
    assert numbers(grouped([eps("a", 3), curve()]))["unknown@"] == 1
    several = grouped([eps("a", 3), eps("b", 4, value=1e-6), curve()])
    assert numbers(several)["unknown@"] is None
    assert [one.stage for one in several.common] == [Stage.CURVE]
    assert [one.because for one in result(paired(eps("a", 3), eps("b", 4, value=1e-6), curve())).findings] == [
        None,
        None,
        "pr.05",
    ]


def test_json_keeps_a_finding_for_each_line_and_the_conclusion_counts_causes() -> None:
    answer = result(paired(eps("a", 3), eps("b", 7), eps("c", 9, value=1e-6)))
    assert [one.extra["group"] for one in answer.findings] == [1, 1, 2]
    assert answer.conclusion.text("en") == "p:Net differs from b:Net: 2 causes, all confirmed"
    assert answer.conclusion.text("zh") == "p:Net 与 b:Net 不一致：共 2 处原因，均已验证"


def shown(page: Report) -> list[str]:
    return [fact.text("en") for fact in page.answers[0].facts]


def test_a_reader_sees_both_sides_lines_the_edit_and_the_numbers_before_and_after() -> None:
    (answer,) = report(paired(eps("a", 3), eps("b", 7, measured=0.5))).answers
    assert answer.said.text("en") == "nn.BatchNorm2d: eps=0.001; benchmark: eps=1e-05"
    assert [dict(place.files) for place in answer.places] == [{"net.py": [3, 7]}, {"bench.py": [3, 7]}]
    assert answer.edit is not None and answer.edit.text("en") == "pass eps=1e-05 to nn.BatchNorm2d"
    assert [fact.text("en") for fact in answer.facts] == [
        "relative error 0.5 -> 1e-07 (allowed 1e-05)",
        "2 modules, first a",
    ]


def drawn(module: str, line: int, *names: str) -> Blame:
    words = {"kind": "conv bias", "bench": "0", "port": "uniform"}
    return Blame(
        *(Stage.INITIAL, Cause.INITIAL, message("pair_update.initial_differs", count=len(names), names="", **words)),
        module=module,
        bench={"constant": 0.0},
        port={"mean": 0.0, "std": 0.1, "shape": "uniform"},
        confirmed=True,
        line=Location("net.py", line),
        other_line=Location("bench.py", line),
        edit=message("pair_update.edit_initial", how="Constant(0)"),
        evidence=names,
        general=message("pair_update.initial_any", **words),
    )


def test_parameters_of_one_kind_drawn_by_one_rule_are_one_cause_whatever_lines_build_them() -> None:
    page = report(paired(drawn("a", 3, "a.bias", "b.bias"), drawn("c", 9, "c.bias")))
    (answer,) = page.answers
    assert dict(answer.places[0].files) == {"net.py": [3, 9]}
    assert answer.said.text("en") == "initialisation of conv bias: uniform; benchmark: 0"
    assert shown(page) == ["mean 0, std 0.1; all 0 in the benchmark", "3 parameters, first a.bias"]


DROPS = message("pair_stage.drops", module="net", port="0.2", bench="0.1")
LIKE = {"confirmed": True, "line": Location("net.py", 3)}


@pytest.mark.parametrize(
    ("blame", "told"),
    [
        (
            Blame(Stage.FORWARD, Cause.DROPOUT, DROPS, "net", measured=0.25, limit=0.11, left=0.111, **LIKE),
            "variance added by dropout 0.25 -> 0.11; 0.11 in the benchmark",
        ),
        (
            Blame(
                *(Stage.INITIAL, Cause.INITIAL, DROPS, "net"),
                bench={"constant": 1.0},
                port={"mean": 0.0, "std": 0.02, "shape": "normal"},
                **LIKE,
            ),
            "mean 0, std 0.02; all 1 in the benchmark",
        ),
        (
            Blame(Stage.FORWARD, Cause.RESIDUAL, DROPS, "net", measured=1.25, limit=2e-5, **LIKE),
            "relative error 1.2 -> within rounding (allowed 2e-05)",
        ),
        (
            Blame(Stage.FORWARD, Cause.PADDING, DROPS, "net", measured=float("inf"), limit=2e-5, left=1e-7, **LIKE),
            "relative error inf -> 1e-07 (allowed 2e-05)",
        ),
        (
            Blame(Stage.FORWARD, Cause.UNKNOWN, DROPS, "net", measured=0.5, limit=2e-5),
            "relative error 0.5 (allowed 2e-05)",
        ),
    ],
)
def test_each_kind_of_cause_states_its_own_numbers(blame: Blame, told: str) -> None:
    assert shown(report(paired(blame)))[0] == told


def test_what_only_another_size_shows_says_so_beside_the_modules() -> None:
    sizes = {"equal_at": "2x3x64x64", "differs_at": "2x3x65x65"}
    one = eps("a", 3)
    page = report(paired(replace(one, evidence=[sizes])))
    assert "equal at 2x3x64x64, differs at 2x3x65x65" in shown(page)
