"""Real models of both frameworks in processes of their own: what they consist of, loading into them, running them."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import mindspore as ms
import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
import torch
from pair.sides import IN_MINDSPORE, PROJECT, side_of, values

from trueline.adapters.guest.trouble import SideTrouble
from trueline.kernel import summarise
from trueline.model.trouble import BadFile
from trueline.pair.sides.inputs import guess_inputs
from trueline.pair.sides.side import Side

IMAGE = np.random.default_rng(0).standard_normal((2, 3, 16, 16)).astype(np.float32)


@pytest.fixture(scope="module")
def bench() -> Iterator[Side]:
    with side_of("torch_side:net") as side:
        yield side


@pytest.fixture(scope="module")
def port() -> Iterator[Side]:
    with side_of("mindspore_side.py:net") as side:
        yield side


@pytest.fixture(scope="module")
def in_torch() -> dict[str, torch.Tensor]:
    given = {name: torch.from_numpy(one) for name, one in values().items()}
    return {**given, "second.weight": given["first.weight"], "bn.num_batches_tracked": torch.tensor(5)}


def _expected(weights: dict[str, np.ndarray], x: np.ndarray, eps: float = 1e-5) -> np.ndarray:
    """The network's ``middle`` in plain NumPy."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    y = np.einsum("nchwij,ocij->nohw", windows, weights["conv.weight"], optimize=True)
    mean, var = (weights[f"bn.{name}"][:, None, None] for name in ("running_mean", "running_var"))
    gain, shift = (weights[f"bn.{name}"][:, None, None] for name in ("weight", "bias"))
    y = np.maximum((y - mean) / np.sqrt(var + eps) * gain + shift, 0).mean((2, 3))
    return y @ weights["fc.weight"].T + weights["fc.bias"]


def test_torch_is_described_as_its_state_dict_spells_it(bench: Side) -> None:
    found = bench.describe(summaries=True)
    sys.path.insert(0, str(PROJECT))
    try:
        import torch_side
    finally:
        sys.path.remove(str(PROJECT))
    state = torch_side.net().state_dict()
    assert [one.name for one in found.parameters] == list(state)
    assert [one.shape for one in found.parameters] == [tuple(one.shape) for one in state.values()]
    assert (found.framework, found.version) == ("torch", torch.__version__)
    by_name = {one.name: one for one in found.parameters}
    assert by_name["second.weight"].shared_with == "first.weight"
    assert by_name["first.weight"].shared_with is None
    assert not by_name["first.bias"].trainable
    assert not by_name["first.bias"].buffer
    assert by_name["conv.weight"].trainable
    assert by_name["bn.running_var"].buffer
    assert by_name["bn.num_batches_tracked"].dtype == "int64"
    assert by_name["conv.weight"].initial == summarise(state["conv.weight"].numpy())
    assert list(found.left_out) == ["scratch"]
    assert found.aliases == {}
    assert found.takes == ("x",)


def test_mindspore_is_described_as_its_checkpoint_spells_it(port: Side, tmp_path: Path) -> None:
    found = port.describe()
    sys.path.insert(0, str(PROJECT))
    try:
        import mindspore_side
    finally:
        sys.path.remove(str(PROJECT))
    ms.save_checkpoint(mindspore_side.net(), str(tmp_path / "net.ckpt"))
    saved = ms.load_checkpoint(str(tmp_path / "net.ckpt"))
    assert [one.name for one in found.parameters] == list(saved)
    assert [one.shape for one in found.parameters] == [tuple(one.shape) for one in saved.values()]
    by_name = {one.name: one for one in found.parameters}
    assert found.paths["its_own_name"] == "scale"
    assert not by_name["its_own_name"].trainable
    assert by_name["bn.moving_variance"].buffer
    assert by_name["bn.gamma"].trainable
    assert found.aliases == {"second.weight": "first.weight"}
    assert list(found.left_out) == ["scratch"]
    assert by_name["conv.weight"].initial is None


@pytest.mark.parametrize(("which", "name", "type"), [("bench", "bn.weight", "Net"), ("port", "bn.gamma", "Net")])
def test_a_parameter_s_layer_is_known(which: str, name: str, type: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(which).describe()
    layer = found.module_of(name)
    assert layer is not None
    assert (layer.path, layer.type) == ("bn", "BatchNorm2d")
    assert layer.attributes["eps"] == pytest.approx(1e-5)
    assert layer.arguments is not None
    assert layer.built_at is not None
    assert Path(layer.built_at.file).parent == PROJECT
    assert found.types[""] == type
    assert {one.name for one in found.own(layer)} == {
        one.name for one in found.parameters if one.name.startswith("bn.")
    }


def test_the_first_layer_of_both_takes_the_same(bench: Side, port: Side) -> None:
    here, there = guess_inputs(bench.describe()), guess_inputs(port.describe())
    assert here is not None
    assert there is not None
    assert np.array_equal(here[0], there[0])
    assert [one.shape for one in bench.forward(here)] == [(2, 6), (2, 6)]


@pytest.mark.parametrize("kind", ["pth", "nested pth", "safetensors", "npz"])
def test_torch_loads(kind: str, bench: Side, in_torch: dict[str, torch.Tensor], tmp_path: Path) -> None:
    plain = {name: one.numpy() for name, one in in_torch.items()}
    plain["fc.bias"] = plain["fc.bias"] + len(kind)
    by = "torch.load"
    if kind == "pth":
        path = tmp_path / "net.pth"
        torch.save({name: torch.from_numpy(one) for name, one in plain.items()}, path)
    elif kind == "nested pth":
        path = tmp_path / "net.pt"
        state = {name: torch.from_numpy(one) for name, one in plain.items()}
        torch.save({"epoch": 3, "model": {"state_dict": state}, "optimizer": {"state": {}, "param_groups": []}}, path)
    elif kind == "safetensors":
        path, by = tmp_path / "net.safetensors", "safetensors.torch.load_file"
        safetensors.numpy.save_file(plain, path)
    else:
        path, by = tmp_path / "net.npz", "trueline"
        np.savez(path, **plain)
    loaded = bench.load(path)
    assert loaded.complete
    assert (loaded.by, loaded.count) == (by, len(plain))
    _, middle = bench.forward([IMAGE])
    np.testing.assert_allclose(middle, _expected(plain, IMAGE), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kind", ["ckpt", "safetensors", "npz", "pth"])
def test_mindspore_loads(kind: str, port: Side, tmp_path: Path) -> None:
    weights = values()
    weights["fc.bias"] = weights["fc.bias"] + len(kind)
    named = {IN_MINDSPORE[name]: one for name, one in weights.items()}
    path = tmp_path / f"net.{kind}"
    if kind in ("ckpt", "safetensors"):
        entries = [{"name": name, "data": ms.Tensor(one)} for name, one in named.items()]
        ms.save_checkpoint(entries, str(path), format=kind)
    elif kind == "npz":
        np.savez(path, **named)
    else:
        torch.save({name: torch.from_numpy(one) for name, one in named.items()}, path)
    loaded = port.load(path)
    assert loaded.complete
    assert loaded.by == ("mindspore.load_checkpoint" if kind in ("ckpt", "safetensors") else "trueline")
    _, middle = port.forward([IMAGE])
    np.testing.assert_allclose(middle, _expected(weights, IMAGE), rtol=1e-4, atol=1e-5)


def test_other_types_are_converted_as_the_framework_does(port: Side, tmp_path: Path) -> None:
    entries = [{"name": "fc.weight", "data": ms.Tensor(values()["fc.weight"]).astype(ms.bfloat16)}]
    ms.save_checkpoint(entries, str(tmp_path / "half.ckpt"))
    before = {one.name: one.initial for one in port.describe(summaries=True).parameters}
    assert port.load(tmp_path / "half.ckpt").count == 1
    after = {one.name: one.initial for one in port.describe(summaries=True).parameters}
    assert after["fc.weight"] is not None
    assert after["fc.weight"].l2 == pytest.approx(float(np.linalg.norm(values()["fc.weight"])), rel=1e-2)
    assert [name for name in after if after[name] != before[name]] == ["fc.weight"]


def test_what_is_left_over_is_told_and_nothing_is_taken_for_it(
    bench: Side, port: Side, in_torch: dict[str, torch.Tensor], tmp_path: Path
) -> None:
    given = {name: one for name, one in in_torch.items() if name not in ("fc.bias", "second.weight")}
    torch.save({**given, "extra": torch.ones(2)}, tmp_path / "net.pth")
    loaded = bench.load(tmp_path / "net.pth")
    # The tied weight was given under its other name.
    assert list(loaded.missing) == ["fc.bias"]
    assert list(loaded.unexpected) == ["extra"]
    assert not loaded.complete

    # What ends like a missing name is another thing.
    entries = [{"name": f"teacher.{name}", "data": ms.Tensor(np.zeros(6, np.float32))} for name in ("fc.bias",)]
    ms.save_checkpoint(entries, str(tmp_path / "net.ckpt"))
    names = [one.name for one in port.describe().parameters]
    before = port.forward([IMAGE])
    loaded = port.load(tmp_path / "net.ckpt")
    assert list(loaded.missing) == names
    assert list(loaded.unexpected) == ["teacher.fc.bias"]
    assert all(np.allclose(a, b, atol=1e-5) for a, b in zip(port.forward([IMAGE]), before, strict=True))


@pytest.mark.parametrize("which", ["bench", "port"])
def test_another_shape_is_a_trouble_or_told(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    side: Side = request.getfixturevalue(which)
    if which == "bench":
        path = tmp_path / "net.pth"
        torch.save({"fc.weight": torch.ones(6, 9), "fc.bias": torch.ones(6)}, path)
    else:
        path = tmp_path / "net.ckpt"
        entries = {"fc.weight": np.ones((6, 9), np.float32), "fc.bias": np.ones(6, np.float32)}
        ms.save_checkpoint([{"name": name, "data": ms.Tensor(one)} for name, one in entries.items()], str(path))
    with pytest.raises(SideTrouble, match=r"fc\.weight has shape 6x9 in .*, the model expects 6x8") as caught:
        side.load(path)
    assert caught.value.message.id == "side.misfit"
    loaded = side.load(path, strict=False)
    assert [(one.name, one.in_file, one.in_model) for one in loaded.misfits] == [("fc.weight", (6, 9), (6, 8))]
    assert loaded.count == 1
    assert "fc.weight" not in loaded.missing


def test_files_that_are_none_are_one_line(bench: Side, port: Side, tmp_path: Path) -> None:
    (tmp_path / "broken.pth").write_bytes(b"PK\x03\x04 and no more")
    (tmp_path / "train.log").write_text("".join(f"step {step} loss: {1 / (step + 1)}\n" for step in range(20)))
    for side in (bench, port):
        for name in ("broken.pth", "absent.ckpt"):
            with pytest.raises(BadFile) as caught:
                side.load(tmp_path / name)
            assert str(tmp_path / name) in str(caught.value)
            assert "\n" not in str(caught.value)
        with pytest.raises(SideTrouble, match=r"train\.log is not a weight file"):
            side.load(tmp_path / "train.log")
    assert len(bench.forward([IMAGE])) == 2


def test_running_is_in_eval_mode_and_leaves_the_model_as_it_was(bench: Side) -> None:
    before = [one.initial for one in bench.describe(summaries=True).parameters]
    first, trained, again = bench.forward([IMAGE]), bench.forward([IMAGE], train=True), bench.forward([IMAGE])
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not np.allclose(first[0], trained[0])
    assert [one.initial for one in bench.describe(summaries=True).parameters] == before


@pytest.mark.parametrize("which", ["bench", "port"])
def test_a_perturbed_run_is_moved_by_rounding_only(which: str, request: pytest.FixtureRequest) -> None:
    side: Side = request.getfixturevalue(which)
    plain, moved = side.forward([IMAGE]), side.forward([IMAGE], perturbed=2)
    assert not np.array_equal(plain[0], moved[0])
    np.testing.assert_allclose(plain[0], moved[0], rtol=1e-4, atol=1e-5)
    further = side.forward([IMAGE], perturbed=2, ulps=1024)
    assert np.abs(further[0] - plain[0]).max() > np.abs(moved[0] - plain[0]).max()


@pytest.mark.parametrize(("which", "file"), [("bench", "torch_side.py"), ("port", "mindspore_side.py")])
def test_an_input_that_does_not_fit_names_the_user_s_line(
    which: str, file: str, request: pytest.FixtureRequest
) -> None:
    side: Side = request.getfixturevalue(which)
    lines = (PROJECT / file).read_text().splitlines()
    line = next(place for place, text in enumerate(lines, 1) if "middle = self.fc(" in text)
    with pytest.raises(SideTrouble) as caught:
        side.forward([IMAGE[:, :2]])
    assert caught.value.message.id == "side.raised_running"
    assert f"({file}:{line} <- 2x2x16x16)" in str(caught.value)
    assert len(side.forward([IMAGE])) == 2


def test_an_operator_without_a_kernel_is_named_and_little_memory_is_no_reason_to_refuse(tmp_path: Path) -> None:
    weight = np.random.default_rng(5).standard_normal((4, 3, 3, 3)).astype(np.float32)
    ms.save_checkpoint([{"name": "conv.weight", "data": ms.Tensor(weight)}], str(tmp_path / "net.ckpt"))
    with side_of("mindspore_side:no_kernel") as side:
        loaded = side.load(tmp_path / "net.ckpt")
        assert loaded.by == "trueline"
        assert list(loaded.missing) == ["conv.bias"]
        (found,) = (one.initial for one in side.describe(summaries=True).parameters if one.name == "conv.weight")
        assert found == summarise(weight)
        with pytest.raises(SideTrouble) as caught:
            side.forward([IMAGE])
    assert caught.value.message.id == "side.no_kernel"
    assert "Conv2DExt" in str(caught.value)
    lines = (PROJECT / "mindspore_side.py").read_text().splitlines()
    line = next(place for place, text in enumerate(lines, 1) if "return self.conv(x) + 1" in text)
    assert f"(mindspore_side.py:{line} <- 2x3x16x16)" in str(caught.value)


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that has everything but TrueLine."""
    home = tmp_path_factory.mktemp("elsewhere")
    venv.create(home, with_pip=False)
    packages = next((home / "lib").glob("python*/site-packages"))
    for one in Path(sysconfig.get_paths()["purelib"]).iterdir():
        if "trueline" not in one.name.lower() and not (packages / one.name).exists():
            (packages / one.name).symlink_to(one)
    return home / "bin" / "python"


def test_another_interpreter_needs_no_trueline(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    absent = subprocess.run([str(elsewhere), "-c", "import trueline"], capture_output=True, check=False)
    assert b"No module named 'trueline'" in absent.stderr
    with side_of("torch_side:READY", python=elsewhere) as side:
        assert side.describe().parameters[0].name == "scale"
        assert len(side.forward([IMAGE])) == 2


def test_methods_lazy_models_and_short_floats(tmp_path: Path) -> None:
    with (
        side_of("torch_side:Factories.make") as made,
        side_of("torch_side:lazy") as lazy,
        side_of("torch_side:half") as half,
    ):
        assert made.describe().types[""] == "Net"
        with pytest.raises(SideTrouble, match=r"0\.weight has no shape yet") as caught:
            lazy.describe()
        assert caught.value.message.id == "side.lazy"
        (wanted,) = half.describe().parameters[:1]
        assert wanted.dtype == "bfloat16"
        (out,) = half.forward([np.ones((2, 4), ml_dtypes.bfloat16)])
        assert out.dtype == ml_dtypes.bfloat16
        assert out.shape == (2, 3)
