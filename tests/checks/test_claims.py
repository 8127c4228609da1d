"""Items claim what differs between two scripts: each difference once, and in whatever order the differences come."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trueline.checks.bench_script.claim import broken_items
from trueline.checks.engine.listing import all_checks, all_claims
from trueline.checks.engine.placing import placed
from trueline.checks.engine.roots import with_roots
from trueline.checks.engine.running import ask_all
from trueline.checks.engine.sources import Sources
from trueline.model.finding import MEASURING, MEASURING_BOTH, PLACING, READING, READING_BOTH, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message
from trueline.script.diff.classification import classified_in, classify
from trueline.script.diff.comparing import compared
from trueline.script.diff.subject import Subject
from trueline.script.diff.surroundings import Surroundings
from trueline.script.script import read_script

# How long a busy machine takes says nothing.
UNHURRIED = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
PROJECTS = Path(__file__).parent.parent / "eval" / "checked" / "projects"
# Several faults in one script, some of them on one line and some that change who claims another.
FAULTS = {
    "torch/flat_blobs": [
        ("nn.Dropout(0.1)", "nn.Dropout(0.9)"),
        ("    nn.ReLU(),\n", ""),
        ("lr=0.02, momentum=0.9", "lr=0.2, momentum=0.1"),
        ("EPOCHS = 4", "EPOCHS = 1"),
        ("BATCH = 32", "BATCH = 256"),
        ("x_val = (x_val - mu) / sigma", "x_val = x_val"),
        ("torch.softmax(out, dim=1)", "torch.softmax(out, dim=0)"),
        ("points[:800], labels[:800]", "points[:600], labels[:600]"),
        ("shuffle=True", "shuffle=False"),
    ],
    "mindspore/blob_mlp_flat": [
        ("nn.Dropout(p=0.1)", "nn.Dropout(p=0.6)"),
        ("    nn.ReLU(),\n", ""),
        ("learning_rate=0.1", "learning_rate=2.5"),
        ("BS, EPOCHS = 5, 8, 32, 3", "BS, EPOCHS = 5, 8, 512, 30"),
        ("return loss_fn(logits, y), logits", "return loss_fn(ops.stop_gradient(logits), y), logits"),
    ],
    "torch/fp16_scaler": [
        # The length of the schedule is counted from the epochs, on the same line.
        ("epochs: int = 3", "epochs: int = 1"),
        ("lr: float = 2e-3", "lr: float = 2e-1"),
        ("shuffle=True", "shuffle=False"),
        ("        nn.ReLU(),\n", ""),
    ],
}  # fmt: skip


def read(name: str, folder: Path) -> Surroundings:
    copied = shutil.copytree(PROJECTS / name, folder / name)
    text = (copied / "train.py").read_text("utf-8")
    for before, after in FAULTS[name]:
        assert before in text
        text = text.replace(before, after, 1)
    (copied / "train.py").write_text(text, "utf-8")
    script, bench = (read_script([path / "train.py"]) for path in (copied, PROJECTS / name))
    return Surroundings(compared(script, bench))


@pytest.fixture(scope="module", params=FAULTS)
def around(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Surroundings:
    return read(request.param, tmp_path_factory.mktemp("faults"))


@pytest.fixture(scope="module")
def answers(around: Surroundings) -> list[Finding]:
    ways = [way for way in all_checks() if set(way.evidence) <= {"script", "bench_script"}]
    return ask_all(ways, {"script": around.mine.script, "bench_script": around.bench.script})


@UNHURRIED
@given(data=st.data())
def test_the_order_of_differences_changes_no_answer(around: Surroundings, data: st.DataObject) -> None:
    expected = broken_items(classified_in(around.found, around), all_claims())
    assert len({one.code for one in expected}) > 2
    permuted = data.draw(st.permutations(around.found))
    assert broken_items(classified_in(permuted, around), all_claims()) == expected


def test_a_schedule_that_is_shorter_with_the_training_is_no_fault_of_its_own(tmp_path: Path) -> None:
    around = read("torch/fp16_scaler", tmp_path)
    codes = {one.code for one in broken_items(classified_in(around.found, around), all_claims())}
    assert "hp.02" in codes and "tr.04" not in codes


def told(findings: Sequence[Finding]) -> list[str]:
    """Each finding as text, with what it follows from, in an order of its own."""
    faults = with_roots(placed(findings, Sources()))
    return sorted(json.dumps(one.to_json("en"), sort_keys=True) for one in faults)


@UNHURRIED
@given(data=st.data())
def test_the_order_of_findings_changes_neither_them_nor_their_roots(
    answers: list[Finding], data: st.DataObject
) -> None:
    assert told(data.draw(st.permutations(answers))) == told(answers)


WAYS = [READING, READING_BOTH, PLACING, MEASURING_BOTH, *MEASURING]
SIGHTINGS = st.builds(
    lambda code, way, conclusion, line, step, said: Finding(
        code,
        conclusion,
        Message(said),
        where=Location("train.py" if line else "", line, step=step),
        seen_by=(way,),
    ),
    st.sampled_from(("ds.01", "mp.01", "hp.01", "cg.03", "tr.13")),
    st.sampled_from(WAYS),
    st.sampled_from((Conclusion.FOUND, Conclusion.SUSPECT)),
    st.sampled_from((0, 5, 7)),
    st.sampled_from((None, 0, 3)),
    st.sampled_from(("ds_01.no_batches", "bench_script.nothing")),
)


@UNHURRIED
@given(st.lists(SIGHTINGS, max_size=8).flatmap(lambda found: st.tuples(st.just(found), st.permutations(found))))
def test_whatever_was_seen_its_order_changes_no_answer(both: tuple[list[Finding], list[Finding]]) -> None:
    findings, permuted = both
    assert told(permuted) == told(findings)


def test_no_two_differences_stand_at_one_position(around: Surroundings) -> None:
    assert len({one.position for one in around.found}) == len(around.found)


def test_a_difference_has_one_subject_however_often_it_is_asked_for(around: Surroundings) -> None:
    subjects = [classify(one, around) for one in around.found]
    assert [classify(one, around) for one in reversed(around.found)] == subjects[::-1]
    assert any(subjects)


@pytest.mark.parametrize("subject", Subject)
def test_every_subject_is_claimed_by_an_item(subject: Subject) -> None:
    assert any(claim.subject is subject for claims in all_claims().values() for claim in claims)


@given(st.sampled_from(Subject), st.frozensets(st.sampled_from(Subject)))
def test_a_difference_is_left_to_one_item_whatever_else_differs(subject: Subject, others: frozenset[Subject]) -> None:
    holding = [
        code
        for code, claims in all_claims().items()
        for claim in claims
        if claim.subject is subject and claim.holds_beside(others | {subject})
    ]
    assert len(holding) <= 1
