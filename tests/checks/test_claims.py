"""Items claim what differs between two scripts: each difference once, and in whatever order the differences come."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueline.checks.bench_script.claim import broken_items
from trueline.checks.engine.listing import all_claims
from trueline.script.diff.classification import classified_in, classify
from trueline.script.diff.comparing import compared
from trueline.script.diff.subject import Subject
from trueline.script.diff.surroundings import Surroundings
from trueline.script.script import read_script

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


@cache
def around(name: str, folder: Path) -> Surroundings:
    copied = shutil.copytree(PROJECTS / name, folder / name)
    text = (copied / "train.py").read_text("utf-8")
    for before, after in FAULTS[name]:
        assert before in text
        text = text.replace(before, after, 1)
    (copied / "train.py").write_text(text, "utf-8")
    script, bench = (read_script([path / "train.py"]) for path in (copied, PROJECTS / name))
    return Surroundings(compared(script, bench))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults")


@pytest.mark.parametrize("name", FAULTS)
@given(data=st.data())
def test_the_order_of_differences_changes_no_answer(name: str, folder: Path, data: st.DataObject) -> None:
    both = around(name, folder)
    expected = broken_items(classified_in(both.found, both), all_claims())
    assert len({one.code for one in expected}) > 2
    permuted = data.draw(st.permutations(both.found))
    assert broken_items(classified_in(permuted, both), all_claims()) == expected


def test_a_schedule_that_is_shorter_with_the_training_is_no_fault_of_its_own(folder: Path) -> None:
    both = around("torch/fp16_scaler", folder)
    codes = {one.code for one in broken_items(classified_in(both.found, both), all_claims())}
    assert "hp.02" in codes and "tr.04" not in codes


@pytest.mark.parametrize("name", FAULTS)
def test_no_two_differences_stand_at_one_position(name: str, folder: Path) -> None:
    both = around(name, folder)
    assert len({one.position for one in both.found}) == len(both.found)


@pytest.mark.parametrize("name", FAULTS)
def test_a_difference_has_one_subject_however_often_it_is_asked_for(name: str, folder: Path) -> None:
    both = around(name, folder)
    subjects = [classify(one, both) for one in both.found]
    assert [classify(one, both) for one in reversed(both.found)] == subjects[::-1]
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
