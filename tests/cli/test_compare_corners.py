"""Files that look equal or different and are not: what the first sentence says of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from cli.calling import call

RANDOM = np.random.default_rng(0)


def weights(**more: Any) -> dict[str, torch.Tensor]:
    """A small network's weights."""
    found = {}
    for place in range(6):
        draw = np.random.default_rng(place)
        found[f"layer{place}.weight"] = torch.from_numpy(draw.standard_normal((8, 8, 3, 3)).astype(np.float32))
        found[f"layer{place}.bias"] = torch.from_numpy(draw.standard_normal(8).astype(np.float32))
    return found | more


def answer(a: Path, b: Path, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(call("compare", str(a), str(b), "--json", *options).stdout)
    return found


def saved(path: Path, content: Any) -> Path:
    torch.save(content, path)
    return path


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("factor", [1.0, 1.05])
def test_weights_in_short_floats_are_held_to_one_rounding(dtype: torch.dtype, factor: float, tmp_path: Path) -> None:
    short = {name: (one * (factor if name == "layer3.weight" else 1)).to(dtype) for name, one in weights().items()}
    found = answer(saved(tmp_path / "a.pth", short), saved(tmp_path / "b.pth", weights()))
    if factor == 1.0:
        assert (found["verdict"], found["exit"]) == ("noise", 0)
    else:
        assert [one["name"] for one in found["tensors"] if one["verdict"] == "differs"] == ["layer3.weight"]


def test_pairs_that_only_values_tell_are_called_so(tmp_path: Path) -> None:
    renamed = {f"p{place}": one for place, one in enumerate(weights().values())}
    found = answer(saved(tmp_path / "a.pth", renamed), saved(tmp_path / "b.pth", weights()))
    assert found["verdict"] == "equal" and found["only_a"] == found["only_b"] == []
    assert "aligned by value, not by name" in found["conclusion"]


def test_arrays_under_other_names_are_found_by_their_values(tmp_path: Path) -> None:
    for side, name in (("a", "step0_conv{}"), ("b", "layer_{}_out")):
        (tmp_path / side).mkdir()
        for place in range(4):
            values = np.random.default_rng(place).standard_normal((3, 5)).astype(np.float32)
            np.save(tmp_path / side / f"{name.format(place)}.npy", values)
    found = answer(tmp_path / "a", tmp_path / "b")
    assert (found["verdict"], len(found["tensors"])) == ("equal", 4)


def test_a_square_matrix_that_is_transposed_is_called_so(tmp_path: Path) -> None:
    square = torch.from_numpy(RANDOM.standard_normal((16, 16)).astype(np.float32))
    a = saved(tmp_path / "a.pth", weights(**{"fc.weight": square.T.contiguous()}))
    found = answer(a, saved(tmp_path / "b.pth", weights(**{"fc.weight": square})))
    assert "fc.weight in a.pth is that of b.pth transposed" in found["conclusion"]


def test_a_matrix_in_the_other_layout_is_mentioned(tmp_path: Path) -> None:
    wide = torch.from_numpy(RANDOM.standard_normal((16, 5)).astype(np.float32))
    a = saved(tmp_path / "a.pth", weights(**{"fc.weight": wide.T.contiguous()}))
    b = saved(tmp_path / "b.pth", weights(**{"fc.weight": wide}))
    shown = call("compare", str(a), str(b))
    assert "are equal after transposing one side, e.g. fc.weight" in " ".join(shown.stdout.split())


def test_a_sign_is_a_factor_too(tmp_path: Path) -> None:
    turned = weights()
    turned["layer2.weight"] = -turned["layer2.weight"]
    found = answer(saved(tmp_path / "a.pth", turned), saved(tmp_path / "b.pth", weights()))
    assert "layer2.weight in a.pth is -1 times that in b.pth" in found["conclusion"]


def test_tied_weights_that_one_side_saved_once_are_not_missing(tmp_path: Path) -> None:
    table = torch.from_numpy(RANDOM.standard_normal((11, 8)).astype(np.float32))
    tied = saved(tmp_path / "a.pth", weights(**{"embed.weight": table, "head.weight": table}))
    found = answer(tied, saved(tmp_path / "b.pth", weights(**{"embed.weight": table})))
    assert (found["verdict"], found["exit"]) == ("equal", 0)


def test_the_section_is_in_the_sentence(tmp_path: Path) -> None:
    average = {name: one * 1.01 if name == "layer1.bias" else one for name, one in weights().items()}
    a = saved(tmp_path / "a.pth", {"state_dict": weights(), "ema": average})
    found = answer(a, saved(tmp_path / "b.pth", {"state_dict": weights(), "ema": weights()}))
    assert "ema: layer1.bias" in found["conclusion"]


def test_optimizers_may_keep_what_they_like(tmp_path: Path) -> None:
    a = saved(tmp_path / "a.pth", {"state_dict": weights(), "optimizer": {"state": {0: {"m": torch.ones(3)}}}})
    b = saved(tmp_path / "b.pth", {"state_dict": weights(), "optimizer": {"state": {0: {"v": torch.ones(7)}}}})
    assert answer(a, b)["exit"] == 0


def test_everything_ignored_is_a_mistake(tmp_path: Path) -> None:
    a, b = saved(tmp_path / "a.pth", weights()), saved(tmp_path / "b.pth", weights())
    refused = call("compare", str(a), str(b), "--ignore", "*")
    assert refused.exit_code == 2 and "nothing left to compare" in refused.stderr


def curve(path: Path, values: list[float], first: int = 0, head: str = "loss") -> Path:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("step", head), *enumerate(values, first)])
    return path


LOSSES = [2.3 * 0.99**step + 0.01 * ((step * 7919) % 13) for step in range(60)]


def test_steps_counted_from_one_are_seen(tmp_path: Path) -> None:
    a, b = curve(tmp_path / "a.csv", LOSSES, first=1), curve(tmp_path / "b.csv", LOSSES)
    found = answer(a, b)
    assert (found["verdict"], found["shift"]) == ("equal", -1)
    assert "were shifted by -1" in call("compare", str(a), str(b)).stdout


def test_other_curves_are_not_shifted_into_each_other(tmp_path: Path) -> None:
    other = [value * 1.3 for value in LOSSES]
    found = answer(curve(tmp_path / "a.csv", other, first=1), curve(tmp_path / "b.csv", LOSSES))
    assert (found["verdict"], found["shift"]) == ("differs", 0)


def test_which_curves_and_steps_were_compared_is_said(tmp_path: Path) -> None:
    a, b = curve(tmp_path / "a.csv", LOSSES[:30], head="train/box_loss"), curve(tmp_path / "b.csv", LOSSES)
    shown = " ".join(call("compare", str(a), str(b)).stdout.split())
    assert "steps 0..29" in shown and "steps 0..59" in shown
