"""The first number in a dump that is not finite."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueline.model.finding import Certainty, Conclusion
from trueline.model.trouble import Trouble
from trueline.watch.dump import DumpWatch, watch_dump

_PROGRAM = Path(__file__).with_name("ms_dumping_division.py")
_MSPROBE = Path(__file__).resolve().parents[1] / "formats" / "msprobe"
NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("real")
    done = subprocess.run(
        [sys.executable, str(_PROGRAM), str(folder), "0"],
        cwd=folder,
        env={**os.environ, "GLOG_v": "3"},
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    losses = [float(one) for one in json.loads(done.stdout.rpartition("\nRESULT")[2])]
    assert [math.isfinite(one) for one in losses] == [True, True, False]
    return folder / "dump"


def test_a_division_by_zero_is_found_in_its_own_step_though_the_loss_shows_nothing(real: Path) -> None:
    watch = watch_dump(real)
    first = watch.first
    assert first is not None
    assert (first.step, first.rank, first.part, first.op, first.module) == (1, 0, "forward", "Div", "ratio")
    assert (first.kind, first.origin, first.cause.id) == ("inf", True, "division_by_zero")
    assert [one.summary.zeros for one in first.inputs] == [0, 1]
    assert [one.summary.non_finite for one in first.outputs] == [1]
    assert 0 < first.after_bad < first.after
    found = watch.finding()
    assert (found.code, found.conclusion, found.certainty) == ("nf.01", Conclusion.FOUND, Certainty.LIKELY)
    for lang in ("en", "zh"):
        shape = found.to_json(lang)
        assert "ratio-Ratio/Div-op0" in shape["message"] and "{" not in shape["message"] + shape["advice"]
    json.dumps(first.to_json())


def test_one_iteration_of_a_dump_is_looked_at_alone(real: Path) -> None:
    network = real / "rank_0" / "Net" / "0"
    assert watch_dump(network / "0").first is None
    later = watch_dump(network / "2").first
    assert later is not None
    assert (later.step, later.origin, later.cause.id) == (2, False, "bad_input")
    assert watch_dump(network).first == watch_dump(real).first


def test_without_its_listings_it_is_still_found(real: Path, tmp_path: Path) -> None:
    shutil.copytree(real, tmp_path / "dump")
    shutil.rmtree(tmp_path / "dump" / "rank_0" / "execution_order")
    shutil.rmtree(tmp_path / "dump" / "rank_0" / "graphs", ignore_errors=True)
    first = watch_dump(tmp_path / "dump").first
    assert first is not None
    assert (first.step, first.op, first.cause.id) == (1, "Div", "division_by_zero")


def test_a_damaged_dump_is_one_clear_line(real: Path, tmp_path: Path) -> None:
    files = sorted((real / "rank_0" / "Net" / "0" / "0").glob("*.npy"))[::7]
    for at, path in enumerate(files):
        copy = tmp_path / str(at)
        shutil.copytree(real, copy)
        target = copy / path.relative_to(real)
        target.chmod(0o600)
        target.write_bytes(path.read_bytes()[: 40 * (at % 3)])
        with pytest.raises(Trouble) as caught:
            watch_dump(copy)
        assert "\n" not in str(caught.value) and path.name in str(caught.value)


# Dumps as other devices write them.


def _dump(
    root: Path,
    ops: Sequence[tuple[str, str, tuple[int, int, int], Sequence[Any], Sequence[Any]]],
    order: Sequence[str] = (),
    step: int = 0,
) -> Path:
    """A folder of (operator, scope, (task, stream, time), inputs, outputs)."""
    folder = root / "rank_0" / "Net" / "0" / str(step)
    folder.mkdir(parents=True)
    listing = root / "rank_0" / "execution_order"
    listing.mkdir(exist_ok=True)
    if order:
        lines = "\n".join(["NodeExecutionOrder-FullNameWithScope", *order])
        (listing / "ms_execution_order_graph_0.csv").write_text(lines + "\n", "utf-8")
    for op, scope, (task, stream, time), inputs, outputs in ops:
        for side, arrays in (("input", inputs), ("output", outputs)):
            for slot, values in enumerate(arrays):
                array = np.asarray(values, np.float32 if not isinstance(values, np.ndarray) else values.dtype)
                name = f"{op}.{scope.replace('/', '_')}.{task}.{stream}.{time}.{side}.{slot}.DefaultFormat.npy"
                np.save(folder / name, array)
    return root


def _first(watch: DumpWatch) -> Any:
    assert watch.first is not None
    return watch.first


LATE = ("Add", "Default/b-B/Add-op0", (9, 1, 10), [[INF], [1]], [[INF]])
EARLY = ("Log", "Default/a-A/Log-op0", (3, 1, 20), [[0, 1]], [[-INF, 0]])


def test_the_order_is_that_of_time_where_tasks_have_no_numbers(tmp_path: Path) -> None:
    ops = [(op, scope, (0, 0, time), inputs, outputs) for op, scope, (_, _, time), inputs, outputs in (EARLY, LATE)]
    first = _first(watch_dump(_dump(tmp_path, ops, [EARLY[1], LATE[1]])))
    assert (first.op, first.origin, first.cause.id) == ("Add", False, "bad_input")


def test_the_order_is_the_listing_s_or_the_tasks_where_they_have_numbers(tmp_path: Path) -> None:
    for name, order in (("listed", [EARLY[1], LATE[1]]), ("numbered", [])):
        first = _first(watch_dump(_dump(tmp_path / name, [EARLY, LATE], order)))
        assert (first.op, first.origin, first.cause.id, first.after, first.after_bad) == (
            "Log",
            True,
            "log_of_zero",
            1,
            1,
        )


def test_an_operator_in_a_loop_is_one_node_each_time(tmp_path: Path) -> None:
    scope = "Default/a-A/Exp-op0"
    ops = [
        ("Exp", scope, (0, 0, time), [[value]], [[out]])
        for time, value, out in ((1, 1, 2.7), (2, 100, INF), (3, INF, INF))
    ]
    watch = watch_dump(_dump(tmp_path, ops))
    first = _first(watch)
    assert (watch.nodes, first.cause.id, first.after, first.after_bad) == (3, "exp_overflow", 1, 1)
    assert first.inputs[0].summary.maximum == 100


def test_half_precision_and_slopes_have_their_own_causes(tmp_path: Path) -> None:
    half = np.array([1e4], np.float16)
    ops = [("MatMul", "Default/a-A/MatMul-op0", (0, 0, 1), [half, half], [np.array([INF], np.float16)])]
    assert _first(watch_dump(_dump(tmp_path / "half", ops))).cause.id == "half_overflow"
    slope = ("RealDiv", "Gradients/Default/a-A/Grad_Sqrt/RealDiv-op0", (0, 0, 1), [[1], [0]], [[INF]])
    first = _first(watch_dump(_dump(tmp_path / "slope", [slope], [slope[1]])))
    assert (first.part, first.cause.id) == ("backward", "sqrt_gradient_at_zero")


def test_masks_are_passed_by_and_a_row_that_is_all_masked_is_found(tmp_path: Path) -> None:
    masked = [-INF, -INF]
    ops = [
        ("MaskedFill", "Default/a-A/MaskedFill-op0", (0, 0, 1), [[1, 2]], [masked]),
        ("Add", "Default/a-A/Add-op0", (0, 0, 2), [masked, [1, 1]], [masked]),
        ("Softmax", "Default/a-A/Softmax-op0", (0, 0, 3), [masked], [[NAN, NAN]]),
    ]
    first = _first(watch_dump(_dump(tmp_path / "whole", ops)))
    assert (first.op, first.cause.id) == ("Softmax", "all_masked_softmax")
    outputs = [(op, scope, place, [], given) for op, scope, place, _, given in ops]
    first = _first(watch_dump(_dump(tmp_path / "outputs", outputs)))
    assert (first.op, first.origin) == ("Softmax", None)
    assert watch_dump(_dump(tmp_path / "fine", ops[:2])).first is None


def test_steps_come_one_after_the_other(tmp_path: Path) -> None:
    _dump(tmp_path, [LATE], step=10)
    _dump(tmp_path, [EARLY], step=9)
    assert _first(watch_dump(tmp_path)).step == 9


# Dumps of msprobe.


def test_an_msprobe_dump_that_is_finite_says_so() -> None:
    for name in ("torch_statistics_mix", "torch_tensor_L0", "mindspore_statistics_L0", "mindspore_tensor_L0"):
        watch = watch_dump(_MSPROBE / name)
        assert watch.first is None and watch.tool == "msprobe"
        found = watch.finding()
        assert found.conclusion is Conclusion.NONE
        assert "finite" in found.message.text("en")


@pytest.mark.parametrize("name", ["mindspore_tensor_L0", "mindspore_statistics_L0", "torch_statistics_mix"])
def test_an_msprobe_dump_is_read_by_its_tensors_or_by_its_numbers(name: str, tmp_path: Path) -> None:
    shutil.copytree(_MSPROBE / name, tmp_path / "dump")
    path = min((tmp_path / "dump").rglob("dump.json"))
    told = json.loads(path.read_text("utf-8"))
    call = next(one for one in told["data"] if ".layer1.1." in one and ".forward" in one)
    output = told["data"][call]["output"][0]
    if name == "mindspore_tensor_L0":
        file = path.parent / "dump_tensor_data" / output["data_name"]
        file.chmod(0o600)
        np.save(file, np.full(output["shape"], NAN, np.float32))
    output |= {"Max": NAN, "Min": NAN, "Mean": NAN, "Norm": NAN}
    path.chmod(0o600)
    path.write_text(json.dumps(told), "utf-8")
    first = _first(watch_dump(tmp_path / "dump"))
    assert (first.module, first.part, first.kind, first.origin) == ("layer1.1", "forward", "nan", True)
    assert first.outputs[0].exact == (name == "mindspore_tensor_L0")


def test_what_is_no_dump_is_refused_in_one_line(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.ones(3))
    for path in (tmp_path, tmp_path / "missing", tmp_path / "a.npy"):
        with pytest.raises(Trouble) as caught:
            watch_dump(path)
        assert "\n" not in str(caught.value)
