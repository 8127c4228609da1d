"""The judge of the table of projects sees a changed number, an added line, a lost step and a false all-clear."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from judgement import wrong
from project import Evidence, Project, Run, keep_evidence, read_evidence, read_plain

FINE: dict[str, Any] = {"steps": 3, "first": None, "findings": [{"message_id": "watch.fine"}], "off": None}
PROJECT = Project("p", "torch", "classifier", Path(), "python", ("train.py",), (3,))
PLAIN = Run(0, "loss 0.25 in 1.0s\nloss 0.5 in 2.0s\n", "train: 50%\r100%\n", {"model.pt": "a", "log": "b"}, 1.0)
AGAIN = dataclasses.replace(PLAIN, out="loss 0.25 in 1.1s\nloss 0.5 in 2.0s\n", files={"model.pt": "a", "log": "c"})
UNDER = dataclasses.replace(
    PLAIN,
    out="loss 0.25 in 3.0s\nloss 0.5 in 4.0s\n",
    err="train: 75%\r100%\ntrueline: 3 training steps recorded\n",
    files={"model.pt": "a", "log": "d"},
    answer=FINE,
)
RIGHT = Evidence((PLAIN, AGAIN), UNDER, UNDER, {"steps": 3})


def watched(**answer: Any) -> Evidence:
    return dataclasses.replace(RIGHT, watch=dataclasses.replace(UNDER, answer=FINE | answer))


def recorded(**change: Any) -> Evidence:
    return dataclasses.replace(RIGHT, run=dataclasses.replace(UNDER, **change))


def test_times_and_progress_that_vary_between_plain_runs_are_not_held_against_it() -> None:
    assert wrong(PROJECT, RIGHT) == []


def test_what_it_changes_is_seen() -> None:
    assert "output changed" in wrong(PROJECT, recorded(out=UNDER.out.replace("0.25", "0.26")))[0]
    assert "lines printed plainly" in wrong(PROJECT, recorded(out=UNDER.out + "more\n"))[0]
    assert "written file changed: model.pt" in wrong(PROJECT, recorded(files={"log": "d"}))[0]
    assert "lines added" in wrong(PROJECT, recorded(err=UNDER.err + "besides.py:1: UserWarning: x\n"))[0]
    assert "exit 1 instead of 0" in wrong(PROJECT, recorded(exit=1))[0]


def test_a_step_too_few_is_no_recording_and_no_all_clear() -> None:
    assert any("2 steps instead of 3" in one for one in wrong(PROJECT, recorded(answer=FINE | {"steps": 2})))
    assert any("FALSE ALL-CLEAR" in one for one in wrong(PROJECT, watched(steps=2)))
    assert any("FALSE ALL-CLEAR" in one for one in wrong(dataclasses.replace(PROJECT, unseen=True), RIGHT))


def test_a_project_that_ends_with_an_error_of_its_own_is_fine_up_to_there() -> None:
    answer = FINE | {"findings": [{"message_id": "watch.script_failed"}]}
    plain, again, under = (dataclasses.replace(one, exit=1) for one in (PLAIN, AGAIN, UNDER))
    failed = Evidence((plain, again), under, dataclasses.replace(under, answer=answer), {"steps": 3})
    assert wrong(PROJECT, failed) == []
    assert wrong(PROJECT, dataclasses.replace(failed, watch=dataclasses.replace(under, answer=answer | {"steps": 2})))


def test_a_project_that_goes_non_finite_must_be_hit() -> None:
    faulty = dataclasses.replace(PROJECT, nan=True)
    hit = dataclasses.replace(RIGHT, watch=dataclasses.replace(UNDER, exit=1, answer={"first": {}, "findings": []}))
    assert wrong(faulty, hit) == []
    assert any("FALSE ALL-CLEAR" in one for one in wrong(faulty, RIGHT))
    assert any("no hit" in one for one in wrong(faulty, watched(findings=[])))


def test_kept_runs_are_judged_again_only_for_the_same_command_and_code(tmp_path: Path) -> None:
    other = dataclasses.replace(PROJECT, argv=("train.py", "--lr", "1"))
    keep_evidence(tmp_path, PROJECT, RIGHT, "one")
    assert read_evidence(tmp_path, PROJECT, "one") == RIGHT
    assert read_evidence(tmp_path, PROJECT, "another") is None
    assert read_evidence(tmp_path, other, "one") is None
    assert read_plain(tmp_path, PROJECT) == RIGHT.plain
    assert read_plain(tmp_path, other) is None


def test_what_a_bar_drew_over_and_how_many_digits_a_fraction_has_are_chance() -> None:
    plain = dataclasses.replace(PLAIN, out="took: 0.2617255926132202\n", err="\r 0%|  | 0/2\r100%|██| 2/2, loss=1\n")
    again = dataclasses.replace(plain, out="took: 8.859871013555676e-05\n")
    under = dataclasses.replace(
        UNDER, out="took: 0.1617\n", err="\r 0%|  | 0/2\r50%|█ | 1/2\r100%|██| 2/2, loss=1\n", files=plain.files
    )
    assert wrong(PROJECT, Evidence((plain, again), under, under, {"steps": 3})) == []


def test_a_line_of_the_log_behind_a_bar_and_the_number_of_a_thread_are_no_change() -> None:
    plain = dataclasses.replace(
        PLAIN, err=" 50%|█ | 1/2 [00:00<00:00, 9it/s]INFO saved\n[W] (9,7f29787bdb80) no cache\n"
    )
    under = dataclasses.replace(
        UNDER, err=" 25%|▌ | 1/4 [00:01<00:00, 3it/s]INFO saved\n[W] (8,7f8498c6db81) no cache\n", files=plain.files
    )
    assert wrong(PROJECT, Evidence((plain, plain), under, under, {"steps": 3})) == []
    lost = dataclasses.replace(under, err="[W] (8,7f8498c6db81) no cache\n")
    assert "lines lost: INFO saved" in wrong(PROJECT, Evidence((plain, plain), lost, under, {"steps": 3}))[0]
