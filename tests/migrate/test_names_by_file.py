"""Which layer a name belongs to, told by a file alone: what is sure, what is guessed, what is left alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.calling import call

from trueline.migrate.by_layer import plan_by_layer
from trueline.migrate.held import Held
from trueline.migrate.modules import Naming

Shapes = dict[str, tuple[int, ...]]

BATCH_NORM = ("weight", "bias", "running_mean", "running_var")


def _dry(folder: Path, arrays: dict[str, np.ndarray], *options: str | Path, code: int = 0) -> dict[str, Any]:
    np.savez(folder / "in.npz", **arrays)
    ended = call("convert", folder / "in.npz", folder / "out.npz", "--dry-run", "--json", *options)
    assert ended.exit_code == code, ended.output
    return json.loads(ended.stdout)


def _zeros(shapes: Shapes) -> dict[str, np.ndarray]:
    return {name: np.zeros(shape, np.float32) for name, shape in shapes.items()}


def _names(found: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["other_name"] for one in found["mapped"]}


def _sure(found: dict[str, Any]) -> dict[str, str]:
    return {one["name"]: one["certainty"] for one in found["mapped"]}


@pytest.mark.parametrize(
    ("shapes", "names", "certainty"),
    [
        pytest.param(
            {f"bn.{leaf}": (4,) for leaf in BATCH_NORM},
            {"bn.weight": "bn.gamma", "bn.bias": "bn.beta", "bn.running_var": "bn.moving_variance"},
            "certain",
            id="running statistics make a BatchNorm",
        ),
        pytest.param(
            {"conv.weight": (4, 2, 3, 3, 3), **{f"bn.{leaf}": (4,) for leaf in BATCH_NORM}},
            {"bn.weight": "bn.bn2d.gamma", "bn.running_mean": "bn.bn2d.moving_mean"},
            "likely",
            id="BatchNorm after a convolution of volumes is nested in MindSpore",
        ),
        pytest.param(
            {"out_norm.weight": (4,), "out_norm.bias": (4,)},
            {"out_norm.weight": "out_norm.gamma", "out_norm.bias": "out_norm.beta"},
            "likely",
            id="two vectors of a module that is called a norm",
        ),
        pytest.param(
            {"3.weight": (4,), "3.bias": (4,)},
            {"3.weight": "3.gamma", "3.bias": "3.beta"},
            "likely",
            id="two vectors of a module without a name",
        ),
        pytest.param(
            {"norm.weight": (4, 5), "norm.bias": (4, 5)}, {"norm.weight": "norm.gamma"}, "likely", id="over two axes"
        ),
        pytest.param(
            {"q_norm.weight": (4,)}, {"q_norm.weight": "q_norm.weight"}, "possible", id="a norm by root mean squares"
        ),
        pytest.param(
            {"h.c_fc.weight": (4, 8), "h.c_fc.bias": (8,), "k.c_fc.weight": (4, 4), "k.c_fc.bias": (4,)},
            {"k.c_fc.weight": "k.c_fc.weight"},
            "possible",
            id="a square matrix among turned ones",
        ),
        pytest.param(
            {"embed_proj.weight": (8, 4)}, {"embed_proj.weight": "embed_proj.weight"}, "possible", id="a projection"
        ),
        pytest.param({"body.1.weight": (1,)}, {"body.1.weight": "body.1.w"}, "likely", id="one number is a slope"),
        pytest.param(
            {"conv.weight": (4, 2, 3), "conv.bias": (4,)}, {"conv.weight": "conv.weight"}, "likely", id="Conv1d"
        ),
        pytest.param(
            {"tok_emb.weight": (9, 4)}, {"tok_emb.weight": "tok_emb.embedding_table"}, "likely", id="called embedding"
        ),
        pytest.param(
            {"encoder.weight": (9, 4), "rnn.weight_ih_l0": (8, 4), "rnn.weight_hh_l0": (8, 2)},
            {"encoder.weight": "encoder.embedding_table", "rnn.weight_ih_l0": "rnn.weight_ih_l0"},
            "possible",
            id="the first matrix, whose columns are taken next",
        ),
        pytest.param(
            {"first.weight": (9, 4), "second.weight": (3, 9), "second.bias": (3,)},
            {"first.weight": "first.weight"},
            "possible",
            id="the first matrix, whose rows are taken next",
        ),
        pytest.param(
            {"block.weight": (4,), "block.inner.weight": (4, 4), "block.inner.bias": (4,)},
            {"block.weight": "block.weight"},
            "likely",
            id="a parameter of a module that holds others is the user's own",
        ),
        pytest.param(
            {"cls_token": (1, 1, 4)}, {"cls_token": "cls_token"}, "likely", id="a parameter of the user's own"
        ),
    ],
)
def test_torch_names_become_mindspores(shapes: Shapes, names: dict[str, str], certainty: str, tmp_path: Path) -> None:
    found = _dry(tmp_path, _zeros(shapes), "--names", "mindspore")
    assert _names(found).items() >= names.items()
    assert _sure(found)[next(iter(names))] == certainty


@pytest.mark.parametrize(
    ("shapes", "names"),
    [
        pytest.param({"ls1.gamma": (4,)}, {"ls1.gamma": "ls1.gamma"}, id="gamma without beta is no norm"),
        pytest.param({"norm.gamma": (4,), "norm.beta": (4,)}, {"norm.gamma": "norm.weight"}, id="gamma and beta"),
        pytest.param({"act.w": (4,), "e.embedding_table": (3, 4)}, {"act.w": "act.weight"}, id="PReLU"),
        pytest.param(
            {
                "c.weight": (4, 2, 3, 3, 3),
                **{f"bn.bn2d.{leaf}": (4,) for leaf in ("gamma", "beta", "moving_mean", "moving_variance")},
            },
            {"bn.bn2d.gamma": "bn.weight", "bn.bn2d.moving_variance": "bn.running_var"},
            id="BatchNorm3d comes out of its shell",
        ),
        pytest.param(
            {"x.bn2d.gamma": (4,), "x.bn2d.beta": (4,), "x.bn2d.moving_mean": (4,), "x.bn2d.moving_variance": (4,)},
            {"x.bn2d.gamma": "x.bn2d.weight"},
            id="a module that a user calls bn2d stays where it is",
        ),
    ],
)
def test_mindspores_names_become_torchs(shapes: Shapes, names: dict[str, str], tmp_path: Path) -> None:
    known = {"known.embedding_table": (3, 2)}
    found = _dry(tmp_path, _zeros({**known, **shapes}), "--names", "torch")
    assert _names(found).items() >= names.items()


def test_a_kernel_of_one_row_is_a_sequence_only_where_all_are(tmp_path: Path) -> None:
    known = {"e.embedding_table": (3, 2), "a.weight": (4, 2, 1, 3)}
    for kernel, shape in (((1, 1), [4, 2, 3]), ((3, 3), [4, 2, 1, 3])):
        found = _dry(tmp_path, _zeros({**known, "b.weight": (4, 4, *kernel)}), "--names", "torch")
        assert {one["name"]: one["other_shape"] for one in found["mapped"]}["a.weight"] == shape


def test_a_target_says_what_a_file_alone_cannot(tmp_path: Path) -> None:
    np.savez(tmp_path / "like.npz", **_zeros({"net.table.embedding_table": (9, 4), "net.head.weight": (9, 4)}))
    source = _zeros({"table.weight": (9, 4), "head.weight": (9, 4)})
    found = _dry(tmp_path, source, "--like", tmp_path / "like.npz")
    assert _names(found) == {"table.weight": "net.table.embedding_table", "head.weight": "net.head.weight"}


def test_what_a_layer_has_in_one_framework_only_is_filled_with_its_meaning(tmp_path: Path) -> None:
    statistics = {"bn.running_mean": (4,), "bn.running_var": (4,), "bn.num_batches_tracked": ()}
    whole = {f"bn.{leaf}": (4,) for leaf in ("gamma", "beta", "moving_mean", "moving_variance")}
    np.savez(tmp_path / "like.npz", **_zeros(whole))
    np.savez(tmp_path / "in.npz", **_zeros(statistics))
    ended = call("convert", tmp_path / "in.npz", tmp_path / "out.npz", "--like", tmp_path / "like.npz", "--json")
    found = json.loads(ended.stdout)
    assert ended.exit_code == 0 and found["missing"] == []
    assert [one["name"] for one in found["dropped"]] == ["bn.num_batches_tracked"]
    written = np.load(tmp_path / "out.npz")
    np.testing.assert_array_equal(written["bn.gamma"], np.ones(4, np.float32))
    np.testing.assert_array_equal(written["bn.beta"], np.zeros(4, np.float32))


def test_tied_weights_reach_every_name_of_the_target_and_are_no_leftover(tmp_path: Path) -> None:
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    twice = {"emb.weight": table, "head.weight": table, "head.bias": np.zeros(4, np.float32)}
    once = {"emb.embedding_table": table, "head.bias": np.zeros(4, np.float32)}
    np.savez(tmp_path / "like.npz", **once)
    found = _dry(tmp_path, twice, "--like", tmp_path / "like.npz")
    assert found["unexpected"] == [] and [one["name"] for one in found["dropped"]] == ["head.weight"]


def test_shapes_that_do_not_fit_are_left_over_on_both_sides(tmp_path: Path) -> None:
    np.savez(tmp_path / "like.npz", **_zeros({"head.weight": (10, 4)}))
    found = _dry(tmp_path, _zeros({"head.weight": (1000, 4)}), "--like", tmp_path / "like.npz", code=1)
    assert [one["name"] for one in found["missing"]] == ["head.weight"]
    assert "[1000, 4]" in found["unexpected"][0]["reason"]


def test_gamma_and_beta_of_a_torch_network_do_not_make_its_file_mindspores(tmp_path: Path) -> None:
    arrays = _zeros({"grn.gamma": (4,), "grn.beta": (4,), "norm.weight": (4,), "norm.bias": (4,), "emb.weight": (9, 4)})
    names = _names(_dry(tmp_path, arrays, "--names", "mindspore"))
    assert names["norm.weight"] == "norm.gamma" and names["emb.weight"] == "emb.embedding_table"
    assert names["grn.gamma"] == "grn.gamma"


SHAPES = (None, (), (0,), (1,), (4,), (0, 4), (4, 0), (4, 4), (2, 0, 3), (4, 2, 3), (2, 3, 0, 1))


@pytest.mark.parametrize("naming", list(Naming))
@pytest.mark.parametrize("pair", [("weight", "bias"), ("gamma", "beta"), ("weight_ih_l0", "weight_hh_l0"), ("w", "a")])
def test_no_shape_is_too_odd(naming: Naming, pair: tuple[str, str]) -> None:
    for first in SHAPES:
        for second in SHAPES:
            shapes = {
                f"m.{leaf}": shape for leaf, shape in zip(pair, (first, second), strict=True) if shape is not None
            }
            arrays = [Held(name, shape, np.dtype(np.float32), np.zeros(shape)) for name, shape in shapes.items()]
            for other in Naming:
                assert len(plan_by_layer(arrays, naming, other).moves) == len(arrays)
