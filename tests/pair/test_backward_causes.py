"""Gradients that part where all values agree, on the real frameworks: stopped, scaled, or written wrongly."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pair.gradient_sides import INPUT, NAMES, PORTS, block_call, marked_line

from trueline.locale import LANGUAGES
from trueline.pair.backward.block_gradients import gradients_between
from trueline.pair.backward.causes import backward_causes
from trueline.pair.backward.custom_backward import custom_backward_causes
from trueline.pair.backward.slopes import check_custom_backward
from trueline.pair.blame import Blame, Cause, Stage
from trueline.pair.ops.op_level import BlockCall
from trueline.pair.sides.side import Side

BLOCKS = ("plain", "stopped", "ungraded", "numpy", "half", "twice", "line", "ties", "turning", "wanted")
SAME = {name: name for name in NAMES}


@pytest.fixture(scope="module")
def bench(gradient_side: Callable[[str], Side]) -> Side:
    return gradient_side("torch_nets:bench")


@pytest.fixture(scope="module", params=PORTS)
def entry(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def port(gradient_side: Callable[[str], Side], entry: str) -> Side:
    return gradient_side(entry)


@pytest.fixture(scope="module")
def blamed(bench: Side, port: Side) -> dict[str, list[Blame]]:
    """What is said of each block, all asked for at once."""
    blocks = [block_call(name) for name in BLOCKS]
    blocks += [block_call("plain", train=False), BlockCall("cube", "cube", [INPUT], train=True)]
    found = backward_causes(bench, port, blocks, inputs=[INPUT], counterparts={})
    return {name: [one for one in found if one.module == name] for name in (*BLOCKS, "cube")}


@pytest.fixture(scope="module")
def customs(bench: Side, port: Side) -> dict[str, Blame]:
    return {one.module: one for one in custom_backward_causes(bench, port, [INPUT], SAME)}


def _only(found: list[Blame]) -> Blame:
    (one,) = found
    assert one.stage is Stage.BACKWARD
    assert all("{" not in one.message.text(lang) for lang in LANGUAGES)
    return one


def test_a_block_with_the_same_gradients_is_not_blamed(blamed: dict[str, list[Blame]]) -> None:
    assert blamed["plain"] == []


@pytest.mark.parametrize("name", ["stopped", "ungraded"])
def test_what_stops_a_gradient_is_found_with_its_line_and_confirmed(
    blamed: dict[str, list[Blame]], entry: str, name: str
) -> None:
    found = _only(blamed[name])
    assert (found.cause, found.confirmed) == (Cause.DETACHED, True)
    assert found.line is not None
    assert (found.line.file, found.line.line) == marked_line(entry, name)
    assert found.left is not None and found.limit is not None and found.measured is not None
    assert found.left <= found.limit < found.measured
    assert found.measured is not None and found.limit is not None and found.measured > found.limit
    assert found.edit is not None


def test_a_gradient_that_is_lost_in_numpy_is_named_and_not_confirmed(blamed: dict[str, list[Blame]]) -> None:
    found = _only(blamed["numpy"])
    assert (found.cause, found.confirmed) == (Cause.DETACHED, False)
    assert found.line is not None


def test_half_a_stopped_gradient_is_a_stopped_one(blamed: dict[str, list[Blame]]) -> None:
    found = _only(blamed["half"])
    assert (found.cause, found.confirmed) == (Cause.DETACHED, True)


def test_a_stop_beside_one_that_both_sides_have_is_found(blamed: dict[str, list[Blame]], entry: str) -> None:
    found = _only(blamed["twice"])
    assert (found.cause, found.confirmed) == (Cause.DETACHED, True)
    assert found.line is not None
    assert (found.line.file, found.line.line) == marked_line(entry, "another stop")


def test_one_of_two_stops_on_a_line_that_the_port_lacks_is_found(blamed: dict[str, list[Blame]], entry: str) -> None:
    found = _only(blamed["line"])
    assert (found.cause, found.confirmed) == (Cause.DETACHED, True)
    assert found.line is not None and found.other_line is not None
    assert (found.line.file, found.line.line) == marked_line(entry, "one stop")
    assert (found.other_line.file, found.other_line.line) == marked_line("torch_nets", "two stops")


def test_another_choice_among_equal_values_is_not_blamed(blamed: dict[str, list[Blame]]) -> None:
    assert blamed["ties"] == []


def test_a_stop_that_only_the_benchmark_has_is_missed_where_the_port_takes_the_value(
    blamed: dict[str, list[Blame]], entry: str
) -> None:
    found = _only(blamed["wanted"])
    assert (found.cause, found.confirmed) == (Cause.DETACHED, True)
    assert found.line is not None and found.other_line is not None
    assert (found.line.file, found.line.line) == marked_line(entry, "taken")
    assert (found.other_line.file, found.other_line.line) == marked_line("torch_nets", "stopped")


def test_a_gradient_turned_round_is_a_factor_of_minus_one(blamed: dict[str, list[Blame]]) -> None:
    found = _only(blamed["turning"])
    assert (found.cause, found.confirmed) == (Cause.CUSTOM_BACKWARD, True)
    assert found.port == pytest.approx(-1.0, abs=1e-4)
    assert found.line is not None


def test_a_layer_with_half_the_gradient_is_blamed_by_itself(blamed: dict[str, list[Blame]], entry: str) -> None:
    found = _only(blamed["cube"])
    assert (found.cause, found.confirmed) == (Cause.CUSTOM_BACKWARD, True)
    assert found.port == pytest.approx(0.5, rel=1e-3)
    assert found.line is not None
    assert (found.line.file, found.line.line) == marked_line(entry, "wrong backward")


def test_finite_differences_say_which_side_s_backward_is_wrong(customs: dict[str, Blame], entry: str) -> None:
    found = customs["cube"]
    assert (found.cause, found.confirmed) == (Cause.CUSTOM_BACKWARD, True)
    assert found.port == pytest.approx(0.5, rel=1e-2)
    assert found.line is not None
    assert (found.line.file, found.line.line) == marked_line(entry, "wrong backward")


def test_a_backward_that_only_the_benchmark_changes_on_purpose_is_missed(customs: dict[str, Blame]) -> None:
    assert customs["turn"].bench == pytest.approx(-1.0, rel=1e-2)
    assert customs["turn"].other_line is not None


def test_right_backwards_and_those_that_are_alike_on_both_sides_are_not_blamed(customs: dict[str, Blame]) -> None:
    assert not {"right", "purpose", "plain"} & set(customs)


def test_every_backward_of_the_user_s_own_is_checked_though_nothing_differs(bench: Side) -> None:
    found = {one.path: one for one in check_custom_backward(bench, [INPUT])}
    assert set(found) == {"cube", "turn", "purpose", "right"}
    assert not found["cube"].wrong and not found["right"].wrong
    assert found["turn"].wrong == {"in/0": pytest.approx(-1.0, rel=1e-3)}
    assert {slopes.dtype for slopes in found["right"].slopes} == {"float64"}


def test_a_side_is_afterwards_as_it_was(port: Side) -> None:
    before = port.describe(summaries=True)
    check_custom_backward(port, [INPUT])
    gradients_between(port, [block_call("half")], of_port=True, undo="all")
    assert port.describe(summaries=True) == before
