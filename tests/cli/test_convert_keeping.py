"""`trueline convert --keep`: what lies beside the model, taken along so that the real optimizers go on from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mindspore as ms
import numpy as np
import pytest
import torch
from cli.broken_files import is_one_line
from cli.calling import call
from cli.converted_files import convert, loaded
from torch import nn

STEPS = 3


def net() -> Any:
    """Two layers of one shape, so that a wrong order would go unnoticed, and one with statistics."""
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Linear(4, 4))


def trained(make: Callable[[Any], Any]) -> tuple[Any, Any]:
    model = net()
    optimizer = make(model)
    for _ in range(STEPS):
        optimizer.zero_grad()
        model(torch.randn(8, 4)).square().sum().backward()
        optimizer.step()
    return model, optimizer


def adam(model: Any) -> Any:
    return torch.optim.Adam(model.parameters(), lr=1e-2, betas=(0.8, 0.99))


def checkpoint(path: Path, make: Callable[[Any], Any] = adam, **more: Any) -> tuple[Path, Any, Any]:
    """A training checkpoint with its model and optimizer."""
    model, optimizer = trained(make)
    torch.save({"state_dict": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 7, **more}, path)
    return path, model, optimizer


def goes_on_alike(path: Path, make: Callable[[Any], Any], model: Any, optimizer: Any) -> None:
    """Whether fresh objects with what was converted take the very step that the old ones take."""
    held = torch.load(path, weights_only=True)
    other = net()
    fresh = make(other)
    other.load_state_dict(held["state_dict"])
    fresh.load_state_dict(held["optimizer"])
    batch = torch.randn(8, 4)
    for one, its in ((model, optimizer), (other, fresh)):
        its.zero_grad()
        one(batch).square().sum().backward()
        its.step()
    for (name, one), (_, there) in zip(model.state_dict().items(), other.state_dict().items(), strict=True):
        assert torch.equal(one, there), name


def mindspore_net() -> Any:
    from mindspore import nn as ms_nn

    return ms_nn.SequentialCell(ms_nn.Dense(4, 4), ms_nn.BatchNorm1d(4), ms_nn.Dense(4, 4))


def test_adam_goes_on_in_mindspore(tmp_path: Path) -> None:
    source, model, optimizer = checkpoint(tmp_path / "net.pth")
    told = convert(source, tmp_path / "net.ckpt", "--keep", "optimizer")
    assert {one["name"] for one in told["dropped"]} == {"1.num_batches_tracked", "epoch"}
    port = mindspore_net()
    fresh = ms.nn.Adam(port.trainable_params(), learning_rate=1e-2, beta1=0.8, beta2=0.99)
    held = ms.load_checkpoint(str(tmp_path / "net.ckpt"))
    assert ms.load_param_into_net(port, held)[0] == []
    missing, _ = ms.load_param_into_net(fresh, held)
    assert set(missing) <= {"learning_rate"}
    assert int(fresh.global_step.asnumpy()[0]) == STEPS
    assert float(fresh.beta1_power.asnumpy()) == pytest.approx(0.8**STEPS)
    assert float(fresh.beta2_power.asnumpy()) == pytest.approx(0.99**STEPS)
    names = {"0.weight": 0, "0.bias": 1, "1.gamma": 2, "1.beta": 3, "2.weight": 4, "2.bias": 5}
    for first, second in zip(fresh.moment1, fresh.moment2, strict=True):
        state = optimizer.state_dict()["state"][names[first.name.removeprefix("moment1.")]]
        assert np.array_equal(first.asnumpy(), state["exp_avg"].numpy())
        assert np.array_equal(second.asnumpy(), state["exp_avg_sq"].numpy())
    assert np.array_equal(held["2.weight"].asnumpy(), model.state_dict()["2.weight"].numpy())


def test_names_in_the_groups_say_which_is_which(tmp_path: Path) -> None:
    def make(model: Any) -> Any:
        named = list(model.named_parameters())
        # The second layer first, and the norm is not trained.
        return torch.optim.Adam([{"params": named[4:]}, {"params": named[:2]}])

    source, _, optimizer = checkpoint(tmp_path / "net.pth", make)
    convert(source, tmp_path / "net.ckpt", "--keep", "optimizer")
    found = loaded(tmp_path / "net.ckpt")
    state = optimizer.state_dict()["state"]
    assert np.array_equal(found["moment1.2.weight"], state[0]["exp_avg"].numpy())
    assert np.array_equal(found["moment2.0.bias"], state[3]["exp_avg_sq"].numpy())
    assert "moment1.1.gamma" not in found


def test_momentum_goes_on_in_mindspore(tmp_path: Path) -> None:
    source, _, optimizer = checkpoint(
        tmp_path / "net.pth", lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    )
    convert(source, tmp_path / "net.ckpt", "--keep", "optimizer")
    fresh = ms.nn.Momentum(mindspore_net().trainable_params(), learning_rate=0.1, momentum=0.9)
    ms.load_param_into_net(fresh, ms.load_checkpoint(str(tmp_path / "net.ckpt")))
    first = {one.name: one for one in fresh.moments}["moments.2.weight"]
    assert np.array_equal(first.asnumpy(), optimizer.state_dict()["state"][4]["momentum_buffer"].numpy())


@pytest.mark.parametrize(
    "make",
    [
        adam,
        lambda model: torch.optim.AdamW(model.parameters(), lr=torch.tensor(1e-2), amsgrad=True),
        lambda model: torch.optim.SGD(model.parameters(), lr=0.1),
        lambda model: torch.optim.SGD(
            [{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.2}], lr=0.1, momentum=0.9
        ),
        lambda model: torch.optim.RMSprop(model.parameters(), lr=1e-3, centered=True, momentum=0.5),
    ],
    ids=["adam", "adamw, its rate a tensor", "sgd without a state", "sgd with groups", "rmsprop"],
)
def test_torch_goes_on_from_what_is_kept(tmp_path: Path, make: Callable[[Any], Any]) -> None:
    source, model, optimizer = checkpoint(tmp_path / "net.pth", make)
    convert(source, tmp_path / "out.pth", "--keep", "optimizer")
    goes_on_alike(tmp_path / "out.pth", make, model, optimizer)


def test_there_and_back_the_state_is_the_same(tmp_path: Path) -> None:
    source, _, optimizer = checkpoint(tmp_path / "net.pth")
    convert(source, tmp_path / "net.ckpt", "--keep", "optimizer")
    told = convert(tmp_path / "net.ckpt", tmp_path / "back.pth", "--keep", "optimizer")
    # MindSpore keeps no settings: that is said, and the user's own optimizer has them.
    assert any(one["name"] == "optimizer.param_groups" for one in told["dropped"])
    back = torch.load(tmp_path / "back.pth", weights_only=True)
    other = net()
    fresh = adam(other)
    fresh.load_state_dict({**fresh.state_dict(), "state": back["optimizer"]["state"]})
    for number, state in optimizer.state_dict()["state"].items():
        for slot, one in state.items():
            assert torch.equal(fresh.state_dict()["state"][number][slot], one), (number, slot)


def test_a_real_mindspore_optimizer_goes_to_torch(tmp_path: Path) -> None:
    port = mindspore_net()
    optimizer = ms.nn.Adam(port.trainable_params(), learning_rate=1e-2)
    step = ms.value_and_grad(lambda batch: port(batch).pow(2).sum(), None, optimizer.parameters)
    for _ in range(2):
        optimizer(step(ms.Tensor(np.random.default_rng(1).standard_normal((8, 4)).astype(np.float32)))[1])
    ms.save_checkpoint(optimizer, str(tmp_path / "net.ckpt"))
    moments = {one.name: one.asnumpy() for one in optimizer.get_parameters()}
    convert(tmp_path / "net.ckpt", tmp_path / "net.pth", "--keep", "optimizer")
    state = torch.load(tmp_path / "net.pth", weights_only=True)["optimizer"]["state"]
    assert len(state) == 6
    assert np.array_equal(state[4]["exp_avg"].numpy(), moments["moment1.2.weight"])
    assert np.array_equal(state[2]["exp_avg_sq"].numpy(), moments["moment2.1.gamma"])
    assert float(state[0]["step"]) == 2


def test_without_keep_it_is_left_and_named(tmp_path: Path) -> None:
    source, model, _ = checkpoint(tmp_path / "net.pth")
    told = convert(source, tmp_path / "out.pth")
    left = {one["name"]: one["reason"] for one in told["dropped"]}
    assert left.keys() == {"optimizer", "epoch"}
    assert "--keep optimizer" in left["optimizer"]
    assert torch.load(tmp_path / "out.pth", weights_only=True).keys() == model.state_dict().keys()


def test_all_keeps_everything_a_script_resumes_from(tmp_path: Path) -> None:
    model, optimizer = trained(adam)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    torch.save(
        {
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "lr_scheduler": schedule.state_dict(),
            "ema": {name: one * 2 for name, one in model.state_dict().items()},
            "epoch": 7,
            "args": {"lr": 0.1, "data": {"root": "images"}},
        },
        tmp_path / "net.pth",
    )
    told = convert(tmp_path / "net.pth", tmp_path / "out.pth", "--keep", "all")
    assert told["dropped"] == []
    held = torch.load(tmp_path / "out.pth", weights_only=True)
    assert held["epoch"] == 7
    assert held["args"] == {"lr": 0.1, "data": {"root": "images"}}
    schedule.load_state_dict(held["lr_scheduler"])
    adam(net()).load_state_dict(held["optimizer"])
    net().load_state_dict(held["model"])
    assert torch.equal(held["ema"]["0.bias"], model.state_dict()["0.bias"] * 2)


def test_all_keeps_plain_values_in_mindspore_too(tmp_path: Path) -> None:
    source, _, _ = checkpoint(tmp_path / "net.pth", best=0.5, name="small")
    convert(source, tmp_path / "net.ckpt", "--keep", "all")
    held = ms.load_checkpoint(str(tmp_path / "net.ckpt"))
    assert int(held["epoch"].asnumpy()) == 7
    assert float(held["best"].asnumpy()) == 0.5
    assert held["name"] == "small"


def test_an_unknown_section_is_named_with_those_there_are(tmp_path: Path) -> None:
    source, _, _ = checkpoint(tmp_path / "net.pth", ema={"0.bias": torch.ones(4)})
    answer = call("convert", source, tmp_path / "out.pth", "--keep", "optim")
    is_one_line(answer, "optim", "optimizer", "ema")
    assert not (tmp_path / "out.pth").exists()


def test_an_average_may_be_kept_where_names_stay(tmp_path: Path) -> None:
    source, _, _ = checkpoint(tmp_path / "net.pth", ema={"0.bias": torch.full((4,), 2.0)})
    convert(source, tmp_path / "out.safetensors", "--keep", "ema")
    assert loaded(tmp_path / "out.safetensors")["ema.0.bias"].tolist() == [2.0] * 4
    told = convert(source, tmp_path / "out.ckpt", "--keep", "ema")
    assert "ema" in {one["name"] for one in told["dropped"]}
