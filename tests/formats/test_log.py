"""Logs as tables, JSON lines and text in odd encodings; a user's own pattern; files that are no logs."""

from __future__ import annotations

import json
import math
import random
import time
from pathlib import Path

import pytest

from trueline.formats.log import looks_like_log, loss_of, read_log
from trueline.model.curve import Curve
from trueline.model.trouble import BadFile, BadUsage


def _read(path: Path, text: str | bytes, pattern: str | None = None) -> dict[str, Curve]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return {curve.name: curve for curve in read_log(path, pattern)}


def _points(curve: Curve) -> list[tuple[int, float]]:
    return list(zip(curve.steps, curve.values, strict=True))


LINES = "".join(f"step {step} loss: 2.{step}\n" for step in (1, 2, 3))
POINTS = [(1, 2.1), (2, 2.2), (3, 2.3)]

NO_LOGS = (
    b"",
    b"no numbers at all\n",
    b"only 12 numbers 13\n",
    random.Random(0).randbytes(5000),
    b"\0" * 5000,
    b"[[[[[[1",
    b'{"a": 1}\n',
    b"{" * 100_000 + b"1",
    b"[" * 200_000 + b"1",
    b'"1\n' * 10,
    b"a,b\n1\n",
    b"loss\n",
    b"loss,step\nx,y\n",
    b"step,loss\n",
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "train.out"


class TestTables:
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|", " ", ", "])
    def test_delimiters(self, log: Path, delimiter: str) -> None:
        rows = [["step", "loss", "lr"], ["10", "2.5", "0.1"], ["20", "nan", "1e-2"]]
        found = _read(log, "\n".join(delimiter.join(row) for row in rows))
        assert list(found) == ["loss", "lr"]
        assert found["loss"].steps == [10, 20]
        assert found["loss"].values == pytest.approx([2.5, math.nan], nan_ok=True)
        assert found["lr"].values == [0.1, 0.01]

    def test_quoted_cells_and_windows_ends(self, log: Path) -> None:
        found = _read(log, '"epoch","note","loss"\r\n"1","a, b","0.5"\r\n"2","c ""d""","0.4"\r\n')
        assert _points(found["loss"]) == [(1, 0.5), (2, 0.4)]

    def test_lightnings_empty_cells(self, log: Path) -> None:
        found = _read(log, "epoch,step,train_loss,val_loss\n0,9,0.5,\n0,19,0.4,\n0,19,,0.9\n1,29,0.3,\n1,39,,0.8\n")
        assert _points(found["loss"]) == [(9, 0.5), (19, 0.4), (29, 0.3)]
        assert _points(found["val_loss"]) == [(19, 0.9), (39, 0.8)]

    def test_tensorboards_export(self, log: Path) -> None:
        found = _read(log, "Wall time,Step,Value\n1700000000.5,0,2.5\n1700000001.5,10,2.25\n")
        assert _points(found["loss"]) == [(0, 2.5), (10, 2.25)]

    def test_weights_and_biases_export(self, log: Path) -> None:
        head = '"Step","my-run-3 - train/loss","my-run-3 - train/loss__MIN","my-run-3 - train/loss__MAX"'
        found = _read(log, head + '\n"0","2.5","2.5","2.5"\n"5","2.0","2.0","2.0"\n')
        assert {name: _points(curve) for name, curve in found.items()} == {"loss": [(0, 2.5), (5, 2.0)]}

    def test_steps_that_begin_again_with_each_epoch(self, log: Path) -> None:
        found = _read(log, "epoch,batch,loss\n" + "".join(f"{e},{b},{e}.{b}\n" for e in (0, 1, 2) for b in (0, 1, 2)))
        assert found["loss"].steps == list(range(9))

    def test_numbers_alone(self, log: Path) -> None:
        assert _points(_read(log, "2.5\n2.25\n2.0\n")["loss"]) == [(0, 2.5), (1, 2.25), (2, 2.0)]
        assert _points(_read(log, "0,2.5\n100,2.25\n")["loss"]) == [(0, 2.5), (100, 2.25)]


class TestJson:
    def test_lines(self, log: Path) -> None:
        rows = [{"global_step": step, "loss": 2.5 - step / 100, "lr": 0.1, "note": "x"} for step in (0, 10, 20)]
        found = _read(log, "\n".join(map(json.dumps, rows)))
        assert _points(found["loss"]) == [(0, 2.5), (10, 2.4), (20, 2.3)]
        assert found["lr"].values == [0.1, 0.1, 0.1]

    def test_nested_once(self, log: Path) -> None:
        rows = [{"iteration": step, "train": {"loss": step / 2}, "val": {"loss": 9.0}} for step in (1, 2)]
        found = _read(log, "\n".join(map(json.dumps, rows)))
        assert _points(found["loss"]) == [(1, 0.5), (2, 1.0)]
        assert found["val_loss"].values == [9.0, 9.0]

    def test_words_and_constants_for_what_is_not_finite(self, log: Path) -> None:
        found = _read(log, '{"step": 0, "loss": NaN}\n{"step": 1, "loss": "inf"}\n{"step": 2, "loss": -Infinity}\n')
        assert found["loss"].values == pytest.approx([math.nan, math.inf, -math.inf], nan_ok=True)

    def test_mode_tells_evaluation(self, log: Path) -> None:
        found = _read(log, '{"mode": "train", "iter": 5, "loss": 1.5}\n{"mode": "val", "iter": 5, "loss": 2.5}\n')
        assert (found["loss"].values, found["val_loss"].values) == ([1.5], [2.5])

    def test_a_line_cut_short_is_passed_over(self, log: Path) -> None:
        found = _read(log, '{"step": 0, "loss": 1.5}\n{"step": 1, "loss": 1.25}\n{"step": 2, "lo')
        assert _points(found["loss"]) == [(0, 1.5), (1, 1.25)]

    def test_hugging_faces_state(self, log: Path) -> None:
        history = [{"epoch": 0.5, "step": 10, "loss": 2.5}, {"epoch": 1.0, "step": 20, "loss": 2.0}, {"eval_loss": 3.0}]
        found = _read(log, json.dumps({"best_metric": None, "log_history": history}, indent=2))
        assert _points(found["loss"]) == [(10, 2.5), (20, 2.0)]

    def test_settings_before_a_text_log(self, log: Path) -> None:
        assert _points(_read(log, '{"lr": 0.1, "steps": 100}\n' + LINES)["loss"]) == POINTS


class TestText:
    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "gbk"])
    def test_encodings(self, log: Path, encoding: str) -> None:
        text = "训练开始\n" + "".join(f"第 {step} 步 损失：2.{step}\n" for step in (1, 2, 3))
        if encoding.startswith("utf-16-"):
            text = LINES
        assert _points(_read(log, text.encode(encoding))["loss"]) == POINTS

    def test_bytes_of_no_encoding(self, log: Path) -> None:
        lines = b"".join(b"\xff\xfe\x80 step %d loss: 2.%d \xc3\n" % (step, step) for step in (1, 2, 3))
        assert _points(_read(log, b"start\n" + lines)["loss"]) == POINTS

    def test_other_scalars(self, log: Path) -> None:
        line = "step {0} | loss 2.{0} | learning rate: 1e-3 | grad norm: 0.5 | accuracy: 0.9 | loss scale: 1024\n"
        found = _read(log, "".join(line.format(step) for step in (1, 2, 3)))
        assert set(found) == {"loss", "lr", "grad_norm", "acc", "loss_scale"}
        assert found["lr"].values == [0.001] * 3

    def test_evaluation_is_kept_apart(self, log: Path) -> None:
        found = _read(log, LINES + "Validation: step 3 loss: 7.5\n" + "Test set: average loss: 6.5\n")
        assert _points(found["loss"]) == POINTS
        assert found["val_loss"].values == [7.5]

    def test_settings_are_no_curve(self, log: Path) -> None:
        head = (
            "Namespace(batch_size=32, total_steps=100, loss_weight=0.5)\nmax_steps: 7, best loss: 0.1\nloss.py:31 ok\n"
        )
        assert list(_read(log, head + LINES)) == ["loss"]

    def test_a_resumed_training_goes_over_its_steps_again(self, log: Path) -> None:
        lines = [(0, 9), (1, 8), (2, 7), (3, 6), (2, 5), (3, 4), (4, 3)]
        found = _read(log, "".join(f"step {step} loss {value}\n" for step, value in lines))
        assert _points(found["loss"]) == [(0, 9), (1, 8), (2, 5), (3, 4), (4, 3)]

    def test_lines_whose_numbers_move_are_read_as_the_first_ones(self, log: Path) -> None:
        text = LINES + "step 4 loss: \nstep x5 loss: 2.4\nstep 5 loss: 2.5e-1\nstep 6 loss: 2.6 .\n"
        assert _points(_read(log, text)["loss"])[-1] == (6, 2.6)
        assert (5, 0.25) in _points(_read(log, text)["loss"])

    def test_a_very_long_line_is_cut(self, log: Path) -> None:
        found = _read(
            log, "step 1 loss: 2.1\n" + "loss step epoch " * 500_000 + "\nstep 2 loss: 2.2\n" + "7" * 5_000_000
        )
        assert _points(found["loss"]) == POINTS[:2]

    @pytest.mark.parametrize("unit", ["loss ", "a.", "1/", "[1", "第", "rank ", "loss: ", "1.2.3-4e", "Epoch [1/"])
    def test_time_grows_with_the_size_alone(self, log: Path, unit: str) -> None:
        started = time.process_time()
        _read(log, LINES + (unit * (16_000 // len(unit)) + "\n") * 40)
        assert time.process_time() - started < 5

    def test_many_lines_are_quick(self, log: Path) -> None:
        count = 100_000
        log.write_text("".join(f"epoch: 1 step: {step}, loss is {step / 7:.6f}\n" for step in range(count)))
        started = time.process_time()
        [loss] = read_log(log)
        # About 0.3 s; far more means that every line is looked at closely.
        assert time.process_time() - started < 3
        assert len(loss) == count


class TestPattern:
    def test_own_groups(self, log: Path) -> None:
        text = "t=1 L<0.5> q 7\nt=2 L<nan> q 8\nother\nt=3 L<oops> q 9\n"
        found = _read(log, text, r"t=(?P<step>\d+) L<(?P<loss>[^>]+)> q (?P<queue>\d+)")
        assert found["loss"].steps == [1, 2]
        assert found["queue"].values == [7.0, 8.0, 9.0]

    def test_without_a_step_lines_are_counted(self, log: Path) -> None:
        assert _points(_read(log, "x 5\nx 4\n", r"x (?P<loss>\S+)")["loss"]) == [(0, 5.0), (1, 4.0)]

    @pytest.mark.parametrize("pattern", ["(", "(?P<loss>", "[", "loss (.*)", "(?P<step>.*)", ""])
    def test_bad_ones_are_told(self, log: Path, pattern: str) -> None:
        with pytest.raises(BadUsage, match="--pattern") as caught:
            _read(log, LINES, pattern)
        assert "\n" not in str(caught.value)

    def test_nothing_found_is_told(self, log: Path) -> None:
        with pytest.raises(BadFile, match="--pattern"):
            _read(log, LINES, r"nowhere (?P<loss>\d+)")


class TestFaults:
    @pytest.mark.parametrize("number", range(len(NO_LOGS)))
    def test_no_loss_is_one_clear_line(self, log: Path, number: int) -> None:
        with pytest.raises(BadFile) as caught:
            _read(log, NO_LOGS[number])
        assert str(log) in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_the_way_out_is_named(self, log: Path) -> None:
        with pytest.raises(BadFile, match="--pattern"):
            _read(log, "value 12\nvalue 11\n")

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(BadFile):
            read_log(tmp_path / "nowhere.log")
        with pytest.raises(BadFile):
            read_log(tmp_path)

    @pytest.mark.parametrize("number", ["9" * 400, "1" + "0" * 17, "99999999999999"])
    def test_steps_beyond_reason(self, log: Path, number: str) -> None:
        text = "".join(f"epoch {number} step {step} loss 2.5\nepoch 1 step {number} loss 2.0\n" for step in (1, 2, 3))
        assert _read(log, text)["loss"].values


def test_what_looks_like_a_log(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for content, expected in [
        (LINES.encode(), True),
        (LINES.encode("utf-16"), True),
        (b"words only", False),
        (b"", False),
        (b"\x80\x02}q\x00" + bytes(range(256)) * 4, False),
        ("损失 2.5".encode("gbk"), True),
    ]:
        path.write_bytes(content)
        assert looks_like_log(path) is expected


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (["lr", "val_loss", "loss"], "loss"),
        (["Loss/val", "Loss/train"], "Loss/train"),
        (["eval/loss", "train/loss", "train/loss_epoch"], "train/loss"),
        (["loss_cls", "loss_bbox", "total_loss"], "total_loss"),
        (["loss/total", "loss/aux", "loss/val_total"], "loss/total"),
        (["train_loss_epoch", "train_loss_step"], "train_loss_step"),
        (["trainLoss", "valLoss"], "trainLoss"),
        (["loss_scale", "lm loss"], "lm loss"),
        (["accuracy", "test_loss"], "test_loss"),
        (["loss_avg", "loss"], "loss"),
        (["nll_loss", "acc"], "nll_loss"),
        (["训练损失", "验证损失"], "训练损失"),
        (["accuracy", "lr", "loss_scale"], None),
        ([], None),
    ],
)
def test_the_training_loss_among_many(names: list[str], chosen: str | None) -> None:
    found = loss_of([Curve(name, [0, 1], [1.0, 0.5]) for name in names])
    assert (found.name if found is not None else None) == chosen
