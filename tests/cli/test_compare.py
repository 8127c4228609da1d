"""What a user of `trueline compare` sees."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from cli.calling import call, environment
from cli.made_files import (
    Arrays,
    copy_dump,
    falling,
    mindspore_names,
    torch_net,
    weights,
    write_ckpt,
    write_csv,
    write_jsonl,
    write_log,
    write_npy_folder,
    write_npz,
    write_pth,
    write_safetensors,
    write_sharded,
    write_tensorboard,
)
from click.testing import Result
from docs.json_schema import faults

SCHEMA = Path(__file__).resolve().parent.parent.parent / "docs" / "schema" / "trueline-1.schema.json"
# In the middle of the network: named as itself, not as a neighbour of the same shape.
SCALED = "layer1.3.weight"
WRITERS: dict[str, tuple[str, Callable[[Path, Arrays], Path]]] = {
    "pth": ("w.pth", write_pth),
    "ckpt": ("w.ckpt", write_ckpt),
    "safetensors": ("w.safetensors", write_safetensors),
    "sharded": ("sharded", write_sharded),
    "npz": ("w.npz", write_npz),
}


@pytest.fixture(scope="module")
def equal(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same weights in every format."""
    folder = tmp_path_factory.mktemp("equal")
    return {kind: write(folder / name, weights()) for kind, (name, write) in WRITERS.items()}


@pytest.fixture(scope="module")
def scaled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The same with one convolution a hundredth larger."""
    folder = tmp_path_factory.mktemp("scaled")
    return {kind: write(folder / name, weights({SCALED: 1.01})) for kind, (name, write) in WRITERS.items()}


def said(answer: Result) -> str:
    """The text of a report, however its lines were broken."""
    assert "Traceback" not in answer.output
    return " ".join(answer.stdout.split())


def told(*arguments: str | Path) -> dict[str, Any]:
    """The answer for programs."""
    answer = call("compare", *arguments, "--json")
    found: dict[str, Any] = json.loads(answer.stdout)
    assert found["exit"] == answer.exit_code
    assert answer.stderr == ""
    return found


def is_equal(*arguments: str | Path) -> None:
    found = told(*arguments)
    assert (found["exit"], found["verdict"], found["findings"]) == (0, "equal", []), found["conclusion"]


# Weight files


@pytest.mark.parametrize(("a", "b"), permutations(WRITERS, 2))
def test_the_same_weights_in_two_formats_are_equal(equal: dict[str, Path], a: str, b: str) -> None:
    answer = call("compare", equal[a], equal[b])
    assert (answer.exit_code, answer.stderr) == (0, "")
    assert "are bitwise equal" in said(answer)


@pytest.mark.parametrize(("a", "b"), permutations(WRITERS, 2))
def test_a_convolution_a_hundredth_larger_is_named(
    equal: dict[str, Path], scaled: dict[str, Path], a: str, b: str
) -> None:
    answer = call("compare", scaled[a], equal[b])
    assert (answer.exit_code, answer.stderr) == (1, "")
    first = said(answer).partition(";")[0]
    assert first.startswith(f"{SCALED} in ")
    assert first.partition(" is ")[2].startswith("1.01 times")


def test_the_factor_turns_with_the_sides(equal: dict[str, Path], scaled: dict[str, Path]) -> None:
    found = told(equal["pth"], scaled["ckpt"])
    assert found["first"]["key"] == SCALED
    assert "0.990099 times" in found["conclusion"]


def test_another_order_in_memory_is_no_difference(equal: dict[str, Path], tmp_path: Path) -> None:
    import torch

    net = torch_net()
    torch.save(net.to(memory_format=torch.channels_last).state_dict(), tmp_path / "channels_last.pth")
    state = net.state_dict()
    assert not state["layer1.3.weight"].is_contiguous()
    state["fc.weight"] = state["fc.weight"].t().contiguous().t()
    torch.save(state, tmp_path / "transposed.pth")
    # A view into the middle of a larger storage.
    state["conv1.bias"] = torch.stack([torch.zeros(8), net.state_dict()["conv1.bias"], torch.ones(8)])[1]
    torch.save(state, tmp_path / "view.pth")
    for name in ("channels_last", "transposed", "view"):
        for other in ("ckpt", "npz"):
            is_equal(tmp_path / f"{name}.pth", equal[other])
            is_equal(equal[other], tmp_path / f"{name}.pth")


def test_fortran_order_and_the_other_byte_order_are_no_difference(tmp_path: Path) -> None:
    arrays = weights()
    plain = write_npy_folder(tmp_path / "plain", arrays)
    fortran = write_npy_folder(tmp_path / "fortran", {name: np.asfortranarray(one) for name, one in arrays.items()})
    assert b"'fortran_order': True" in (fortran / "fc.weight.npy").read_bytes()[:128]
    big = {name: one.astype(one.dtype.newbyteorder(">")) for name, one in arrays.items()}
    for other in (fortran, write_npy_folder(tmp_path / "big", big)):
        is_equal(other, plain)
        is_equal(plain, other)


def test_a_linear_layer_stored_transposed_is_recognised(tmp_path: Path) -> None:
    a = write_npz(tmp_path / "a.npz", weights())
    turned = weights()
    turned["fc.weight"] = np.ascontiguousarray(turned["fc.weight"].T)
    assert told(a, write_npz(tmp_path / "b.npz", turned))["exit"] == 0


def test_half_the_digits_are_rounding_and_not_a_difference(tmp_path: Path) -> None:
    full = write_safetensors(tmp_path / "full.safetensors", weights())
    for kind in (ml_dtypes.bfloat16, np.float16):
        less = {name: one.astype(kind) if one.dtype == np.float32 else one for name, one in weights().items()}
        half = write_safetensors(tmp_path / "half.safetensors", less)
        for pair in ((half, full), (full, half)):
            found = told(*pair)
            assert (found["exit"], found["verdict"]) == (0, "noise"), found["conclusion"]
        less["fc.weight"] = (less["fc.weight"].astype(np.float32) * 1.1).astype(kind)
        found = told(write_safetensors(tmp_path / "half.safetensors", less), full)
        assert (found["exit"], found["first"]["key"]) == (1, "fc.weight")


def test_a_nested_checkpoint_of_a_wrapped_network(equal: dict[str, Path], tmp_path: Path) -> None:
    def wrapped(state: dict[str, Any]) -> dict[str, Any]:
        return {"epoch": 3, "state_dict": {f"module.{name}": one for name, one in state.items()}, "best": 0.9}

    nested = write_pth(tmp_path / "nested.pth", weights(), wrapped)
    for other in ("pth", "ckpt", "npz"):
        is_equal(nested, equal[other])
        is_equal(equal[other], nested)
    found = told(write_pth(tmp_path / "nested.pth", weights({SCALED: 1.01}), wrapped), equal["ckpt"])
    assert (found["exit"], found["first"]["other_key"]) == (1, SCALED)


def trained(path: Path, momentum: float) -> Path:
    """A checkpoint with the state of a torch optimizer."""

    def around(state: dict[str, Any]) -> dict[str, Any]:
        held = {number: {"momentum_buffer": one * momentum} for number, one in enumerate(state.values())}
        groups = [{"lr": 0.1, "momentum": 0.9, "nesterov": False, "params": list(held)}]
        return {"model": state, "optimizer": {"state": held, "param_groups": groups}, "epoch": 1}

    return write_pth(path, {name: one for name, one in weights().items() if one.ndim}, around)


def test_the_optimizers_state_is_compared_apart_from_the_weights(equal: dict[str, Path], tmp_path: Path) -> None:
    one, same, other = (trained(tmp_path / f"{n}.pth", momentum) for n, momentum in enumerate((1.0, 1.0, 2.0)))
    is_equal(one, same)
    found = told(one, other)
    assert found["exit"] == 1
    assert {row["section"] for row in found["tensors"] if row["verdict"] == "differs"} == {"optimizer"}
    assert "momentum_buffer" in found["first"]["key"]
    # Weights alone have no optimizer: that is said, and is no difference.
    answer = call("compare", one, equal["ckpt"])
    assert answer.exit_code == 0
    assert "The section optimizer is only in" in said(answer)
    assert told(one, equal["ckpt"])["sections_on_one_side"].keys() == {"optimizer"}


def test_what_is_left_over_is_listed_with_its_nearest(tmp_path: Path) -> None:
    more = weights()
    more["head.weight"] = more["fc.weight"][:, :100].copy()
    a, b = write_npz(tmp_path / "a.npz", more), write_npz(tmp_path / "b.npz", weights())
    for pair, only, none in (((a, b), "only_a", "only_b"), ((b, a), "only_b", "only_a")):
        found = told(*pair)
        assert (found["exit"], found["verdict"], found["stopped_at"]) == (1, "differs", "structure")
        assert [one["name"] for one in found[only]] == ["head.weight"]
        assert found[none] == []
        assert found["compared"] == len(weights())
        answer = call("compare", *pair)
        assert "head.weight" in said(answer).partition("Problem found")[0]
        assert "Only in a.npz (1)" in said(answer)
        is_equal(*pair, "--ignore", "head.*")


def test_ignored_names_are_not_compared(equal: dict[str, Path], scaled: dict[str, Path]) -> None:
    is_equal(scaled["pth"], equal["ckpt"], "--ignore", SCALED)
    is_equal(scaled["ckpt"], equal["pth"], "--ignore", "layer1.*")
    is_equal(scaled["pth"], equal["pth"], "--ignore", "fc.*", "--ignore", "*.3.weight")
    assert told(scaled["pth"], equal["pth"], "--ignore", "fc.*")["exit"] == 1


def test_a_map_decides_which_is_which(tmp_path: Path) -> None:
    # Two branches of one shape that were swapped: names alone cannot tell.
    one, two = (np.random.default_rng(seed).normal(size=(6, 6)).astype(np.float32) for seed in (1, 2))
    a = write_npz(tmp_path / "a.npz", {"left.weight": one, "right.weight": two})
    b = write_npz(tmp_path / "b.npz", {"left.weight": two, "right.weight": one})
    assert told(a, b)["exit"] == 1
    for name, text in (
        ("names.txt", "left = right\nright = left\n"),
        ("names.toml", '"left.weight" = "right.weight"\n"right.weight" = "left.weight"\n'),
        ("names.json", '{"left.*": "right.*", "right.*": "left.*"}'),
    ):
        (tmp_path / name).write_text(text)
        found = told(a, b, "--map", tmp_path / name)
        assert (found["exit"], found["verdict"]) == (0, "equal"), name
        assert {one["reason"] for one in found["tensors"]} == {"map"}


def test_given_tolerances_decide(equal: dict[str, Path], scaled: dict[str, Path]) -> None:
    pair = (scaled["pth"], equal["ckpt"])
    assert told(*pair, "--rtol", "0.02")["exit"] == 0
    assert told(*pair, "--rtol", "0.005")["exit"] == 1
    assert told(*pair, "--atol", "0.01")["exit"] == 0
    assert told(*pair, "--rtol", "0", "--atol", "0")["exit"] == 1
    assert told(*pair, "--rtol", "0.02")["floor"]["basis"] == "given"
    assert "|a-b| <= 0 + 0.02 * |b|" in said(call("compare", *pair, "--rtol", "0.02"))


def test_top_and_only_differing_choose_the_rows(equal: dict[str, Path], tmp_path: Path) -> None:
    worse = weights({SCALED: 1.01, "fc.weight": 1.5, "conv1.weight": 1.1, "conv1.bias": 1.02})
    pair = (write_pth(tmp_path / "worse.pth", worse), equal["pth"])
    whole = told(*pair)
    assert (whole["compared"], whole["differing"], len(whole["tensors"])) == (18, 4, 18)
    assert whole["first"]["key"] == "fc.weight"
    only = told(*pair, "--only", "differing")
    assert (only["compared"], only["differing"], len(only["tensors"])) == (18, 4, 4)
    assert {row["verdict"] for row in only["tensors"]} == {"differs"}
    answer = call("compare", *pair, "--top", "2", "--only", "differing")
    table = answer.stdout.partition("Largest differences")[2].partition("The noise floor")[0]
    assert re.findall(r"^[ >]  ([\w.]+) .*differs", table, re.MULTILINE) == ["fc.weight", "conv1.weight"]
    assert answer.exit_code == 1


# What other programs see


def test_json_has_the_contracts_fields(equal: dict[str, Path], scaled: dict[str, Path], tmp_path: Path) -> None:
    logs = (write_log(tmp_path / "a.log", falling(fork=20)), write_csv(tmp_path / "b.csv", falling()))
    schema = json.loads(SCHEMA.read_text("utf-8"))
    for pair, verdict in (
        ((equal["pth"], equal["ckpt"]), "equal"),
        ((scaled["pth"], equal["ckpt"]), "differs"),
        (logs, "differs"),
        ((copy_dump(tmp_path / "d"), copy_dump(tmp_path / "e")), "equal"),
    ):
        found = told(*pair)
        assert list(found)[:5] == ["schema", "verb", "conclusion", "exit", "findings"]
        assert (found["schema"], found["verb"], found["verdict"]) == ("trueline/1", "compare", verdict)
        assert {"verdict", "floor", "first", "stopped_at"} <= found.keys()
        if found["first"] is not None:
            assert found["first"].keys() == {"key", "other_key", "step", "kind", "inputs_agree"}
        for one in found["findings"]:
            assert one["message"]
            assert one["code"].startswith("cmp.")
            assert one["conclusion"] == "found"
        if "compare" in schema["$defs"]:
            assert list(faults(found, schema, schema)) == []


def test_numbers_that_are_none_are_texts_in_json(tmp_path: Path) -> None:
    holes = weights()
    holes["fc.bias"] = np.array([np.nan, np.inf, -np.inf, *range(7)], np.float32)
    a, b = write_npz(tmp_path / "a.npz", holes), write_npz(tmp_path / "b.npz", weights())
    answer = call("compare", a, b, "--json")

    def refuse(name: str) -> None:
        raise AssertionError(name)

    found = json.loads(answer.stdout, parse_constant=refuse)
    assert (answer.exit_code, found["first"]["key"]) == (1, "fc.bias")
    assert "NaN or Inf" in found["conclusion"]
    # The same holes on both sides are no difference.
    is_equal(a, write_npz(tmp_path / "c.npz", holes))


def test_chinese(equal: dict[str, Path], scaled: dict[str, Path]) -> None:
    english, chinese = (call("--lang", lang, "compare", scaled["pth"], equal["ckpt"]).stdout for lang in ("en", "zh"))
    assert SCALED in chinese
    assert "1.01" in chinese
    assert sum("\u4e00" <= character <= "\u9fff" for character in chinese) > 40
    both = set(re.findall(r"[a-z]{4,}", english)) & set(re.findall(r"[a-z]{4,}", chinese))
    assert both <= {"layer", "weight", "ckpt", "trueline", "noise", "bias", "running", "mean", "batches", "tracked"}


# Folders of arrays, dumps


def test_folders_of_arrays_go_by_the_order_of_their_numbers(tmp_path: Path) -> None:
    # Two differ, and 9 comes before 10.
    arrays = {f"step_{number}": np.linspace(1, 2, 50, dtype=np.float32) for number in range(12)}
    a = write_npy_folder(tmp_path / "a", {**arrays, "step_10": arrays["step_10"] * 3, "step_9": arrays["step_9"] + 1})
    b = write_npy_folder(tmp_path / "b", arrays)
    found = told(a, b)
    assert (found["exit"], found["first"]["key"], found["differing"]) == (1, "step_9", 2)
    assert "The first difference between a and b is step_9" in said(call("compare", a, b))
    is_equal(b, b)
    np.savez(tmp_path / "b" / "more.npz", x=np.ones(3))
    found = told(b, a)
    assert [one["name"] for one in found["only_a"]] == ["more/x"]


def test_two_single_arrays(tmp_path: Path) -> None:
    np.save(tmp_path / "here.npy", np.arange(6.0).reshape(2, 3))
    np.save(tmp_path / "there.npy", np.arange(6.0).reshape(3, 2))
    is_equal(tmp_path / "here.npy", tmp_path / "here.npy")
    found = told(tmp_path / "here.npy", tmp_path / "there.npy")
    assert found["exit"] == 1
    assert "[2, 3]" in found["conclusion"]
    assert "[3, 2]" in found["conclusion"]


def test_dumps_name_the_first_call_that_differs(tmp_path: Path) -> None:
    a, b = copy_dump(tmp_path / "a", "mindspore_tensor_L0"), copy_dump(tmp_path / "b", "mindspore_tensor_L0")
    is_equal(a, b)
    (spoilt,) = a.rglob("Cell.fc.Dense.forward.0.output.0.npy")
    np.save(spoilt, np.load(spoilt) * 1.5)
    found = told(a, b)
    assert (found["exit"], found["first"]["step"], found["first"]["inputs_agree"]) == (1, 0, True)
    assert "fc.Dense.forward.0.output" in found["first"]["key"]


# Loss curves


@pytest.fixture(scope="module")
def curves(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One curve as every tool writes it."""
    folder = tmp_path_factory.mktemp("curves")
    return {
        "log": write_log(folder / "train.log", falling()),
        "csv": write_csv(folder / "train.csv", falling()),
        "jsonl": write_jsonl(folder / "train.jsonl", falling()),
        "tensorboard": write_tensorboard(folder / "board", falling()).parent,
    }


@pytest.mark.parametrize(("a", "b"), permutations(("log", "csv", "jsonl", "tensorboard"), 2))
def test_one_curve_in_two_formats_is_no_difference(curves: dict[str, Path], a: str, b: str) -> None:
    found = told(curves[a], curves[b])
    # TensorBoard rounds to 24 bits.
    assert found["verdict"] == ("noise" if "tensorboard" in (a, b) else "equal")
    assert (found["exit"], found["findings"], found["loss"]["common"]) == (0, [], 60)


@pytest.mark.parametrize("b", ["log", "csv", "jsonl", "tensorboard"])
def test_a_fork_is_found_at_its_step(curves: dict[str, Path], tmp_path: Path, b: str) -> None:
    forked = write_log(tmp_path / "forked.log", falling(fork=23))
    found = told(forked, curves[b])
    assert (found["exit"], found["stopped_at"]) == (1, "curve")
    assert (found["loss"]["shape"], found["loss"]["parts_at"]) == ("fork", 23)
    answer = call("compare", forked, curves[b])
    assert "diverge suddenly at step 23" in said(answer)
    assert "--steps 22,23" in said(answer)


def test_a_pattern_says_where_the_loss_is(curves: dict[str, Path], tmp_path: Path) -> None:
    odd = tmp_path / "odd.log"
    odd.write_text("".join(f"i={step} J:{value:.6f};\n" for step, value in enumerate(falling())))
    found = told(odd, curves["log"], "--pattern", r"(?:i=|step: )(?P<step>\d+).*(?:J|loss): ?(?P<loss>[\d.]+)")
    assert (found["exit"], found["verdict"], found["loss"]["common"]) == (0, "equal", 60)


# The page


def test_the_page_is_one_file_with_the_conclusion(
    equal: dict[str, Path], scaled: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = call("compare", scaled["pth"], equal["ckpt"], "-o", "page.html")
    assert (answer.exit_code, answer.stderr) == (1, "trueline: written: page.html\n")
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
    page = (tmp_path / "page.html").read_text("utf-8")
    assert f"{SCALED} in w.pth is 1.01 times that in w.ckpt" in page
    # Nothing is fetched.
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page)
    call("compare", equal["pth"], equal["ckpt"], "-o", "page.html", "--force")
    assert "are bitwise equal" in (tmp_path / "page.html").read_text("utf-8")
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_json_goes_along_with_a_page(equal: dict[str, Path], tmp_path: Path) -> None:
    answer = call("compare", equal["pth"], equal["ckpt"], "--json", "-o", tmp_path / "page.html")
    assert json.loads(answer.stdout)["verdict"] == "equal"
    assert answer.stderr.count("\n") == 1


# The process


ROW = 1 << 28
# Of anonymous memory: what a process takes for itself, beside the files it has mapped.
MOST_TAKEN = 400 << 20
LARGE = 128 << 20


@pytest.fixture(scope="module")
def huge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Two arrays of 0.75 GB that take no space on the disk, with one element that differs at the end."""
    folder = tmp_path_factory.mktemp("huge")
    paths = (folder / "a" / "big.npy", folder / "b" / "big.npy")
    for number, path in enumerate(paths):
        path.parent.mkdir()
        array = np.lib.format.open_memmap(path, "w+", np.float32, (3, ROW // 4))
        array[2, -1] = 1.0 + number
        array.flush()
        del array
        assert path.stat().st_blocks * 512 < 1 << 20
    yield paths
    for path in paths:
        path.unlink()


def started(*arguments: str | Path, cwd: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "trueline", "compare", *(str(one) for one in arguments)]

    def prepare() -> None:
        # A shell's background job ignores interrupts, and so would its children.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=cwd, env=environment(), preexec_fn=prepare, **pipes)


def taken(process: subprocess.Popen[str], kind: str) -> int:
    """The bytes of a kind of memory that a process has."""
    try:
        status = Path(f"/proc/{process.pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(rf"^{kind}:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) << 10 if found else 0


def test_an_interrupt_leaves_nothing_behind(huge: tuple[Path, Path], tmp_path: Path) -> None:
    # Before any other test has read these files: later they come from memory, and are through too soon.
    child = started(*huge, "-o", "page.html", cwd=tmp_path)
    while child.poll() is None and taken(child, "RssFile") < 200 << 20:
        time.sleep(0.005)
    assert child.poll() is None
    child.send_signal(signal.SIGINT)
    output, complaint = child.communicate(timeout=60)
    assert (child.returncode, output) == (130, "")
    assert complaint.strip() == "trueline: interrupted"
    assert list(tmp_path.iterdir()) == []


def most_taken(*arguments: str | Path, cwd: Path) -> tuple[int, dict[str, Any]]:
    """The most anonymous memory that a comparison had at once, and its answer."""
    child = started(*arguments, "--json", cwd=cwd)
    most = 0
    while child.poll() is None:
        most = max(most, taken(child, "RssAnon"))
        time.sleep(0.005)
    output, complaint = child.communicate()
    assert complaint == ""
    assert most
    return most, json.loads(output)


def test_arrays_larger_than_the_memory_it_takes(huge: tuple[Path, Path], tmp_path: Path) -> None:
    most, found = most_taken(*huge, cwd=tmp_path)
    assert (found["exit"], found["verdict"]) == (1, "differs")
    assert found["findings"][0]["evidence"][0]["worst_index"] == [2, ROW // 4 - 1]
    assert most < MOST_TAKEN


def big_compressed(folder: Path) -> tuple[Path, Path]:
    for number, name in enumerate("ab"):
        array = np.zeros(LARGE // 4, np.float32)
        array[7] = 1.0 + number
        np.savez_compressed(folder / f"{name}.npz", w=array)
    return folder / "a.npz", folder / "b.npz"


def big_small_floats(folder: Path) -> tuple[Path, Path]:
    import torch

    array = torch.zeros(LARGE, dtype=torch.float8_e4m3fn)
    for number, name in enumerate("ab"):
        array[7] = 1.0 + number
        torch.save({"w": array}, folder / f"{name}.pth")
    return folder / "a.pth", folder / "b.pth"


def big_renamed(folder: Path) -> tuple[Path, Path]:
    one, two = (np.full(LARGE // 4, value, np.float32) for value in (1.0, 2.0))
    write_npz(folder / "a.npz", {"enc.weight": one, "dec.weight": two})
    write_npz(folder / "b.npz", {"second.weight": two, "first.weight": one})
    return folder / "a.npz", folder / "b.npz"


@pytest.mark.parametrize("write", [big_compressed, big_small_floats, big_renamed])
def test_no_array_is_taken_into_memory_whole(write: Callable[[Path], tuple[Path, Path]], tmp_path: Path) -> None:
    pair = write(tmp_path)
    most, found = most_taken(*pair, cwd=tmp_path)
    # pytest keeps the folders of its last runs.
    for path in pair:
        path.unlink()
    assert found["compared"]
    assert most < LARGE


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_that_leaves_early_hears_no_complaint(equal: dict[str, Path], options: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "trueline", "compare", str(equal["npz"]), str(equal["pth"]), *options]
    child = subprocess.run(command, env=environment(), stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (child.returncode, child.stderr) == (0, "")
    line = f"{' '.join(command)} | head -n 1"
    shell = subprocess.run(line, shell=True, env=environment(), capture_output=True, text=True)
    assert shell.stdout.count("\n") == 1
    assert shell.stderr == ""


def test_needs_no_framework(equal: dict[str, Path], scaled: dict[str, Path]) -> None:
    code = (
        "import sys\n"
        "sys.modules['torch'] = sys.modules['mindspore'] = sys.modules['tensorboard'] = None\n"
        "from trueline.cli.main import main\n"
        f"sys.argv = ['trueline', 'compare', {str(scaled['pth'])!r}, {str(equal['ckpt'])!r}]\n"
        "main()\n"
    )
    child = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True)
    assert (child.returncode, child.stderr) == (1, "")
    assert SCALED in child.stdout


def test_names_of_mindspore_on_both_sides(tmp_path: Path) -> None:
    a = write_npz(tmp_path / "a.npz", mindspore_names(weights()))
    is_equal(a, write_ckpt(tmp_path / "b.ckpt", weights()))


def test_names_that_would_do_harm_are_only_shown(tmp_path: Path) -> None:
    name = "\x1b[2J[red]a<script>alert(1)</script>"
    a = write_npz(tmp_path / "a.npz", {name: np.ones(3, np.float32)})
    b = write_npz(tmp_path / "b.npz", {name: np.full(3, 2.0, np.float32)})
    answer = call("compare", a, b, "-o", tmp_path / "page.html")
    assert answer.exit_code == 1
    assert "\x1b" not in answer.output
    assert "[red]a" in answer.stdout
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "\x1b" not in page


def test_a_file_name_that_is_not_text_is_no_crash(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/odd-\xff.npz")
    write_npz(Path(name), {"a": np.ones(3)})
    for options in ([], ["--json"], ["-o", str(tmp_path / "page.html")]):
        command = [sys.executable, "-m", "trueline", "compare", name, name, *options]
        child = subprocess.run(command, env=environment(), capture_output=True)
        assert child.returncode == 0, child.stderr
