"""What the optimizers of MindSpore add to a checkpoint: none of it is taken for a weight of the network."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore as ms
import pytest
from mindspore import mint, nn
from mindspore.experimental import optim

from trueline.formats.ckpt import read_ckpt

# They start on several devices or on an Ascend only.
_ELSEWHERE = {"AdaSumByGradWrapCell", "AdaSumByDeltaWeightWrapCell", "OptTFTWrapper", "FusedAdamW"}
_BASES = (nn.Optimizer, optim.Optimizer)
_HOMES: tuple[tuple[str, Any], ...] = (("nn", nn), ("experimental", optim), ("mint", mint.optim))
# Beyond the defaults, what makes an optimizer keep more.
_MORE: dict[str, list[dict[str, Any]]] = {
    "nn.Adam": [{"use_amsgrad": True}, {"use_lazy": True}, {"use_offload": True}],
    "nn.AdaFactor": [{"beta1": 0.9}, {"compression": True}],
    "nn.RMSProp": [{"centered": True}],
    "nn.SGD": [{"momentum": 0.9, "nesterov": True}],
    "nn.Momentum": [{"learning_rate": [0.1] * 9}, {"learning_rate": nn.ExponentialDecayLR(0.1, 0.9, 4)}],
    "nn.Lamb": [{"weight_decay": nn.ExponentialDecayLR(0.1, 0.9, 4)}],
    "experimental.Adam": [{"amsgrad": True}],
    "experimental.RMSprop": [{"centered": True, "momentum": 0.9}],
    "mint.AdamW": [{"amsgrad": True}],
    "mint.SGD": [{"momentum": 0.9}],
}
_NEEDED: dict[str, dict[str, Any]] = {
    "nn.Momentum": {"learning_rate": 0.1, "momentum": 0.9},
    "nn.Lamb": {"learning_rate": 0.1},
    **{f"{home}.{name}": {"lr": 0.1} for home, _ in _HOMES[1:] for name in ("SGD", "Adam", "AdamW")},
}


class Net(nn.Cell):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3, has_bias=True)
        self.norm = nn.BatchNorm2d(2)
        self.linear = nn.Dense(8, 4)


def _found() -> dict[str, type]:
    return {
        f"{home}.{name}": one
        for home, module in _HOMES
        for name, one in vars(module).items()
        if inspect.isclass(one) and issubclass(one, _BASES) and one not in _BASES and name not in _ELSEWHERE
    }


def _beside(path: Path, make: Callable[[Any], Any]) -> set[str]:
    """What is in a checkpoint beside the network, after making sure that the network is there alone."""
    net = Net()
    ms.save_checkpoint(nn.TrainOneStepCell(net, make(net.trainable_params())), str(path))
    weights = read_ckpt(path)
    assert set(weights.model) == {"conv.weight", "conv.bias", "linear.weight", "linear.bias"} | {
        f"norm.{leaf}" for leaf in ("gamma", "beta", "moving_mean", "moving_variance")
    }
    assert not weights.others
    return set(weights.sections.get("optimizer", {}))


def test_every_optimizer_there_is_was_found() -> None:
    found = _found()
    assert len(found) > 28
    assert {"nn.Adam", "nn.FTRL", "nn.LARS", "experimental.ASGD", "mint.SGD"} <= found.keys()


@pytest.mark.parametrize("name", sorted(_found()))
def test_an_optimizer_s_tensors_are_told_from_the_network_s(tmp_path: Path, name: str) -> None:
    kind = _found()[name]
    for at, more in enumerate([{}, *_MORE.get(name, [])]):
        given = _NEEDED.get(name, {}) | more
        beside = _beside(
            tmp_path / f"{at}.ckpt",
            lambda params: kind(nn.Momentum(params, 0.1, 0.9)) if name == "nn.LARS" else kind(params, **given),  # noqa: B023
        )
        assert beside


def test_groups_of_parameters_and_what_boost_adds(tmp_path: Path) -> None:
    def grouped(params: Any) -> Any:
        return nn.Momentum([{"params": params[:2], "lr": 0.1}, {"params": params[2:], "lr": 0.2}], 0.1, 0.9)

    assert {"learning_rate_group_0", "learning_rate_group_1"} <= _beside(tmp_path / "groups.ckpt", grouped)
    net = Net()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    model = ms.Model(net, nn.CrossEntropyLoss(), optimizer, boost_level="O1")
    ms.save_checkpoint(model.train_network, str(tmp_path / "boost.ckpt"))
    assert not {"accumulation_step", "sync_tensor"} & set(read_ckpt(tmp_path / "boost.ckpt").model)
