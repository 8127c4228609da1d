"""`trueline convert`: what a user asks for and gets, file by file."""

from __future__ import annotations

import json
from itertools import permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.broken_files import everything_below, is_one_line
from cli.calling import call
from cli.converted_files import convert, loaded, renamed, same
from cli.made_files import (
    Arrays,
    mindspore_names,
    weights,
    write_ckpt,
    write_npz,
    write_pth,
    write_safetensors,
    write_sharded,
)

FORMATS = ("pth", "ckpt", "safetensors", "npz")
COUNTERS = {"bn1.num_batches_tracked", "layer1.1.num_batches_tracked"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """One network in every format, under the names of the framework that the format belongs to, or torch's."""
    folder = tmp_path_factory.mktemp("made")
    return {
        "pth": write_pth(folder / "net.pth", weights()),
        "ckpt": write_ckpt(folder / "net.ckpt", weights()),
        "safetensors": write_safetensors(folder / "net.safetensors", weights()),
        "npz": write_npz(folder / "net.npz", weights()),
    }


def without_counters() -> Arrays:
    return {name: one for name, one in weights().items() if name not in COUNTERS}


def expected(source: str, to: str) -> Arrays:
    """What the same network is called over there."""
    if to == "ckpt" or (source == "ckpt" and to != "pth"):
        return mindspore_names(weights())
    return without_counters() if source == "ckpt" else weights()


# Every pair


@pytest.mark.parametrize(("source", "to"), [*permutations(FORMATS, 2), *((one, one) for one in FORMATS)])
def test_every_pair_by_its_ending(made: dict[str, Path], tmp_path: Path, source: str, to: str) -> None:
    output = tmp_path / f"out.{to}"
    told = convert(made[source], output)
    assert told["written"] == str(output)
    assert same(loaded(output), expected(source, to))
    assert not told["missing"]
    assert not told["unexpected"]
    # Nothing is lost without a word.
    here = loaded(made[source])
    assert {one["name"] for one in (*told["mapped"], *told["dropped"])} == set(here)
    assert {one.name for one in tmp_path.iterdir()} == {output.name}


@pytest.mark.parametrize("to", FORMATS)
def test_the_format_may_be_said(made: dict[str, Path], tmp_path: Path, to: str) -> None:
    convert(made["pth"], tmp_path / "model", "--to", to)
    assert same(loaded((tmp_path / "model").rename(tmp_path / f"model.{to}")), expected("pth", to))


@pytest.mark.parametrize("ending", ["pt", "bin", "PTH"])
def test_torch_files_have_more_than_one_ending(made: dict[str, Path], tmp_path: Path, ending: str) -> None:
    convert(made["ckpt"], tmp_path / f"out.{ending}")
    assert same(loaded(tmp_path / f"out.{ending}"), without_counters())


def test_what_was_said_goes_before_the_ending(made: dict[str, Path], tmp_path: Path) -> None:
    convert(made["pth"], tmp_path / "out.pth", "--to", "npz")
    assert same(loaded((tmp_path / "out.pth").rename(tmp_path / "out.npz")), weights())


@pytest.mark.parametrize(("to", "names"), [*product(FORMATS, ("torch", "mindspore", "same"))])
def test_whose_names_may_be_said(made: dict[str, Path], tmp_path: Path, to: str, names: str) -> None:
    told = convert(made["safetensors"], tmp_path / f"out.{to}", "--names", names)
    assert told["names"] == ("mindspore" if names == "mindspore" else "torch")
    wanted = mindspore_names(weights()) if names == "mindspore" else weights()
    assert same(loaded(tmp_path / f"out.{to}"), wanted)


def test_a_round_trip_is_the_same_file_but_for_the_counters(made: dict[str, Path], tmp_path: Path) -> None:
    convert(made["pth"], tmp_path / "there.ckpt")
    convert(tmp_path / "there.ckpt", tmp_path / "back.safetensors", "--names", "torch")
    convert(tmp_path / "back.safetensors", tmp_path / "back.pth")
    assert same(loaded(tmp_path / "back.pth"), without_counters())


# What is shown


def test_a_dry_run_shows_the_table_and_writes_nothing(made: dict[str, Path], tmp_path: Path) -> None:
    answer = call("convert", made["pth"], tmp_path / "out.ckpt", "--dry-run", COLUMNS="250")
    assert answer.exit_code == 0
    assert answer.stderr == ""
    assert not list(tmp_path.iterdir())
    lines = [" ".join(line.split()) for line in answer.stdout.splitlines()]
    assert "name target name target shape operation reason certainty" in lines
    row = next(line for line in lines if line.startswith("bn1.running_mean"))
    assert row == (
        "bn1.running_mean bn1.moving_mean 8 running_mean renamed to moving_mean "
        "running_mean and running_var: a BatchNorm certain"
    )
    assert "Nothing was written" in " ".join(lines)
    assert all(any(line.startswith(f"{name} ") for line in lines) for name in weights())


def test_a_dry_run_needs_no_place_to_write_to(made: dict[str, Path], tmp_path: Path) -> None:
    for output in (made["ckpt"], tmp_path / "nowhere" / "out.ckpt"):
        assert convert(made["pth"], output, "--dry-run")["written"] is None
    assert same(loaded(made["ckpt"]), mindspore_names(weights()))


def test_counters_of_batches_are_said_to_have_no_counterpart(made: dict[str, Path], tmp_path: Path) -> None:
    told = convert(made["pth"], tmp_path / "out.ckpt")
    assert {one["name"] for one in told["dropped"]} == COUNTERS
    assert all("no counterpart" in one["reason"] for one in told["dropped"])
    answer = call("convert", made["pth"], tmp_path / "other.ckpt")
    assert "bn1.num_batches_tracked" in answer.stdout
    assert "no counterpart" in answer.stdout


def test_json_is_one_object_with_these_fields(made: dict[str, Path], tmp_path: Path) -> None:
    told = convert(made["pth"], tmp_path / "out.ckpt")
    assert {"conclusion", "findings", "mapped", "missing", "unexpected", "dropped", "written", "names"} <= told.keys()
    row = next(one for one in told["mapped"] if one["name"] == "bn1.weight")
    assert row["other_name"] == "bn1.gamma"
    assert (row["shape"], row["other_shape"], row["dtype"]) == ([8], [8], "float32")
    assert row["certainty"] == "certain"
    assert row["reason"]
    assert row["done"]


def test_all_of_it_is_chinese_too(made: dict[str, Path], tmp_path: Path) -> None:
    def is_chinese(text: str) -> bool:
        return any("\u4e00" <= character <= "\u9fff" for character in text)

    answer = call("convert", made["pth"], tmp_path / "out.ckpt", "--lang", "zh")
    assert answer.exit_code == 0
    assert is_chinese(answer.stdout)
    assert "no counterpart" not in answer.stdout
    told = json.loads(call("convert", made["pth"], tmp_path / "o.ckpt", "--lang", "zh", "--json", "--dry-run").stdout)
    assert all(is_chinese(one["reason"]) for one in (*told["dropped"], *told["mapped"]))
    for options in (("--strip", "zz"), ("--keep", "zz"), ("--shard", "1MB"), ("--drop", "zz")):
        answer = call("convert", made["pth"], tmp_path / "o.ckpt", "--lang", "zh", *options)
        is_one_line(answer)
        assert is_chinese(answer.stderr)
    assert is_chinese(call("convert", "--help", "--lang", "zh").stdout)


def test_guesses_are_marked(tmp_path: Path) -> None:
    # A matrix without a bias may be a table or a layer.
    source = write_pth(tmp_path / "net.pth", {"proj.weight": np.ones((4, 3), np.float32)})
    told = convert(source, tmp_path / "out.ckpt")
    assert [one["certainty"] for one in told["mapped"]] == ["possible"]
    assert "are guessed (marked)" in call("convert", source, tmp_path / "other.ckpt").stdout


# Replacing


def test_nothing_is_overwritten_without_force(made: dict[str, Path], tmp_path: Path) -> None:
    mine = tmp_path / "out.ckpt"
    mine.write_bytes(b"mine")
    is_one_line(call("convert", made["pth"], mine), "out.ckpt", "--force")
    assert mine.read_bytes() == b"mine"
    convert(made["pth"], mine, "--force")
    assert same(loaded(mine), mindspore_names(weights()))
    assert [one.name for one in tmp_path.iterdir()] == ["out.ckpt"]


def test_a_shard_is_not_overwritten_either(made: dict[str, Path], tmp_path: Path) -> None:
    mine = tmp_path / "out-00001-of-00002.safetensors"
    mine.write_bytes(b"mine")
    before = everything_below(tmp_path)
    is_one_line(call("convert", made["pth"], tmp_path / "out.safetensors", "--shard", "21kB"), mine.name)
    assert everything_below(tmp_path) == before
    assert mine.read_bytes() == b"mine"


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    source = write_pth(tmp_path / "net.pth", {"a": np.ones(2, np.complex64), "b": np.ones(2, np.float32)})
    (tmp_path / "out.ckpt").write_bytes(b"mine")
    is_one_line(call("convert", source, tmp_path / "out.ckpt", "--force"), "complex64")
    assert (tmp_path / "out.ckpt").read_bytes() == b"mine"


# Names: --strip, --add, --drop, --map


def test_wrappers_go_by_themselves(tmp_path: Path) -> None:
    for place, wrapper in enumerate(("module.", "_orig_mod.", "module._orig_mod.")):
        source = write_pth(tmp_path / f"{place}.pth", {wrapper + name: one for name, one in weights().items()})
        told = convert(source, tmp_path / f"{place}.ckpt")
        assert told["stripped"] == wrapper
        assert same(loaded(tmp_path / f"{place}.ckpt"), mindspore_names(weights()))
        assert {one["name"] for one in told["dropped"]} == {wrapper + name for name in COUNTERS}
        assert wrapper in call("convert", source, tmp_path / "again.ckpt", "--force").stdout


def test_a_prefix_is_taken_off_and_another_one_put_before(tmp_path: Path) -> None:
    source = write_pth(tmp_path / "net.pth", {f"student.{name}": one for name, one in weights().items()})
    convert(source, tmp_path / "out.ckpt", "--strip", "student.", "--add", "backbone.")
    wanted = {f"backbone.{name}": one for name, one in mindspore_names(weights()).items()}
    assert same(loaded(tmp_path / "out.ckpt"), wanted)


def test_a_prefix_that_only_some_have_is_taken_off_those(tmp_path: Path) -> None:
    arrays = {"module.a.weight": np.ones((2, 3), np.float32), "head.weight": np.ones((4, 3), np.float32)}
    source = write_npz(tmp_path / "net.npz", arrays)
    convert(source, tmp_path / "out.npz")
    assert set(loaded(tmp_path / "out.npz")) == set(arrays)
    convert(source, tmp_path / "stripped.npz", "--strip", "module.")
    assert set(loaded(tmp_path / "stripped.npz")) == {"a.weight", "head.weight"}


def test_arrays_are_left_out_as_asked(made: dict[str, Path], tmp_path: Path) -> None:
    told = convert(made["pth"], tmp_path / "out.ckpt", "--drop", "fc.*", "--drop", "*.num_batches_tracked")
    gone = {"fc.weight", "fc.bias"}
    assert set(loaded(tmp_path / "out.ckpt")) == set(mindspore_names(weights())) - gone
    assert {one["name"]: one["reason"] for one in told["dropped"]} == dict.fromkeys(
        gone | COUNTERS, "dropped as requested"
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("names.txt", "# which is which\nfc.weight = head.kernel\nlayer1.* = stage.blocks.*\n"),
        ("names.toml", '"fc.weight" = "head.kernel"\n"layer1.*" = "stage.blocks.*"\n'),
        ("names.json", '{"fc.weight": "head.kernel", "layer1.*": "stage.blocks.*"}'),
    ],
)
def test_a_file_says_which_is_which(made: dict[str, Path], tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    told = renamed(convert(made["pth"], tmp_path / "out.ckpt", "--map", tmp_path / name))
    assert told["fc.weight"] == "head.kernel"
    assert told["fc.bias"] == "fc.bias"
    # The module is another one, its layer the same.
    assert told["layer1.0.weight"] == "stage.blocks.0.weight"
    assert told["layer1.1.running_var"] == "stage.blocks.1.moving_variance"
    assert told["bn1.weight"] == "bn1.gamma"
    assert set(loaded(tmp_path / "out.ckpt")) == set(told.values())


def test_a_star_for_the_tensors_of_a_module_leaves_their_names_to_the_layer(
    made: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "names.txt").write_text("bn1.bias = norm.shift\nbn1.* = norm.*\n*.running_mean = *.average\n")
    told = renamed(convert(made["pth"], tmp_path / "out.ckpt", "--map", tmp_path / "names.txt"))
    assert told["bn1.weight"] == "norm.gamma"
    # What is written out is meant.
    assert told["bn1.bias"] == "norm.shift"
    assert told["layer1.1.running_mean"] == "layer1.1.average"


def test_a_rule_for_a_module_takes_all_below_it(made: dict[str, Path], tmp_path: Path) -> None:
    (tmp_path / "names.txt").write_text("layer1 = body\n")
    told = renamed(convert(made["pth"], tmp_path / "out.ckpt", "--map", tmp_path / "names.txt"))
    assert told["layer1.1.weight"] == "body.1.gamma"
    same_names = renamed(convert(made["pth"], tmp_path / "out.pth", "--map", tmp_path / "names.txt"))
    assert same_names["layer1.1.weight"] == "body.1.weight"
    assert same_names["fc.weight"] == "fc.weight"


def test_names_in_rules_may_have_the_wrapper_or_not(tmp_path: Path) -> None:
    source = write_pth(tmp_path / "net.pth", {f"module.{name}": one for name, one in weights().items()})
    for place, name in enumerate(("module.fc.weight", "fc.weight")):
        (tmp_path / "names.txt").write_text(f"{name} = head.weight\n")
        told = renamed(convert(source, tmp_path / f"{place}.ckpt", "--map", tmp_path / "names.txt"))
        assert told["module.fc.weight"] == "head.weight"


# A target: --like


def test_the_names_of_another_file_are_reached(made: dict[str, Path], tmp_path: Path) -> None:
    told = convert(made["npz"], tmp_path / "out.ckpt", "--like", made["ckpt"])
    assert same(loaded(tmp_path / "out.ckpt"), mindspore_names(weights()))
    assert {one["name"] for one in told["dropped"]} == COUNTERS


def other_head() -> Arrays:
    """A port that lacks a layer of the benchmark, and has one of its own."""
    kept = {name: one for name, one in mindspore_names(weights()).items() if not name.startswith("fc.")}
    return {**kept, "fc2.weight": np.ones((7, 9), np.float32)}


def test_leftovers_are_listed_and_nothing_is_written(made: dict[str, Path], tmp_path: Path) -> None:
    like = write_npz(tmp_path / "like.npz", other_head())
    told = convert(made["pth"], tmp_path / "out.ckpt", "--like", like, exit=1)
    assert told["written"] is None
    assert [one["name"] for one in told["missing"]] == ["fc2.weight"]
    assert {one["name"] for one in told["unexpected"]} == {"fc.weight", "fc.bias"}
    assert all("nearest" in one for one in (*told["missing"], *told["unexpected"]))
    assert told["missing"][0]["shape"] == [7, 9]
    assert [one["conclusion"] for one in told["findings"]] == ["found"]
    assert not (tmp_path / "out.ckpt").exists()
    answer = call("convert", made["pth"], tmp_path / "out.ckpt", "--like", like)
    assert answer.exit_code == 1
    for word in ("Nothing was written", "fc2.weight", "fc.bias", "nearest", "--allow-missing", "--map", "--drop"):
        assert word in answer.stdout
    assert call("convert", made["pth"], tmp_path / "out.ckpt", "--like", like, "--dry-run").exit_code == 1


def test_the_nearest_name_is_told(made: dict[str, Path], tmp_path: Path) -> None:
    arrays = mindspore_names(weights())
    arrays["fc_new.weight"] = np.ones((10, 9), np.float32)
    del arrays["fc.weight"]
    like = write_npz(tmp_path / "like.npz", arrays)
    told = convert(made["pth"], tmp_path / "out.ckpt", "--like", like, exit=1)
    assert [(one["name"], one["nearest"]) for one in told["missing"]] == [("fc_new.weight", "fc.weight")]
    assert [(one["name"], one["nearest"]) for one in told["unexpected"]] == [("fc.weight", "fc_new.weight")]


def test_leftovers_may_be_allowed(made: dict[str, Path], tmp_path: Path) -> None:
    like = write_npz(tmp_path / "like.npz", other_head())
    told = convert(made["pth"], tmp_path / "out.ckpt", "--like", like, "--allow-missing")
    assert told["written"] == str(tmp_path / "out.ckpt")
    assert len(told["missing"]) == 1
    assert len(told["unexpected"]) == 2
    kept = {name: one for name, one in mindspore_names(weights()).items() if not name.startswith("fc.")}
    assert same(loaded(tmp_path / "out.ckpt"), kept)
    assert "fc2.weight" in call("convert", made["pth"], tmp_path / "2.ckpt", "--like", like, "--allow-missing").stdout


def test_shapes_that_do_not_fit_are_left_over_on_both_sides(made: dict[str, Path], tmp_path: Path) -> None:
    arrays = {**mindspore_names(weights()), "fc.weight": np.ones((5, 512), np.float32)}
    like = write_npz(tmp_path / "like.npz", arrays)
    told = convert(made["pth"], tmp_path / "out.ckpt", "--like", like, exit=1)
    for left in (told["missing"], told["unexpected"]):
        assert [one["name"] for one in left] == ["fc.weight"]
        assert "[10, 512]" in left[0]["reason"]
        assert "[5, 512]" in left[0]["reason"]
    convert(made["pth"], tmp_path / "out.ckpt", "--like", like, "--allow-missing")
    assert "fc.weight" not in loaded(tmp_path / "out.ckpt")


def test_a_map_helps_where_a_target_is_unclear(made: dict[str, Path], tmp_path: Path) -> None:
    arrays = {name.replace("fc.", "zz.q."): one for name, one in mindspore_names(weights()).items()}
    like = write_npz(tmp_path / "like.npz", arrays)
    (tmp_path / "names.txt").write_text("fc = zz.q\n")
    convert(made["pth"], tmp_path / "out.ckpt", "--like", like, "--map", tmp_path / "names.txt")
    assert same(loaded(tmp_path / "out.ckpt"), arrays)


# Tied weights


def tied(tmp_path: Path) -> Path:
    import torch

    table = torch.arange(12.0).reshape(4, 3)
    torch.save({"embed.weight": table, "head.weight": table, "head.bias": torch.ones(4)}, tmp_path / "tied.pth")
    return tmp_path / "tied.pth"


def test_tied_weights_stay_tied_where_the_format_can(tmp_path: Path) -> None:
    import torch

    source = tied(tmp_path)
    convert(source, tmp_path / "out.pth")
    state = torch.load(tmp_path / "out.pth", weights_only=True)
    assert state["embed.weight"].data_ptr() == state["head.weight"].data_ptr()
    convert(source, tmp_path / "out.ckpt")
    found = loaded(tmp_path / "out.ckpt")
    assert np.array_equal(found["embed.embedding_table"], found["head.weight"])


def test_a_tied_name_that_the_target_lacks_is_no_loss(tmp_path: Path) -> None:
    like = {"embed.embedding_table": np.ones((4, 3), np.float32), "head.bias": np.ones(4, np.float32)}
    write_npz(tmp_path / "like.npz", like)
    told = convert(tied(tmp_path), tmp_path / "out.ckpt", "--like", tmp_path / "like.npz")
    assert [(one["name"], one["reason"]) for one in told["dropped"]] == [
        ("head.weight", "the same elements as embed.weight, which is written")
    ]


# Shards


def test_shards_out_and_in_again(tmp_path: Path) -> None:
    arrays: Arrays = {f"layers.{one}.weight": np.full((300, 1000), one, np.float32) for one in range(3)}
    source = write_npz(tmp_path / "net.npz", arrays)
    (tmp_path / "out").mkdir()
    convert(source, tmp_path / "out" / "model.safetensors", "--shard", "1.5MB")
    names = sorted(one.name for one in (tmp_path / "out").iterdir())
    shards = [f"model-0000{one}-of-00003.safetensors" for one in (1, 2, 3)]
    assert names == [*shards, "model.safetensors.index.json"]
    index = json.loads((tmp_path / "out" / "model.safetensors.index.json").read_text())
    assert index["weight_map"] == dict(zip(arrays, shards, strict=True))
    assert index["metadata"]["total_size"] == 3 * 300 * 1000 * 4
    for source in (tmp_path / "out", tmp_path / "out" / "model.safetensors.index.json"):
        convert(source, tmp_path / "back.npz", "--force")
        assert same(loaded(tmp_path / "back.npz"), arrays)


def test_what_fits_into_one_file_is_one(made: dict[str, Path], tmp_path: Path) -> None:
    convert(made["pth"], tmp_path / "out.safetensors", "--shard", "1GB")
    assert [one.name for one in tmp_path.iterdir()] == ["out.safetensors"]
    assert same(loaded(tmp_path / "out.safetensors"), weights())


def test_sharded_files_of_either_kind_go_in(tmp_path: Path) -> None:
    convert(write_sharded(tmp_path / "safe", weights()), tmp_path / "safe.ckpt")
    (tmp_path / "bins").mkdir()
    names = list(weights())
    places = {name: f"pytorch_model-0000{1 + place % 2}-of-00002.bin" for place, name in enumerate(names)}
    for shard in set(places.values()):
        held = {name: one for name, one in weights().items() if places[name] == shard}
        write_pth(tmp_path / "bins" / shard, held)
    (tmp_path / "bins" / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": places}))
    convert(tmp_path / "bins", tmp_path / "bins.ckpt")
    for name in ("safe", "bins"):
        assert same(loaded(tmp_path / f"{name}.ckpt"), mindspore_names(weights()))


# What a target cannot hold


def test_empty_arrays_are_listed_where_mindspore_would_drop_them(tmp_path: Path) -> None:
    arrays = {"a": np.ones((0, 3), np.float32), "b": np.ones(2, np.float32)}
    source = write_pth(tmp_path / "net.pth", arrays)
    told = convert(source, tmp_path / "out.ckpt")
    assert [one["name"] for one in told["dropped"]] == ["a"]
    assert "a" in told["dropped"][0]["reason"]
    assert set(loaded(tmp_path / "out.ckpt")) == {"b"}
    for to in ("pth", "npz", "safetensors"):
        convert(source, tmp_path / f"out.{to}")
        assert same(loaded(tmp_path / f"out.{to}"), arrays)


@pytest.mark.parametrize("name", ["a*[1]", "x" * 2000, "a\0b", " spaced "])
def test_the_drop_that_is_advised_works(tmp_path: Path, name: str) -> None:
    arrays: dict[str, Any] = {name: np.ones(2, np.complex64), "b": np.ones(2, np.float32)}
    source = write_pth(tmp_path / "net.pth", arrays)
    answer = call("convert", source, tmp_path / "out.ckpt")
    is_one_line(answer, "--drop")
    advised = answer.stderr.partition("--drop '")[2].partition("' leaves")[0]
    convert(source, tmp_path / "out.ckpt", "--drop", advised)
    assert set(loaded(tmp_path / "out.ckpt")) == {"b"}
