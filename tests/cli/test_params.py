"""`trueline params`: the parameter table of files and models, and two of them side by side."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cli.broken_files import Malicious, is_one_line
from cli.calling import call
from cli.made_files import (
    mindspore_names,
    weights,
    write_ckpt,
    write_log,
    write_npy_folder,
    write_npz,
    write_pth,
    write_safetensors,
    write_sharded,
)
from cli.sample_runs import losses, record
from docs.json_schema import faults

from trueline.kernel import summarise

SCHEMA = Path(__file__).resolve().parent.parent.parent / "docs" / "schema" / "trueline-1.schema.json"
TORCH = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))
        self.emb = nn.Embedding(50, 8)
        self.conv = nn.Conv1d(3, 8, 3)
        self.bn = nn.BatchNorm1d(8)
        self.inorm = nn.InstanceNorm2d(8)
        self.head = nn.Linear(8, 50, bias=False)
        self.head.weight = self.emb.weight
        self.register_buffer("mask", torch.ones(3), persistent=False)

def frozen():
    net = Net()
    net.conv.weight.requires_grad_(False)
    return net

def raising():
    raise RuntimeError("out of luck")
"""
MINDSPORE = """
import numpy as np
from mindspore import Parameter, Tensor, nn

class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.scale = Parameter(Tensor(np.ones(3, np.float32)))
        self.emb = nn.Embedding(50, 8)
        self.conv = nn.Conv1d(3, 8, 3, has_bias=True)
        self.bn = nn.BatchNorm1d(8)
        self.inorm = nn.InstanceNorm2d(8)
        self.head = nn.Dense(8, 50, has_bias=False)
        self.head.weight = self.emb.embedding_table
"""


def listed(*arguments: str | Path, exit_code: int = 0) -> dict[str, Any]:
    """The answer for programs, held against the schema."""
    answer = call("params", *arguments, "--json")
    assert (answer.exit_code, answer.stderr) == (exit_code, ""), answer.output
    found: dict[str, Any] = json.loads(answer.stdout)
    schema = json.loads(SCHEMA.read_text("utf-8"))
    assert list(faults(found, schema, schema)) == []
    assert found["exit"] == exit_code
    return found


def by_name(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in rows}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "bench.py").write_text(TORCH, "utf-8")
    (folder / "port.py").write_text(MINDSPORE, "utf-8")
    return folder


# One file


WRITERS: list[tuple[str, Callable[[Path, Any], Path]]] = [
    ("a.pth", write_pth),
    ("a.ckpt", write_ckpt),
    ("a.safetensors", write_safetensors),
    ("shards", write_sharded),
    ("a.npz", write_npz),
]


@pytest.mark.parametrize(("name", "write"), WRITERS, ids=[name for name, _ in WRITERS])
def test_a_file_of_every_format_lists_its_tensors(
    tmp_path: Path, name: str, write: Callable[[Path, Any], Path]
) -> None:
    arrays = mindspore_names(weights()) if name == "a.ckpt" else weights()
    found = listed(write(tmp_path / name, weights()))
    rows = by_name(found["parameters"])
    assert rows.keys() == arrays.keys()
    for one, array in arrays.items():
        row = rows[one]
        assert (tuple(row["shape"]), row["dtype"], row["count"]) == (array.shape, array.dtype.name, array.size)
        assert row["summary"] == summarise(array).to_json()
    assert (rows["conv1.weight"]["layer"], rows["conv1.weight"]["certainty"]) == ("Conv2d", "likely")
    mean = "bn1.moving_mean" if name == "a.ckpt" else "bn1.running_mean"
    assert (rows[mean]["layer"], rows[mean]["trainable"], rows[mean]["buffer"]) == ("BatchNorm", False, True)
    assert rows["fc.bias"]["trainable"] is None
    totals = found["totals"]
    assert totals["tensors"] == len(arrays)
    assert totals["elements"] == sum(array.size for array in arrays.values())
    assert totals["bytes"] == sum(array.nbytes for array in arrays.values())
    statistics = [array.size for one, array in arrays.items() if "running" in one or "moving" in one or "num_b" in one]
    assert (totals["buffers"], totals["trainable"]) == (sum(statistics), None)


def test_the_table_for_people_marks_what_is_guessed(tmp_path: Path) -> None:
    page = call("params", write_pth(tmp_path / "a.pth", weights()), COLUMNS="100").stdout
    assert "holds 6,554 parameters" in " ".join(page.split())
    assert "Conv2d?" in page
    assert "? is likely" in page
    line = next(line for line in page.splitlines() if line.startswith("conv1.weight"))
    assert line.split() == ["conv1.weight", "Conv2d?", "8x3x3x3", "float32", "216", "-"]


def test_a_wide_terminal_has_names_and_numbers_in_one_table(tmp_path: Path) -> None:
    path = write_npz(tmp_path / "a.npz", {"fc.weight": np.array([[0.0, 2.0], [4.0, 2.0]], np.float32)})
    assert "Statistics" in call("params", path, COLUMNS="100").stdout
    wide = call("params", path, COLUMNS="160").stdout
    assert "Statistics" not in wide
    line = next(line for line in wide.splitlines() if line.startswith("fc.weight"))
    assert line.split() == ["fc.weight", "Linear??", "2x2", "float32", "4", "-", "0", "4", "2", "1.41", "0.25"]


def test_tied_weights_count_once(tmp_path: Path) -> None:
    import torch

    tied = torch.ones(50, 8)
    torch.save({"emb.weight": tied, "norm.weight": torch.ones(8), "head.weight": tied}, tmp_path / "a.pth")
    found = listed(tmp_path / "a.pth")
    assert by_name(found["parameters"])["head.weight"]["shared_with"] == "emb.weight"
    assert found["totals"]["elements"] == 408
    assert found["totals"]["bytes"] == 4 * 408


def test_optimizer_and_plain_values_are_beside_the_model(tmp_path: Path) -> None:
    import torch

    net = torch.nn.Linear(4, 3)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 4)).sum().backward()
    optimizer.step()
    state = {"state_dict": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 7, "huge": 1 << 1500}
    torch.save(state, tmp_path / "all.pth")
    found = listed(tmp_path / "all.pth")
    assert [one["name"] for one in found["parameters"]] == ["weight", "bias"]
    assert found["sections"]["optimizer"]["elements"] == 2 * 15 + 2
    assert found["others"]["epoch"] == 7
    assert "bits" in found["others"]["huge"]
    page = call("params", tmp_path / "all.pth").stdout
    assert "--section NAME" in page
    assert "epoch" in page
    inside = listed(tmp_path / "all.pth", "--section", "optimizer")
    assert "state.0.exp_avg" in by_name(inside["parameters"])
    assert inside["sections"][""]["elements"] == 15


def test_nan_and_inf_are_marked_and_said_and_no_fault_of_the_command(tmp_path: Path) -> None:
    bad = np.array([1, np.nan, np.inf, -np.inf, 0], np.float32)
    path = write_npz(tmp_path / "a.npz", {"fine": np.ones(3), "bad": bad, "worse": np.full(2, np.nan)})
    page = call("params", path, COLUMNS="100")
    assert page.exit_code == 0
    assert "NaN or Inf in 2 of 3 tensors (marked), the first bad." in page.stdout
    assert [line.split()[1] for line in page.stdout.splitlines() if line.startswith(">")] == ["bad", "worse"] * 2
    assert "1 NaN, 1 Inf, 1 -Inf" in page.stdout


def test_elements_of_every_kind_are_measured(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    narrow = np.array([0.5, -2.0, 0.0, 448.0], ml_dtypes.float8_e4m3fn)
    arrays = {
        "half": np.arange(8, dtype=np.float16),
        "brain": np.arange(8).astype(ml_dtypes.bfloat16),
        "mask": np.array([True, False, True]),
        "empty": np.zeros((0, 4), np.float32),
        "one": np.array(3.5),
        "ids": np.arange(5),
    }
    save_file(arrays, tmp_path / "a.safetensors")
    found = listed(tmp_path / "a.safetensors")
    rows = by_name(found["parameters"])
    assert rows["brain"]["dtype"] == "bfloat16"
    assert rows["brain"]["summary"]["max"] == 7
    assert rows["empty"]["summary"]["count"] == 0
    assert (rows["one"]["shape"], rows["one"]["summary"]["mean"]) == ([], 3.5)
    # What is not real is never trained.
    assert (rows["ids"]["trainable"], rows["mask"]["trainable"], rows["half"]["trainable"]) == (False, False, None)
    assert found["totals"]["bytes"] == 16 + 16 + 3 + 0 + 8 + 40
    header = json.dumps({"narrow": {"dtype": "F8_E4M3", "shape": [4], "data_offsets": [0, 4]}}).encode()
    (tmp_path / "b.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + narrow.tobytes())
    (row,) = listed(tmp_path / "b.safetensors")["parameters"]
    assert (row["summary"]["min"], row["summary"]["max"], row["summary"]["zeros"]) == (-2, 448, 1)


def test_a_compressed_array_has_the_numbers_of_the_plain_one(tmp_path: Path) -> None:
    array = np.random.default_rng(2).standard_normal((700, 900)).astype(np.float32)
    array[3, 4] = np.nan
    np.savez_compressed(tmp_path / "a.npz", w=array)
    (row,) = listed(tmp_path / "a.npz")["parameters"]
    whole = summarise(array).to_json()
    exact = ("count", "nan", "zeros", "min", "max", "fingerprint")
    assert [row["summary"][name] for name in exact] == [whole[name] for name in exact]
    for name in ("mean", "abs_mean", "std", "l2"):
        assert row["summary"][name] == pytest.approx(whole[name], rel=1e-9)


def test_without_statistics_only_headers_are_read(tmp_path: Path) -> None:
    # A sparse file of a terabyte: reading it would take hours.
    size = 1 << 40
    header = json.dumps({"w": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}}).encode()
    with (tmp_path / "huge.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.truncate(8 + len(header) + size)
    found = listed(tmp_path / "huge.safetensors", "--no-stats")
    assert (found["parameters"][0]["summary"], found["totals"]["bytes"]) == (None, size)


def test_the_largest_first(tmp_path: Path) -> None:
    path = write_npz(tmp_path / "a.npz", {"small": np.ones(2), "large": np.ones(9), "middle": np.ones(5)})
    names = [one["name"] for one in listed(path, "--sort", "size")["parameters"]]
    assert names == ["large", "middle", "small"]
    assert [one["name"] for one in listed(path)["parameters"]] == ["small", "large", "middle"]


def test_a_page_and_chinese(tmp_path: Path) -> None:
    path = write_npz(tmp_path / "a.npz", {"fc.weight": np.ones((2, 2))})
    page = tmp_path / "table.html"
    assert call("params", path, "-o", page).exit_code == 0
    assert "fc.weight" in page.read_text("utf-8")
    is_one_line(call("params", path, "-o", page), "--force")
    assert call("params", path, "-o", page, "--force").exit_code == 0
    assert "个参数" in call("params", path, "--lang", "zh").stdout


# Two files


def test_a_port_s_file_has_the_same_parameters(tmp_path: Path) -> None:
    found = listed(write_ckpt(tmp_path / "a.ckpt", weights()), write_pth(tmp_path / "b.pth", weights()))
    pairs = by_name(found["pairs"])
    assert len(pairs) == len(mindspore_names(weights()))
    assert (pairs["bn1.gamma"]["other_name"], pairs["bn1.gamma"]["reason"]) == ("bn1.weight", "leaf")
    assert all(one["differs"] == [] for one in found["pairs"])
    assert found["only_a"] == []
    assert {one["name"]: one["counts"] for one in found["only_b"]} == {
        "bn1.num_batches_tracked": False,
        "layer1.1.num_batches_tracked": False,
    }
    assert [one["parameters"] for one in found["totals"]] == [6554, 6554]
    assert "their values were not compared" in found["conclusion"]


def test_what_is_missing_or_of_another_shape_is_found(tmp_path: Path) -> None:
    arrays = weights()
    other = {name: one for name, one in arrays.items() if name != "layer1.3.bias"}
    other["fc.weight"] = other["fc.weight"][:, :500]
    a, b = write_npz(tmp_path / "a.npz", arrays), write_npz(tmp_path / "b.npz", other)
    found = listed(a, b, exit_code=1)
    assert [one["code"] for one in found["findings"]] == ["cmp.06", "cmp.06"]
    assert [(one["name"], one["counts"]) for one in found["only_a"]] == [("layer1.3.bias", True)]
    assert found["only_a"][0]["nearest"] == "layer1.0.bias"
    fc = by_name(found["pairs"])["fc.weight"]
    assert (fc["layout"], fc["differs"]) == (None, ["shape"])
    page = call("params", a, b).stdout
    marked = [line.split()[1] for line in page.splitlines() if line.startswith(">")]
    assert marked == ["layer1.3.bias", "fc.weight"]
    assert "10x512 in a.npz and 10x500 in b.npz" in " ".join(page.split())


def test_another_dtype_or_layout_is_no_other_network(tmp_path: Path) -> None:
    kernel = np.random.default_rng(0).standard_normal((4, 3, 5)).astype(np.float32)
    a = write_npz(tmp_path / "a.npz", {"conv.weight": kernel, "conv.bias": np.ones(4, np.float32)})
    half = {"conv.weight": kernel[:, :, None].astype(np.float16), "conv.bias": np.ones(4, np.float16)}
    found = listed(a, write_npz(tmp_path / "b.npz", half))
    assert [one["differs"] for one in found["pairs"]] == [["dtype"], ["dtype"]]
    assert [one["layout"] for one in found["pairs"]] == ["squeezed", "same"]
    page = " ".join(call("params", a, tmp_path / "b.npz").stdout.split())
    assert "Different layout of the same tensor, not a difference (1): conv.weight is 4x3x5 and 4x3x1x5" in page


def test_a_second_name_of_a_tied_weight_is_no_difference_even_where_the_file_holds_a_copy(tmp_path: Path) -> None:
    table = np.random.default_rng(0).standard_normal((20, 8)).astype(np.float32)
    a = write_safetensors(tmp_path / "a.safetensors", {"emb.weight": table, "head.weight": table.copy()})
    b = write_safetensors(tmp_path / "b.safetensors", {"emb.weight": table})
    (alone,) = listed(a, b)["only_a"]
    assert (alone["name"], alone["counts"], alone["why"]) == ("head.weight", False, "another name of emb.weight")
    # Without a look at the elements nobody can know.
    listed(a, b, "--no-stats", exit_code=1)


def test_names_are_mapped_and_left_out_as_the_user_says(tmp_path: Path) -> None:
    one = {"x.weight": np.ones((2, 2)), "y.weight": np.zeros((2, 2)), "more": np.ones(3)}
    two = {"p.weight": np.full((2, 2), 3.0), "q.weight": np.full((2, 2), 4.0)}
    a, b = write_npz(tmp_path / "a.npz", one), write_npz(tmp_path / "b.npz", two)
    (tmp_path / "names.txt").write_text("x = q\ny = p\n", "utf-8")
    found = listed(a, b, "--map", tmp_path / "names.txt", "--ignore", "more")
    assert {(one["name"], one["other_name"], one["reason"]) for one in found["pairs"]} == {
        ("x.weight", "q.weight", "map"),
        ("y.weight", "p.weight", "map"),
    }
    (tmp_path / "names.txt").write_text("z = q\n", "utf-8")
    is_one_line(call("params", a, b, "--map", tmp_path / "names.txt"), "z = q")
    is_one_line(call("params", a, "--ignore", "more"), "--ignore", "two")


# Models


@pytest.mark.usefixtures("warm_guests")
def test_a_model_says_what_its_layers_are_and_what_it_trains(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    found = listed("bench:frozen")
    rows = by_name(found["parameters"])
    assert (rows["emb.weight"]["layer"], rows["emb.weight"]["certainty"]) == ("Embedding", "certain")
    assert rows["scale"]["layer"] == "Net"
    assert {name for name, one in rows.items() if not one["trainable"]} == {
        "conv.weight",
        "bn.running_mean",
        "bn.running_var",
        "bn.num_batches_tracked",
    }
    assert rows["head.weight"]["shared_with"] == "emb.weight"
    assert rows["scale"]["summary"]["mean"] == 1
    assert found["left_out"] == ["mask"]
    parameters = 3 + 400 + 72 + 8 + 16
    assert (found["totals"]["parameters"], found["totals"]["trainable"]) == (parameters, parameters - 72)


@pytest.mark.usefixtures("warm_guests")
def test_two_models_of_two_frameworks(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    found = listed("port:Net", "bench:Net")
    pairs = by_name(found["pairs"])
    assert pairs["emb.embedding_table"]["other_name"] == "emb.weight"
    assert (pairs["conv.weight"]["layout"], pairs["conv.weight"]["shape"]) == ("squeezed", [[8, 3, 1, 3], [8, 3, 3]])
    assert pairs["conv.weight"]["trainable"] == [True, True]
    # torch's InstanceNorm has no tensors here, MindSpore's has them always.
    assert {one["name"] for one in found["only_a"]} == {
        "inorm.gamma",
        "inorm.beta",
        "inorm.moving_mean",
        "inorm.moving_variance",
    }
    assert {one["name"] for one in found["only_b"]} == {"bn.num_batches_tracked", "head.weight"}
    assert not any(one["counts"] for one in (*found["only_a"], *found["only_b"]))


@pytest.mark.usefixtures("warm_guests")
def test_a_frozen_parameter_is_found(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    found = listed("bench:frozen", "bench.py:Net", exit_code=1)
    (finding,) = found["findings"]
    assert (finding["code"], finding["where"]["module"]) == ("cmp.06", "conv")
    assert "conv.weight is trained in bench.py:Net and frozen in bench:frozen" in finding["message"]
    assert [one["name"] for one in found["pairs"] if one["differs"] == ["trained"]] == ["conv.weight"]


# What cannot be listed


def broken_zip(folder: Path) -> Path:
    whole = write_pth(folder / "cut.pth", weights())
    whole.write_bytes(whole.read_bytes()[:3000])
    return whole


def malicious(folder: Path) -> Path:
    import torch

    torch.save({"state_dict": {"w": torch.ones(2)}, "hook": Malicious(folder / "sentinel")}, folder / "evil.pth")
    return folder / "evil.pth"


BAD: list[tuple[Callable[[Path], Path], tuple[str, ...]]] = [
    (lambda folder: folder / "nowhere.pth", ("nowhere.pth", "No such file")),
    (lambda folder: write_log(folder / "train.log", [2.0, 1.0, 0.5]), ("train.log", "a log", "expected a weight file")),
    (lambda folder: record(folder / "run", losses(3)), ("a run folder", "expected a weight file")),
    (lambda folder: write_npy_folder(folder / "arrays", weights()), ("a folder of arrays", "expected a weight file")),
    (broken_zip, ("cut.pth",)),
    (malicious, ("evil.pth", "posix.system", "nothing of it was run")),
]


@pytest.mark.parametrize(("make", "words"), BAD)
def test_what_is_no_weight_file_is_one_line(
    tmp_path: Path, make: Callable[[Path], Path], words: tuple[str, ...]
) -> None:
    path = make(tmp_path)
    is_one_line(call("params", path), *words)
    is_one_line(call("params", write_npz(tmp_path / "good.npz", {"w": np.ones(2)}), path), *words)
    assert not (tmp_path / "sentinel").exists()


def test_what_is_no_model_is_one_line(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)
    is_one_line(call("params", "bench:raising"), "bench:raising", "RuntimeError", "out of luck")
    is_one_line(call("params", "no_such_module:net"), "no_such_module")
    is_one_line(call("params", "models.resnet"), "models.resnet", "module:factory")
    is_one_line(call("params", "bench"), "bench", "module:factory")
    is_one_line(call("params", "models/resnet:net"), "models/resnet")


def test_a_section_that_is_not_there(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_pth(tmp_path / "a.pth", weights(), lambda state: {"model": state, "ema": dict(state)})
    assert listed(path, "--section", "ema")["totals"]["tensors"] == len(weights())
    is_one_line(call("params", path, "--section", "optimizer"), "optimizer", "there are: ema")
    monkeypatch.chdir(project)
    is_one_line(call("params", "bench:Net", "--section", "ema"), "--section ema", "bench:Net is a model")
