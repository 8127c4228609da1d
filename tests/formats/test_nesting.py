"""Which part of a nested file is the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from trueline.formats.nesting import arrange
from trueline.formats.stored import Stored
from trueline.formats.weights import Weights
from trueline.model.budget import Budget, OverBudget
from trueline.model.trouble import BadFile


class T:
    """A tensor of the tree; the same number is the same place."""

    places = 0

    def __init__(self, place: int | None = None) -> None:
        T.places += 1
        self.place = T.places * 100 if place is None else place


def _array(value: T, name: str) -> Stored:
    return Stored(name, (2,), np.dtype("f4"), Path("x"), ((value.place, 8),))


def _arranged(tree: Any) -> Weights:
    return arrange(Path("x"), "pth", tree, T, _array, Budget(Path("x"), 1 << 20))


def _network() -> dict[str, T]:
    return {"conv.weight": T(), "conv.bias": T(), "bn.running_mean": T()}


ADAM = {
    "state": {0: {"step": T(), "exp_avg": T()}, 1: {"exp_avg": T()}},
    "param_groups": [{"lr": 0.1, "params": [0, 1], "betas": (0.9, 0.999)}],
}
NAMES = ["conv.weight", "conv.bias", "bn.running_mean"]


@pytest.mark.parametrize(
    ("tree", "nested", "names", "sections"),
    [
        (_network(), "", NAMES, set()),
        ({"state_dict": _network(), "optimizer": ADAM, "epoch": 3}, "state_dict", NAMES, {"optimizer"}),
        ({"epoch": 3, "model": _network()}, "model", NAMES, set()),
        ({"module": _network(), "ds_config": {"a": 1}}, "module", NAMES, set()),
        ({"model_state_dict": _network(), "optimizer_state_dict": ADAM}, "model_state_dict", NAMES, None),
        ({"net": _network(), "acc": 0.9}, "net", NAMES, set()),
        ({"model": _network(), "ema": _network()}, "model", NAMES, {"ema"}),
        ({"params": _network(), "params_ema": _network()}, "params", NAMES, {"params_ema"}),
        ({"ema": _network(), "epoch": 1}, "ema", NAMES, set()),
        ({"model": {"state_dict": _network()}, "optimizer": ADAM}, "model.state_dict", NAMES, {"optimizer"}),
        ({"state_dict": _network(), "best_acc": T(), "rng_state": T()}, "state_dict", NAMES, {"best_acc", "rng_state"}),
        ({"my_network": _network(), "iteration": 7}, "my_network", NAMES, set()),
        ({"my_network": _network(), "my_adam": ADAM}, "my_network", NAMES, {"my_adam"}),
        ({"target": _network(), "online": {**_network()}, "step": 1}, "target", NAMES, {"online"}),
        ({"enc": {"weight": T()}, "dec": {"bias": T()}}, "", ["enc.weight", "dec.bias"], set()),
        ({"enc": {"a": {"weight": T()}}, "dec": {"bias": T()}, "e": 1}, "", ["enc.a.weight", "dec.bias"], set()),
        ({"weight": T(), "optimizer": ADAM}, "", ["weight"], {"optimizer"}),
        ([T(), T()], "", ["0", "1"], set()),
        (T(), "", ["tensor"], set()),
        ({"module.conv.weight": T(), "_orig_mod.x": T()}, "", ["module.conv.weight", "_orig_mod.x"], set()),
    ],
)
def test_the_model_is_found(tree: Any, nested: str, names: list[str], sections: set[str] | None) -> None:
    found = _arranged(tree)
    assert found.nested == nested
    assert list(found.model) == names
    assert [one.name for one in found.model.values()] == names
    if sections is not None:
        assert set(found.sections) - {""} == sections


def test_what_lies_beside_keeps_its_names_and_plain_values() -> None:
    found = _arranged({"state_dict": _network(), "optimizer": ADAM, "epoch": 3, "args": {"lr": [0.1, 0.2], "n": None}})
    assert list(found.sections["optimizer"]) == ["state.0.step", "state.0.exp_avg", "state.1.exp_avg"]
    assert found.others == {
        "optimizer.param_groups.0.lr": 0.1,
        "optimizer.param_groups.0.params": (0, 1),
        "optimizer.param_groups.0.betas": (0.9, 0.999),
        "epoch": 3,
        "args.lr": (0.1, 0.2),
        "args.n": None,
    }


def test_names_of_the_same_elements_say_so() -> None:
    found = _arranged({"embed.weight": T(8), "head.weight": T(8), "other": T(16)}).model
    assert [one.shared_with for one in found.values()] == [None, "embed.weight", None]


def test_two_arrays_of_one_name_are_refused() -> None:
    with pytest.raises(BadFile, match=r"both called a\.b"):
        _arranged({"a": {"b": T()}, "a.b": T()})


def test_trees_that_never_end_are_cut_off() -> None:
    circle: dict[str, Any] = {"x": T()}
    circle["circle"] = circle
    many: list[Any] = [T(), T()]
    for _ in range(40):
        many = [many, many]
    deep: Any = T()
    for _ in range(100_000):
        deep = [deep]
    long: list[Any] = [[0] * 100_000] * 100_000
    names: dict[str, Any] = {"k" * 1_000_000: [{}, *[T()] * 1000]}
    for tree in (circle, deep, names):
        with pytest.raises(BadFile, match="nested too deeply"):
            _arranged(tree)
    for tree in (many, [T(), long]):
        with pytest.raises(OverBudget):
            _arranged(tree)


def test_nothing_but_plain_values() -> None:
    for tree in ({}, {"epoch": 3}, None, "text", {"state_dict": {}}):
        with pytest.raises(BadFile, match="no arrays"):
            _arranged(tree)
