"""Dump folders that msprobe wrote (msprobe/make.py says how), and such folders damaged."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

from trueline.formats.dump import Dump, Dumped
from trueline.formats.msprobe import looks_like_msprobe, read_msprobe
from trueline.model.trouble import BadFile

FOLDER = Path(__file__).parent / "msprobe"
NAMES = ("torch_statistics_mix", "torch_tensor_L0", "mindspore_statistics_L0", "mindspore_tensor_L0")


def _by_key(dump: Dump, step: int = 0, rank: int = 0) -> dict[str, Dumped]:
    return {str(one.key): one for one in dump.steps[step, rank]}


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of a real dump's only rank, to be damaged."""
    shutil.copytree(FOLDER / "torch_tensor_L0" / "step0" / "rank0", tmp_path / "dump")
    return tmp_path / "dump"


@pytest.mark.parametrize("name", NAMES)
def test_a_dump_is_recognised(name: str) -> None:
    assert looks_like_msprobe(FOLDER / name)
    assert read_msprobe(FOLDER / name).tool == "msprobe"


def test_another_folder_is_none(tmp_path: Path) -> None:
    assert not looks_like_msprobe(tmp_path)
    assert not looks_like_msprobe(tmp_path / "nowhere")
    assert not looks_like_msprobe(Path(__file__))
    (tmp_path / "dump.json").write_text('{"something": "else"}')
    assert not looks_like_msprobe(tmp_path)


@pytest.mark.parametrize("name", ["torch_tensor_L0", "mindspore_tensor_L0"])
def test_modules_have_the_keys_of_a_recorded_run(name: str) -> None:
    found = _by_key(read_msprobe(FOLDER / name))
    assert {
        "train/layer1.0#0/in/0",
        "train/layer1.0#0/out/0",
        "train/layer1.0#0/param/weight",
        "train/layer1.0#0/grad/weight",
        "train/layer1.0#0/gout/0",
        "train/layer1.1#0/gin/0",
        "train/layer1#0/out/0",
        "train/fc#0/out/0",
    } <= set(found)
    assert found["train/layer1.0#0/out/0"].type == "Conv2d"
    assert found["train/layer1.0#0/out/0"].shape == (2, 2, 2, 2)
    # Backward: what comes in is the gradient of the outputs, what goes out that of the inputs.
    assert found["train/fc#0/gout/0"].shape == (2, 3)
    assert found["train/fc#0/gin/0"].shape == (2, 8)


def test_the_order_is_that_of_the_calls() -> None:
    calls = [one.key.module for one in read_msprobe(FOLDER / "torch_tensor_L0").steps[0, 0] if one.key.kind == "out"]
    assert calls == ["layer1.0", "layer1.1", "layer1", "fc"]


@pytest.mark.parametrize("name", ["torch_tensor_L0", "mindspore_tensor_L0"])
def test_the_elements_have_the_numbers_that_the_tool_computed(name: str) -> None:
    dumped = read_msprobe(FOLDER / name).steps[0, 0]
    for one in dumped:
        assert one.stored is not None
        array = one.stored.array()
        assert (array.shape, array.dtype.name) == (one.shape, one.dtype)
        assert one.numbers["max"] == pytest.approx(array.max(), rel=1e-6)
        assert one.numbers["min"] == pytest.approx(array.min(), rel=1e-6)
        assert one.numbers["mean"] == pytest.approx(array.mean(), rel=1e-4, abs=1e-7)
        assert one.numbers["l2"] == pytest.approx(np.linalg.norm(array), rel=1e-5)


def test_a_layer_computed_from_the_dump_gives_the_dumped_output() -> None:
    found = _by_key(read_msprobe(FOLDER / "torch_tensor_L0"))
    arrays = {key: one.stored.array() for key, one in found.items() if one.stored is not None}
    out = arrays["train/fc#0/in/0"] @ arrays["train/fc#0/param/weight"].T + arrays["train/fc#0/param/bias"]
    np.testing.assert_allclose(out, arrays["train/fc#0/out/0"], rtol=1e-5)
    gradient = arrays["train/fc#0/gout/0"].T @ arrays["train/fc#0/in/0"]
    np.testing.assert_allclose(gradient, arrays["train/fc#0/grad/weight"], rtol=1e-4, atol=1e-7)


def test_statistics_alone_are_numbers_without_elements() -> None:
    dump = read_msprobe(FOLDER / "mindspore_statistics_L0")
    assert set(dump.steps) == {(0, 0), (1, 0)}
    found = _by_key(dump, 1)["train/fc#0/out/0"]
    assert found.stored is None
    assert found.dtype == "float32"
    assert set(found.numbers) == {"min", "max", "mean", "l2"}


def test_operators_keep_their_names_and_count_their_calls() -> None:
    found = _by_key(read_msprobe(FOLDER / "torch_statistics_mix"))
    assert found["train/Functional.conv2d#0/in/1"].shape == (2, 1, 3, 3)
    assert found["train/Functional.conv2d#0/out/0"].type == "conv2d"
    assert "train/Tensor.add_#3/out/0" in found
    assert "train/layer1.0#0/out/0" in found


def test_what_is_not_finite_is_told() -> None:
    numbers = _by_key(read_msprobe(FOLDER / "torch_statistics_mix"), 1)["train/layer1.0#0/out/0"].numbers
    assert not all(math.isfinite(value) for value in numbers.values())


def test_a_step_and_a_rank_open_alone() -> None:
    whole = read_msprobe(FOLDER / "torch_statistics_mix")
    step = read_msprobe(FOLDER / "torch_statistics_mix" / "step1")
    assert set(step.steps) == {(1, 0)}
    [rank] = (FOLDER / "torch_statistics_mix" / "step1").iterdir()
    alone = read_msprobe(rank)
    assert set(alone.steps) == {(1, 0)}
    names = [one.name for one in whole.steps[1, 0]]
    assert names == [one.name for one in step.steps[1, 0]] == [one.name for one in alone.steps[1, 0]]


def test_ranks_and_processes_are_told_apart(tmp_path: Path) -> None:
    real = FOLDER / "torch_tensor_L0" / "step0" / "rank0"
    for name in ("step3/rank0", "step3/rank10", "step3/rank2", "step12/proc900", "step12/proc1000"):
        shutil.copytree(real, tmp_path / name)
    assert set(read_msprobe(tmp_path).steps) == {(3, 0), (3, 2), (3, 10), (12, 0), (12, 1)}


def test_elements_that_were_not_copied_along_leave_the_numbers(copied: Path) -> None:
    shutil.rmtree(copied / "dump_tensor_data")
    [dumped] = read_msprobe(copied).steps.values()
    assert all(one.stored is None and one.numbers for one in dumped)


def test_a_name_that_leads_elsewhere_is_not_followed(copied: Path) -> None:
    (copied.parent / "secret.npy").write_bytes((FOLDER / "make.py").read_bytes())
    data = json.loads((copied / "dump.json").read_text())
    for call in data["data"].values():
        for one in call.get("output", ()):
            one["data_name"] = "../../secret.npy"
    (copied / "dump.json").write_text(json.dumps(data))
    [dumped] = read_msprobe(copied).steps.values()
    assert all(one.stored is None for one in dumped if one.key.kind in ("out", "gin"))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"\xff\xfe", "not valid JSON"),
        (b"[1, 2]", "no data"),
        (b'{"data": 3}', "no data"),
        (b'{"data": {}}', "empty dump"),
        (b'{"data": {"Module.a.Linear.forward.0": 7, "x": {}, "Module.forward": {"output": [1]}}}', "empty dump"),
        (b'{"data": ' + b"[" * 100_000, "not valid JSON"),
        (b'{"data": {"Module.a.L.forward.0": {"output": ' + b"[" * 900 + b"]" * 900 + b"}}}", "empty dump"),
    ],
)
def test_a_damaged_list_is_one_clear_line(copied: Path, content: bytes, says: str) -> None:
    (copied / "dump.json").write_bytes(content)
    with pytest.raises(BadFile, match=says) as caught:
        read_msprobe(copied)
    assert "\n" not in str(caught.value)


def test_odd_entries_are_passed_over(copied: Path) -> None:
    odd = [
        {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [-1], "Max": 1.0},
        {"type": "torch.Tensor", "dtype": "torch.float32", "shape": "2", "Max": 1.0},
        {"type": "torch.Tensor", "dtype": 3, "shape": [2]},
        {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": "N/A", "Min": None, "Norm": [1]},
        None,
        {"mask": {"type": "torch.Tensor", "dtype": "torch.bool", "shape": [2], "Max": True, "Min": False}},
    ]
    (copied / "dump.json").write_text(json.dumps({"data": {"Module.a.Linear.forward.2": {"output": odd}}}))
    [dumped] = read_msprobe(copied).steps.values()
    assert [(str(one.key), dict(one.numbers)) for one in dumped] == [
        ("train/a#2/out/3", {}),
        ("train/a#2/out/5.mask", {"min": 0.0, "max": 1.0}),
    ]


def test_damaged_elements_name_their_file(copied: Path) -> None:
    for path in (copied / "dump_tensor_data").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(BadFile, match=r"dump_tensor_data.*\.pt"):
        read_msprobe(copied)


def test_no_dump_at_all_says_so(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="not a dump folder"):
        read_msprobe(tmp_path)
    with pytest.raises(BadFile):
        read_msprobe(tmp_path / "nowhere")
