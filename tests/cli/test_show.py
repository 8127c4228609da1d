from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import call, process
from cli.sample_runs import CALLS, MODULES, info, losses, record, step_events

from trueline.cli.cells import columns
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.key import Key
from trueline.model.run import ModuleInfo


@pytest.fixture
def good(tmp_path: Path) -> Path:
    return record(tmp_path / "good", losses(40))


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    return record(tmp_path / "strange", [*losses(20), math.nan, math.inf], strange=True)


def shown(*arguments: str | Path) -> dict[str, Any]:
    answer = call("show", *arguments, "--json")
    assert answer.exit_code == 0, answer.stderr
    found: dict[str, Any] = json.loads(answer.stdout)
    assert (found["schema"], found["verb"]) == ("trueline/1", "show")
    return found


def test_the_conclusion_comes_first(good: Path) -> None:
    first = call("show", good).stdout.splitlines()[0]
    assert first == "good, finished, finished steps: 40; the loss went from 2.5 to 0.050605."


def test_the_loss_and_where_it_was_not_finite(strange: Path) -> None:
    loss = shown(strange)["training"]["loss"]
    assert (loss["first"], loss["last"], loss["non_finite_steps"]) == (2.5, "inf", [20, 21])
    assert loss["min"] == {"step": 19, "value": pytest.approx(losses(20)[-1])}
    assert "first not finite at step 20" in " ".join(call("show", strange).stdout.split())


def test_learning_rate_and_gradient_norm(good: Path) -> None:
    training = shown(good)["training"]
    assert training["lr"]["first"] == 0.1
    assert training["grad_norm"]["first"] == 5.0


def test_the_slowest_step(good: Path) -> None:
    training = shown(good)["training"]
    assert training["slowest"][0] == {"step": 3, "seconds": 2.0}
    assert training["usual_seconds"] == 0.25


def test_events_of_the_first_step_in_order(good: Path) -> None:
    names = [event["event"] for event in shown(good)["first_step"]]
    assert names == ["notice", "batch", "zero_grad", "loss", "backward", "step", "end"]
    page = call("show", good).stdout
    assert "samples=4 (image float32 1x8x8)" in page
    assert page.index("zero_grad") < page.index("optimizer=0 kind=SGD")


def test_parameters_are_counted_once_and_the_forgotten_one_stands_out(good: Path) -> None:
    parameters = shown(good)["parameters"]
    assert parameters["elements"] == 36 + 40 + 10 + 20
    assert parameters["trainable"] == 36 + 40 + 10
    assert parameters["frozen"] == ["embed.weight"]
    assert parameters["shared"] == [{"name": "tied.weight", "with": "fc.weight"}]
    assert parameters["without_optimizer"] == ["fc.bias"]
    marked = [line for line in call("show", good).stdout.splitlines() if line.startswith(">")]
    assert any("fc.bias" in line for line in marked)


def test_notices_are_sentences(good: Path) -> None:
    assert "complex128 does not fit" in shown(good)["notices"][0]["message"]
    assert "未保存" in call("show", good, "--lang", "zh").stdout


def test_the_strangest_tensors_in_their_order(strange: Path) -> None:
    found = [(one["key"], one["why"], one["step"]) for one in shown(strange)["strange"]]
    assert found == [
        ("train/conv1#0/out/0", "non_finite", 4),
        ("train/conv1#0/grad/weight", "zero", 0),
        ("train/fc#0/param/weight", "large", 5),
    ]


def test_a_healthy_run_has_no_strange_tensors(good: Path) -> None:
    assert shown(good)["strange"] == []


def test_modules_in_call_order_with_the_line_that_built_them(good: Path) -> None:
    modules = shown(good)["modules"]
    assert [(one["path"], one["calls"]) for one in modules] == [("", 1), ("conv1", 1), ("fc", 2), ("unused", 0)]
    assert "model.py:11" in call("show", good).stdout


def test_one_step(good: Path) -> None:
    found = shown(good, "--step", "3")
    assert found["stats"][0]["key"] == "train/conv1#0/out/0"
    assert {event["step"] for event in found["events"]} == {3}
    assert "Tensors of step 3" in call("show", good, "--step", "3").stdout


def test_full_tensors_of_a_step_are_summed_up(tmp_path: Path) -> None:
    writer = RankWriter(tmp_path / "run")
    writer.write_info(info())
    tensors = {Key.of("conv1", "out"): np.array([1.0, -3.0, np.nan], np.float32)}
    writer.finish_step(0, "train", step_events(0, 1.0), tensors=tensors)
    writer.close()
    found = shown(tmp_path / "run", "--step", "0")["stats"][0]
    assert (found["min"], found["max"], found["nan"]) == (-3.0, 1.0, 1)
    assert shown(tmp_path / "run")["tensor_steps"] == [0]


@pytest.mark.parametrize("pattern", ["fc", "train/fc#0/param/weight", "*fc*param*"])
def test_tensors_by_pattern(strange: Path, pattern: str) -> None:
    history = shown(strange, "--key", pattern)["history"]
    assert list(history) == ["train/fc#0/param/weight"]
    assert [row["abs_mean"] for row in history["train/fc#0/param/weight"]][4:7] == [1.0, 300.0, 1.0]


def test_a_tensor_that_was_not_finite_stands_out(strange: Path) -> None:
    page = call("show", strange, "--key", "*").stdout
    marked = [line for line in page.splitlines() if line.startswith(">")]
    assert len(marked) == 1
    assert "conv1#0/out" in marked[0]


def test_all_events(good: Path) -> None:
    assert len(shown(good, "--events")["events"]) == 40 * 6 + 1
    page = call("show", good, "--events").stdout
    assert page.count("zero_grad") == 40


def test_ranks(tmp_path: Path) -> None:
    run = record(tmp_path / "run", losses(3), ranks=2, about=info(world=4))
    assert shown(run, "--rank", "1")["rank"] == 1
    assert "2 of 4" in call("show", run).stdout
    answer = call("show", run, "--rank", "3")
    assert answer.exit_code == 2
    assert "there is no rank 3 in this run; there are: 0, 1" in answer.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--step", "99"), "step 99 is not among the 40 finished steps"),
        (("--key", "zzz"), "no tensor fits zzz"),
        (("--rank", "7"), "there is no rank 7"),
    ],
)
def test_what_is_not_there_is_one_line(good: Path, options: tuple[str, ...], words: str) -> None:
    answer = call("show", good, *options)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert words in answer.stderr


def test_a_run_with_nothing_but_its_circumstances(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(json.dumps(info(ended=None).to_json()))
    assert shown(tmp_path / "run")["steps"] == 0
    answer = call("show", tmp_path / "run")
    assert answer.exit_code == 0
    assert "no loss was recorded" in answer.stdout
    assert call("show", tmp_path / "run", "--events").exit_code == 2


def test_a_run_that_was_killed_before_it_said_anything(tmp_path: Path) -> None:
    (tmp_path / "run" / "rank-00000").mkdir(parents=True)
    assert call("show", tmp_path / "run").exit_code == 0


def test_a_killed_run_is_shown_up_to_its_last_finished_step(tmp_path: Path) -> None:
    run = record(tmp_path / "run", losses(10), about=info(ended=None, exit_code=None))
    events = run / "rank-00000" / "events.jsonl"
    lines = events.read_bytes().splitlines(keepends=True)
    events.write_bytes(b"".join(lines[:-3]) + lines[-3][:20])
    assert shown(run)["steps"] == 9


def test_a_run_that_is_still_being_written(tmp_path: Path) -> None:
    writer = RankWriter(tmp_path / "run")
    writer.write_info(info(ended=None, exit_code=None))
    for step, loss in enumerate(losses(6)):
        writer.finish_step(step, "train", step_events(step, loss))
        found = shown(tmp_path / "run")
        assert (found["steps"], found["state"]) == (step + 1, "running")
    writer.close()


@pytest.mark.parametrize("file", ["run.json", "rank-00000/params.json", "rank-00000/modules.json"])
def test_a_corrupt_file_is_one_line(good: Path, file: str) -> None:
    (good / file).write_bytes(b"\xff\x00{")
    answer = call("show", good)
    assert (answer.exit_code, answer.stdout) == (2, "")
    assert answer.stderr.count("\n") == 1
    assert Path(file).name in answer.stderr


def test_not_a_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("hello")
    for place in (tmp_path, tmp_path / "file"):
        answer = call("show", place)
        assert (answer.exit_code, answer.stdout) == (2, "")
        assert answer.stderr.count("\n") == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_word_is_in_the_language(strange: Path, lang: str) -> None:
    for options in ((), ("--step", "3"), ("--key", "*"), ("--events",)):
        page = call("show", strange, *options, "--lang", lang).stdout
        assert "show." not in page
        assert "runs." not in page
        chinese = any("\u4e00" <= character <= "\u9fff" for character in page)
        assert chinese == (lang == "zh")


def test_eighty_columns_are_enough(strange: Path) -> None:
    for lang in ("en", "zh"):
        for options in ((), ("--step", "3"), ("--key", "*"), ("--events",)):
            page = call("show", strange, *options, "--lang", lang, COLUMNS="80").stdout
            assert max(columns(line) for line in page.splitlines()) <= 80


def test_json_is_all_there_is_on_stdout_in_any_encoding(good: Path) -> None:
    plain = process("show", good, "--json", "--lang", "zh")
    assert plain.stderr == ""
    old = process("show", good, "--json", "--lang", "zh", PYTHONIOENCODING="ascii")
    assert old.stdout.isascii()
    assert json.loads(old.stdout) == json.loads(plain.stdout)


def test_a_terminal_without_unicode_gets_ascii(good: Path) -> None:
    answer = process("show", good, PYTHONIOENCODING="ascii")
    assert answer.returncode == 0
    assert answer.stdout.isascii()
    assert "\\u" not in answer.stdout


def test_chinese_on_a_terminal_without_it_is_no_crash(good: Path) -> None:
    for arguments in (("show", good), ("show", "--help"), ("show", good, "--rank", "9")):
        answer = process(*arguments, "--lang", "zh", PYTHONIOENCODING="ascii")
        assert answer.returncode in (0, 2)
        assert "internal" not in answer.stderr
        assert "\\u" in answer.stdout + answer.stderr


def test_names_in_a_run_cannot_steer_the_terminal(tmp_path: Path) -> None:
    run = record(tmp_path / "run", losses(3))
    writer = RankWriter(tmp_path / "other")
    writer.write_info(info(argv=["\x1b]0;owned\x07.py"]))
    writer.write_modules([ModuleInfo("\x1b[31mred", "\u202eteN"), *MODULES], CALLS)
    writer.close()
    page = call("show", tmp_path / "other").stdout
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "\\x1b[31mred" in page
    assert "\x1b" not in call("show", run).stdout
