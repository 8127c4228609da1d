"""The digits example: both scripts train, and both networks are the same function unless a fault is planted."""

from __future__ import annotations

import importlib.util
import io
import re
import runpy
import sys
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from launching import IN_ORDER, python

FOLDER = Path(__file__).parents[2] / "examples" / "digits"


def in_torch(*arguments: object) -> str:
    """Run torch's script in this process, and return what it prints; in a process of its own the demo has it."""
    printed, known = io.StringIO(), set(sys.modules)
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.setattr(sys, "argv", ["train_torch.py", *map(str, arguments)])
        patch.syspath_prepend(FOLDER)
        runpy.run_path(str(FOLDER / "train_torch.py"), run_name="__main__")
    for own in [own for own in set(sys.modules) - known if (FOLDER / f"{own}.py").exists()]:
        del sys.modules[own]
    return printed.getvalue()


def in_mindspore(*arguments: object, folder: Path) -> str:
    """Run MindSpore's script as a user would, and return what it prints."""
    done = python(
        str(FOLDER / "train_mindspore.py"), *map(str, arguments), cwd=folder, env=IN_ORDER, forked="mindspore"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def numbers(printed: str, word: str) -> list[float]:
    return [float(found) for found in re.findall(rf"{word} ([\d.]+)", printed)]


@pytest.fixture(scope="module")
def initial(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Initial weights under torch's names."""
    path = tmp_path_factory.mktemp("digits") / "initial.npz"
    in_torch("--epochs", 0, "--save-weights", path)
    return path


def module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"digits_example_{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


LEAVES = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}


def moved(path: Path) -> dict[str, np.ndarray]:
    """The weights, each moved: fresh ones have ones and zeros in which a fault can hide."""
    random = np.random.RandomState(1)
    with np.load(path) as arrays:
        return {
            name: (arrays[name] * (1 + 0.2 * random.rand(*arrays[name].shape))).astype(np.float32)
            for name in arrays.files
        }


def torch_outputs(weights: dict[str, np.ndarray], images: np.ndarray, *, train: bool) -> np.ndarray:
    import torch

    net = module("model_torch").DigitsNet()
    net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()}, strict=False)
    net.train(train)
    result: np.ndarray = net(torch.from_numpy(images)).detach().numpy()
    return result


def mindspore_net(weights: dict[str, np.ndarray], fault: str) -> Any:
    import mindspore

    net = module("model_mindspore").DigitsNet(fault=fault)
    for parameter in net.get_parameters():
        path, _, leaf = parameter.name.rpartition(".")
        parameter.set_data(mindspore.Tensor(weights[f"{path}.{LEAVES.get(leaf, leaf)}"]))
    return net


def mindspore_outputs(net: Any, images: np.ndarray, *, train: bool) -> np.ndarray:
    import mindspore

    net.set_train(train)
    result: np.ndarray = net(mindspore.Tensor(images)).asnumpy()
    return result


def apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a - b).max() / np.abs(b).max())


IMAGES = np.random.RandomState(0).rand(16, 1, 8, 8).astype(np.float32)


@pytest.mark.parametrize("train", [True, False])
def test_both_networks_are_the_same_function(initial: Path, train: bool) -> None:
    weights = moved(initial)
    bench = torch_outputs(weights, IMAGES, train=train)
    assert apart(mindspore_outputs(mindspore_net(weights, "none"), IMAGES, train=train), bench) < 1e-5


@pytest.mark.parametrize("fault", ["pad_same", "bn_eps", "leaky_slope"])
def test_a_planted_fault_shows_in_the_outputs(initial: Path, fault: str) -> None:
    weights = moved(initial)
    bench = torch_outputs(weights, IMAGES, train=True)
    assert apart(mindspore_outputs(mindspore_net(weights, fault), IMAGES, train=True), bench) > 1e-3


def test_the_batchnorm_momentum_shows_in_evaluation_only(initial: Path) -> None:
    weights = moved(initial)
    right, wrong = mindspore_net(weights, "none"), mindspore_net(weights, "bn_momentum")
    trained = [mindspore_outputs(net, IMAGES, train=True) for net in (wrong, right)]
    assert apart(*trained) < 1e-5
    evaluated = [mindspore_outputs(net, IMAGES, train=False) for net in (wrong, right)]
    assert apart(*evaluated) > 1e-2


def test_both_scripts_learn_and_stay_together(initial: Path, tmp_path: Path) -> None:
    trained = tmp_path / "trained.npz"
    torch = in_torch("--weights", initial, "--epochs", 1)
    mindspore = in_mindspore("--weights", initial, "--epochs", 1, "--save-weights", trained, folder=tmp_path)
    assert numbers(torch, "accuracy")[-1] > 0.8
    assert numbers(mindspore, "accuracy")[-1] > 0.8
    assert numbers(mindspore, "loss")[:2] == pytest.approx(numbers(torch, "loss")[:2], rel=1e-4)
    again = in_torch("--weights", trained, "--epochs", 1, "--steps", 1)
    assert numbers(again, "loss")[0] < 0.7 * numbers(torch, "loss")[0]


def test_steps_and_order_are_the_users(initial: Path, tmp_path: Path) -> None:
    shared = ["--weights", initial, "--steps", 1, "--batch-size", 64]
    in_order = in_torch(*shared, "--no-shuffle")
    ported = in_mindspore(*shared, "--no-shuffle", "--fault", "momentum", folder=tmp_path)
    assert len(numbers(in_order, "loss")) == len(numbers(ported, "loss")) == 1
    assert numbers(ported, "loss") == pytest.approx(numbers(in_order, "loss"), rel=1e-5)
