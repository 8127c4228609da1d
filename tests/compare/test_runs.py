"""Two run folders: the first layer that really differs, what it means, and the report of it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from compare.made_runs import LAYERS, activations, keys_of, make_run, off_by

from trueline.compare.report.runs import report, result
from trueline.compare.runs import RunComparison, compare_runs
from trueline.compare.verdict import Verdict
from trueline.model.key import Key
from trueline.model.report import Curves, Folded, Source, Strip, Table, Text
from trueline.report.terminal import render_report

LOSSES = [2.3, 2.1, 1.9]


def broken_from(layer: str, share: float = 0.1) -> dict[str, np.ndarray]:
    """The activations when one layer is wrong: it and all later ones are off, all earlier ones by rounding only."""
    begun = False
    found = {}
    for name, array in activations().items():
        begun = begun or name == layer
        found[name] = off_by(array, share if begun else 2e-7)
    return found


def compared(folder: Path, port: dict[Key, np.ndarray], bench: dict[Key, np.ndarray], **more: object) -> RunComparison:
    losses = LOSSES if not more.get("losses") else more["losses"]
    a = make_run(folder / "port", losses, {0: port}, framework="mindspore")  # type: ignore[arg-type]
    return compare_runs(a, make_run(folder / "bench", LOSSES, {0: bench}))


@pytest.mark.parametrize("layer", LAYERS)
def test_the_first_wrong_layer_is_named_and_its_inputs_agree(layer: str, tmp_path: Path) -> None:
    found = compared(tmp_path, keys_of(broken_from(layer)), keys_of(activations()))
    assert found.first is not None
    assert str(found.first.pair.a) == f"train/{layer}#0/out/0"
    assert found.first.distance.relative_max == pytest.approx(0.1, rel=0.01)
    assert found.differing is not None and found.differing.inputs_agree is True


def test_without_recorded_inputs_the_feeding_outputs_answer(tmp_path: Path) -> None:
    port, bench = keys_of(broken_from("bn"), inputs=False), keys_of(activations(), inputs=False)
    found = compared(tmp_path, port, bench)
    assert found.differing is not None and found.differing.inputs_agree is True
    lone = Key.of("bn", "out")
    alone = compared(tmp_path / "alone", {lone: port[lone]}, {lone: bench[lone]})
    assert alone.differing is not None and alone.differing.inputs_agree is None


def test_other_data_is_not_blamed_on_a_layer(tmp_path: Path) -> None:
    found = compared(tmp_path, keys_of(broken_from("")), keys_of(activations()))
    assert result(found).to_json()["first"]["kind"] == "in"
    assert "input of conv already differs" in report(found).findings[0].message.text("en")


def test_a_difference_between_two_modules_is_told_apart(tmp_path: Path) -> None:
    port = keys_of(activations())
    port[Key.of("fc", "in")] = off_by(port[Key.of("fc", "in")], 0.1)
    port[Key.of("fc", "out")] = off_by(port[Key.of("fc", "out")], 0.1)
    found = compared(tmp_path, port, keys_of(activations()))
    assert "arises before fc" in report(found).findings[0].message.text("en")


def test_rounding_is_noise_and_the_same_is_equal(tmp_path: Path) -> None:
    rounded = {name: off_by(array, 3e-7) for name, array in activations().items()}
    assert compared(tmp_path / "noise", keys_of(rounded), keys_of(activations())).verdict is Verdict.NOISE
    equal = compared(tmp_path / "equal", keys_of(activations()), keys_of(activations()))
    assert equal.verdict is Verdict.EQUAL
    assert (result(equal).exit, result(equal).findings) == (0, [])


def test_a_shape_or_a_nan_on_one_side_is_a_difference(tmp_path: Path) -> None:
    key = Key.of("fc", "out")
    bench = {key: np.ones((2, 3), np.float32)}
    other = compared(tmp_path / "shape", {key: np.ones((3, 2), np.float32)}, bench)
    assert "[3, 2]" in report(other).findings[0].message.text("en")
    ones = compared(tmp_path / "ones", {key: np.ones((2, 1, 3), np.float32)}, bench)
    assert ones.verdict is Verdict.EQUAL
    poisoned = bench[key].copy()
    poisoned[0, 0] = np.nan
    assert "1 such elements" in report(compared(tmp_path / "nan", {key: poisoned}, bench)).findings[0].message.text(
        "en"
    )


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "bfloat16", "float16"])
def test_short_floats_have_a_wider_floor(dtype: str, tmp_path: Path) -> None:
    exact = activations()["fc"]
    short = exact.astype(np.float16 if dtype == "float16" else getattr(ml_dtypes, dtype))
    found = compared(tmp_path, {Key.of("fc", "out"): short}, {Key.of("fc", "out"): exact})
    assert found.verdict is Verdict.NOISE
    coarse = {Key.of("fc", "out"): short.astype(np.float32)}
    assert compared(tmp_path / "coarse", coarse, {Key.of("fc", "out"): exact}).verdict is Verdict.DIFFERS


def test_a_gradient_that_is_only_rounding_is_not_a_difference(tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    weight = random.randn(8, 8).astype(np.float32)
    bench = {Key.of("conv", "grad", "weight"): weight, Key.of("conv", "grad", "bias"): weight[0] * 1e-9}
    port = {Key.of("conv", "grad", "weight"): weight, Key.of("conv", "grad", "bias"): -weight[0] * 1e-9}
    assert compared(tmp_path, port, bench).verdict is Verdict.NOISE
    port = {Key.of("conv", "grad", "weight"): weight * 2, Key.of("conv", "grad", "bias"): weight[0] * 1e-9}
    assert compared(tmp_path / "twice", port, bench).verdict is Verdict.DIFFERS


def test_an_updated_weight_points_to_the_optimizer_and_not_to_a_layer(tmp_path: Path) -> None:
    weight = np.random.RandomState(0).randn(8).astype(np.float32)
    port = keys_of(activations()) | {Key.of("bn", "param", "gamma"): weight * np.float32(1.01)}
    page = report(compared(tmp_path, port, keys_of(activations()) | {Key.of("bn", "param", "weight"): weight}))
    assert page.conclusion.text("en") == "mindspore diverges from torch at step 0, first in bn#0/param/gamma."
    assert page.findings[0].advice is not None and "optimizer" in page.findings[0].advice.text("en")
    assert not any(isinstance(block, Source) for block in page.blocks)


def test_a_moving_average_points_to_the_momentum_of_its_layer(tmp_path: Path) -> None:
    mean = np.random.RandomState(0).randn(8).astype(np.float32)
    port = keys_of(activations()) | {Key.of("bn", "param", "moving_mean"): mean * 9}
    page = report(compared(tmp_path, port, keys_of(activations()) | {Key.of("bn", "buffer", "running_mean"): mean}))
    assert page.findings[0].advice is not None and "momentum of bn" in page.findings[0].advice.text("en")
    assert [block.line for block in page.blocks if isinstance(block, Source)] == [3, 3]


def test_other_initial_weights_are_the_root(tmp_path: Path) -> None:
    weight = np.random.RandomState(0).randn(8).astype(np.float32)
    a = make_run(tmp_path / "a", [9.0], {0: keys_of(broken_from("bn"))}, params={"bn.gamma": weight * 2})
    b = make_run(tmp_path / "b", [1.0], {0: keys_of(activations())}, params={"bn.weight": weight})
    found = result(compare_runs(a, b)).to_json("en")
    assert [one["code"] for one in found["findings"]] == ["cmp.01", "cmp.03", "cmp.05"]
    assert [one["because"] for one in found["findings"]] == [None, "cmp.01", "cmp.01"]
    assert "start from different weights" in found["conclusion"]


def test_a_layer_before_the_other_weights_is_a_cause_of_its_own(tmp_path: Path) -> None:
    weight = np.random.RandomState(0).randn(8).astype(np.float32)
    a = make_run(tmp_path / "a", [9.0], {0: keys_of(broken_from("conv"))}, params={"bn.gamma": weight * 2})
    b = make_run(tmp_path / "b", [1.0], {0: keys_of(activations())}, params={"bn.weight": weight})
    found = result(compare_runs(a, b)).to_json("en")
    assert [(one["code"], one["because"]) for one in found["findings"]][:2] == [("cmp.01", None), ("cmp.03", None)]


def test_rounded_initial_weights_are_the_same(tmp_path: Path) -> None:
    weight = np.random.RandomState(0).randn(100).astype(np.float32)
    a = make_run(tmp_path / "a", [1.0], params={"w.weight": weight * np.float32(1 + 1e-7)})
    b = make_run(tmp_path / "b", [1.0], params={"w.weight": weight})
    assert not compare_runs(a, b).weights.apart


def test_losses_that_part_later_ask_for_gradients(tmp_path: Path) -> None:
    a = make_run(tmp_path / "a", [2.3, 2.0, 1.9])
    found = result(compare_runs(a, make_run(tmp_path / "b", LOSSES))).to_json("en")
    assert (found["verdict"], found["exit"], found["first"]) == ("differs", 1, None)
    assert found["loss"]["parts_at"] == 1
    assert "--grads" in found["findings"][0]["advice"]


def test_nothing_in_common_is_said(tmp_path: Path) -> None:
    found = result(compare_runs(make_run(tmp_path / "a", []), make_run(tmp_path / "b", LOSSES))).to_json("en")
    assert found["verdict"] is None
    assert "nothing to compare" in found["conclusion"]


def test_the_json_has_the_contract_s_fields(tmp_path: Path) -> None:
    found = json.loads(result(compared(tmp_path, keys_of(broken_from("bn")), keys_of(activations()))).dump("en"))
    assert found["verb"] == "compare" and found["verdict"] == "differs" and found["exit"] == 1
    assert found["conclusion"] == (
        "mindspore diverges from torch at step 0, first in bn#0/out/0: "
        "bn is built at net.py:3, its counterpart at net.py:3."
    )
    assert found["first"] == {
        "key": "train/bn#0/out/0",
        "other_key": "train/bn#0/out/0",
        "step": 0,
        "kind": "out",
        "inputs_agree": True,
    }
    where = found["findings"][0]["where"]
    assert (where["file"], where["line"], where["module"], where["side"]) == ("net.py", 3, "bn", "mindspore")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_report_shows_curves_layers_numbers_and_both_sources(lang: str, tmp_path: Path) -> None:
    port = keys_of(broken_from("block.conv1"))
    page = report(compared(tmp_path, port, keys_of(activations()), losses=[2.5, 2.1, 1.9]))
    kinds = [type(block) for block in page.blocks]
    shown = [kind for kind in kinds if kind not in (Table, Text)]
    assert shown == [Curves, Strip, Source, Source, Folded]
    curves = next(block for block in page.blocks if isinstance(block, Curves))
    strip = next(block for block in page.blocks if isinstance(block, Strip))
    assert curves.mark == 0 and curves.band is not None
    assert strip.names[strip.mark or 0] == "block.conv1"
    assert strip.levels[:2] == [0.0, 0.0] and all(level > 0 for level in strip.levels[2:])
    sources = [block for block in page.blocks if isinstance(block, Source)]
    assert [(one.side, one.line, one.lines[one.line - one.first]) for one in sources] == [
        ("torch", 4, "conv1 = nn.Conv2d(8, 8, 3)"),
        ("mindspore", 4, "conv1 = nn.Conv2d(8, 8, 3)"),
    ]
    shown = io.StringIO()
    render_report(page, shown, lang, width=100)
    text = shown.getvalue()
    assert "block.conv1" in text and "net.py:4" in text
    assert "compare." not in text and "{" not in text
