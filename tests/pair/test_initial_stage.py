"""What both sides draw: the frameworks' equal defaults are silent, another rule is recognised on both sides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from pair.optimizer_parts import PROJECT
from pair.sides import side_of

from trueline.pair.aligning.aligned import align_sides
from trueline.pair.blame import Cause, StageResult, StageVerdict
from trueline.pair.parameters.initial_stage import built_weights, initial_stage
from trueline.pair.sides.side import Side


class Started:
    """Sides by name, each started once."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._sides: dict[str, Side] = {}

    def found(self, bench: str, port: str) -> StageResult:
        there, here = (self._side(f"torch_initial:{bench}"), self._side(f"mindspore_initial:{port}"))
        aligned = align_sides(there.describe(), here.describe())
        return initial_stage(there, here, aligned, built_weights((there, here), (there.describe(), here.describe())))

    def _side(self, text: str) -> Side:
        if text not in self._sides:
            self._sides[text] = self._stack.enter_context(side_of(text, PROJECT))
        return self._sides[text]


@pytest.fixture(scope="module")
def started() -> Iterator[Started]:
    with ExitStack() as stack:
        yield Started(stack)


@pytest.mark.parametrize("name", ["default", "kaiming"])
def test_the_same_initialisation_is_silent(started: Started, name: str) -> None:
    found = started.found(name, name)
    assert [one.message.text("en") for one in found.blames] == []
    assert found.verdict is StageVerdict.PASSED


def test_the_rules_of_both_sides_are_recognised(started: Started) -> None:
    (blame,) = started.found("kaiming", "xavier").blames
    assert blame.cause is Cause.INITIAL
    assert blame.confirmed
    assert set(blame.evidence) == {"stem.weight", "blocks.0.weight", "blocks.1.weight", "blocks.2.weight"}
    text = blame.message.text("en")
    assert "Xavier (Glorot) uniform" in text
    assert "Kaiming (He) normal, std sqrt(2/fan_out)" in text
    assert blame.edit is not None
    assert 'HeNormal(mode="fan_out", nonlinearity="relu")' in blame.edit.text("en")
    assert blame.line is not None and blame.line.file.endswith("mindspore_initial.py")


def test_constants_and_standard_deviations_are_told_apart(started: Started) -> None:
    gamma, dense = sorted(started.found("kaiming", "plain_gamma").blames, key=lambda one: one.module)
    assert (gamma.module, dense.module) == ("bn", "fc")
    assert (gamma.bench, gamma.port) == ({"constant": 0.0}, {"constant": 1.0})
    assert "std 0.02 here" in dense.message.text("en")
    assert "Normal(0.01)" in (dense.edit.text("en") if dense.edit is not None else "")
    assert gamma.message.text("zh") and dense.message.text("zh")


def test_a_default_where_the_benchmark_has_its_own_is_found(started: Started) -> None:
    blames = started.found("kaiming", "default").blames
    assert {one.module for one in blames} == {"stem", "bn", "fc"}
    weights, biases = (
        [one for one in blames if f"conv {role}" in one.message.text("en")] for role in ("weight", "bias")
    )
    assert len(weights) == len(biases) == 1
    assert len(weights[0].evidence) == len(biases[0].evidence) == 4


def test_a_factory_that_fixes_its_own_seed_is_still_judged(started: Started) -> None:
    assert started.found("seeded", "default").verdict is StageVerdict.PASSED


def test_a_ready_made_model_cannot_be_drawn_again(started: Started) -> None:
    found = started.found("READY", "default")
    assert found.verdict is StageVerdict.SKIPPED
    assert "torch_initial:READY" in found.message.text("en")
