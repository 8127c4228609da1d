"""``trueline api``: the pairs of an API, from the table and measured anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cli.calling import call
from docs.json_schema import faults

from trueline.apitable.pairs import Outcome, documented, measured

SCHEMA: dict[str, Any] = json.loads(
    (Path(__file__).resolve().parent.parent.parent / "docs/schema/trueline-1.schema.json").read_text("utf-8")
)


def _answer(*arguments: str) -> dict[str, Any]:
    told = call("api", *arguments, "--json")
    assert told.exit_code == 0, told.stderr
    answer: dict[str, Any] = json.loads(told.stdout)
    assert list(faults(answer, SCHEMA, SCHEMA)) == []
    return answer


@pytest.mark.parametrize(
    ("name", "counterpart"),
    [
        ("torch.nn.GELU", "mindspore.nn.GELU"),
        ("mindspore.nn.GELU", "mindspore.nn.GELU"),
        ("nn.gelu", "mindspore.mint.nn.GELU"),
        ("torch.nn.functional.leaky_relu", "mindspore.ops.leaky_relu"),
    ],
)
def test_a_name_of_either_framework_or_its_end(name: str, counterpart: str) -> None:
    assert counterpart in [pair["mindspore"] for pair in _answer(name)["pairs"]]


def test_a_default_that_differs_is_shown_with_what_to_write_and_an_example() -> None:
    (row,) = [pair for pair in _answer("torch.nn.functional.leaky_relu")["pairs"] if pair["style"] == "classic"]
    assert row["outcome"] == "equal_with"
    assert row["needs"][0]["for_torch"] == "alpha=0.01"
    for lang in ("en", "zh"):
        said = "".join(call("api", "torch.nn.functional.leaky_relu", "--lang", lang).stdout.split())
        assert "alpha=0.01" in said


@pytest.mark.parametrize(
    ("name", "to"),
    [
        ("torch.fft.rfft", "mindspore.ops.rfft"),
        ("torch.random.manual_seed", "mindspore.set_seed"),
        ("torch.nn.init.constant", "mindspore.common.initializer.Constant"),
        ("torch.cuda.FloatTensor", "mindspore.Tensor"),
        ("torch.distributions.normal.Normal.log_prob", "mindspore.nn.probability.distribution.Normal.log_prob"),
        ("torch.utils.tensorboard.SummaryWriter.add_scalar", "mindspore.SummaryRecord.add_value"),
        ("torch.Tensor.repeat", "mindspore.Tensor.tile"),
        ("torch.multiprocessing.Queue", None),
        ("torch.cuda.current_stream", None),
        ("torchvision.models.resnet18", None),
        ("torch.Tensor.itemsize", "mindspore.Tensor.itemsize"),
    ],
)
def test_a_way_out_is_told_for_every_name_that_scan_has_one_for(name: str, to: str | None) -> None:
    assert _answer(name)["way"].get("to") == to


def test_a_way_out_is_told_beside_a_pair_that_does_not_do() -> None:
    answer = _answer("torch.einsum")
    assert answer["pairs"] and "matmul" in answer["way"]["code"]
    assert "matmul" in call("api", "torch.einsum").stdout


@pytest.mark.parametrize(
    ("name", "torch_name"),
    [
        ("torch.nn.modules.conv.Conv2d", "torch.nn.Conv2d"),
        ("torch.optim.adam.Adam", "torch.optim.Adam"),
        ("torch.Tensor.sigmoid_", "torch.Tensor.sigmoid"),
    ],
)
def test_another_spelling_has_the_pairs_of_the_name(name: str, torch_name: str) -> None:
    answer = _answer(name)
    assert torch_name in [pair["torch"] for pair in answer["pairs"]]
    assert torch_name in answer["conclusion"]


def test_a_list_has_only_what_was_asked_for() -> None:
    pairs = _answer("--list", "differs")["pairs"]
    assert pairs
    assert {pair["outcome"] for pair in pairs} == {"differs"}


def test_every_documented_pair_is_counted() -> None:
    assert sum(_answer()["counts"].values()) == len(documented())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("torch.nn.GELUU",), "torch.nn.GELU"),
        (("zzzzzzz",), "zzzzzzz"),
        (("torch.nn.GELU", "--list", "equal"), "--list"),
        (("torch.nn.GELU", "-o", "x.jsonl"), "--run"),
        (("torch.nn.GELU", "--table", "nowhere.jsonl"), "nowhere.jsonl"),
    ],
)
def test_bad_usage_is_one_line(arguments: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    told = call("api", *arguments)
    assert told.exit_code == 2
    assert said in told.stderr
    assert told.stderr.count("\n") == 1


def test_a_file_that_is_no_table_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    for content in (b"{", b"[]\n", b"\xff\xfe", b'{"torch_version": "1"}\n{"torch": 1}\n'):
        path.write_bytes(content)
        told = call("api", "torch.nn.GELU", "--table", str(path))
        assert told.exit_code == 2, content
        assert str(path) in told.stderr


def test_what_is_measured_here_can_be_kept_and_shown(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    name = "torch.nn.functional.leaky_relu"
    answer = _answer(name, "--run", "--cases", "20", "-o", str(path))
    (row,) = [pair for pair in answer["pairs"] if pair["style"] == "classic"]
    assert row["outcome"] == "equal_with"
    assert answer["machine"]["cases"] > 20
    again = _answer(name, "--table", str(path))
    assert again["pairs"] == answer["pairs"]
    assert call("api", name, "--run", "--cases", "5", "-o", str(path)).exit_code == 2


def test_the_table_of_the_package_speaks_of_every_pair() -> None:
    table = measured()
    assert set(table.rows) == {(pair.torch, pair.mindspore) for pair in documented()}
    judged = {torch for (torch, _), row in table.rows.items() if row.outcome is not Outcome.UNMEASURED}
    assert len(judged) >= 451
