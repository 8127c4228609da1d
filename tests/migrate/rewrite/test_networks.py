"""A network's draft builds in MindSpore and gives what torch gives with the same weights."""

from __future__ import annotations

import re
import tomllib
from importlib import resources
from pathlib import Path

import mindspore
import numpy
import pytest
import torch
from tests.migrate.rewrite.pairs import FIXTURES, both, distance, draft_of, give_weights

from trueline.apitable.attributes import known_layer
from trueline.apitable.pairs import Kind, documented
from trueline.migrate.rewrite.draft import rewrite
from trueline.script.project import open_project

_REWRITE = resources.files("trueline.migrate.rewrite")
_NETWORKS = {
    "cnn": ("ConvNet", [(2, 3, 32, 32)]),
    "resnet": ("ResNet", [(2, 3, 33, 33)]),
    "mlp": ("MLP", [(4, 20)]),
    "lstm": ("LSTMClassifier", [(3, 7)]),
    "transformer": ("Encoder", [(2, 6, 16)]),
    "autoencoder": ("AutoEncoder", [(2, 1, 16, 16)]),
    "attention": ("CrossAttention", [(2, 4, 12), (2, 5, 12)]),
    "classes": ("Patches", [(2, 3, 16, 16)]),
    "mixture": ("Mixture", [(3, 3, 9, 8)]),
}


@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("stem", _NETWORKS)
def test_a_draft_gives_what_torch_gives(stem: str, training: bool, tmp_path: Path) -> None:
    name, shapes = _NETWORKS[stem]
    bench_module, port_module = both(tmp_path, stem)
    bench, port = getattr(bench_module, name)(), getattr(port_module, name)()
    give_weights(bench, port)
    for module in bench.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    bench.train(training)
    port.set_train(training)
    for _, cell in port.cells_and_names():
        if isinstance(cell, mindspore.nn.Dropout):
            # Two frameworks never draw the same numbers.
            cell.set_train(False)
    draw = numpy.random.default_rng(0)
    inputs = [draw.standard_normal(shape).astype("float32") for shape in shapes]
    if stem == "lstm":
        inputs = [draw.integers(0, 50, shapes[0])]
    ours = bench(*(torch.from_numpy(one) for one in inputs))
    theirs = port(*(mindspore.Tensor(one) for one in inputs))
    assert distance(ours, theirs) < 1e-5
    for name, tensor in bench.named_buffers():
        if "running" in name:
            leaf = name.replace("running_mean", "moving_mean").replace("running_var", "moving_variance")
            found = dict(port.parameters_and_names())[leaf].asnumpy()
            numpy.testing.assert_allclose(tensor.numpy(), found, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("stem", [*_NETWORKS, "train"])
def test_nothing_of_a_fixture_is_left(stem: str) -> None:
    draft = draft_of(FIXTURES / f"{stem}.py")
    assert [one.reason.text() for one in draft.left] == []
    assert not re.search(r"^\s*(import|from) torch", draft.text, re.MULTILINE)


@pytest.mark.parametrize("stem", [*_NETWORKS, "train"])
def test_lines_without_torch_stay_as_they_are(stem: str) -> None:
    source = (FIXTURES / f"{stem}.py").read_text().splitlines()
    draft = draft_of(FIXTURES / f"{stem}.py").text.splitlines()
    begins = ("#", "super().__init__()", "def __init__(self", "print(")
    kept = [line for line in source if line.lstrip().startswith(begins)]
    kept = [line for line in kept if "nn." not in line and "torch" not in line]
    assert kept and all(line in draft for line in kept)


def test_a_function_of_all_layers_finds_them_by_torchs_names(tmp_path: Path) -> None:
    bench, port = (module.Mixture() for module in both(tmp_path, "mixture"))
    assert set(bench.batch.weight.tolist()) == set(port.batch.gamma.asnumpy().tolist()) == {0.5}
    assert set(bench.norm.weight.tolist()) == set(port.norm.gamma.asnumpy().tolist()) == {0.5}
    assert set(bench.head.weight.flatten().tolist()) == set(port.head.weight.asnumpy().ravel().tolist()) == {0.25}


def test_classes_of_both_frameworks_are_known_by_torchs_name() -> None:
    names: dict[str, object] = {}
    exec(tomllib.loads((_REWRITE / "helpers.toml").read_text("utf-8"))["class_name"]["text"], names)
    layers = [known_layer(pair.torch) for pair in documented() if pair.kind is Kind.LAYER]
    for layer in layers:
        if layer is not None and (theirs := layer.counterpart("mindspore")):
            assert names["class_name"](type(theirs, (), {})()) == layer.word  # type: ignore[operator]


def test_with_the_measured_table_padding_of_embeddings_and_a_small_eps_are_written(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(
        "import torch\n\nlayer = torch.nn.Embedding(9, 4, padding_idx=0)\n"
        "optimizer = torch.optim.Adam(layer.parameters(), lr=0.1, eps=1e-9)\n"
        "other = torch.optim.Adam(layer.parameters(), lr=0.1, eps=1e-3)\n"
    )
    (draft,) = rewrite(open_project([path]))
    assert "layer = PaddedEmbedding(9, 4, padding_idx=0" in draft.text
    assert "optimizer = optim.Adam(layer.trainable_params(), lr=0.1, eps=1e-9)" in draft.text
    assert "torch.optim.Adam(layer" in draft.text and [left.line for left in draft.left] == [1, 5]


def test_the_row_of_padding_is_not_trained(tmp_path: Path) -> None:
    _, module = both(tmp_path, "lstm")
    port = module.LSTMClassifier()
    table = port.embedding.embedding_table
    tokens = mindspore.Tensor(numpy.array([[0, 1, 2, 0]]))
    _, (found,) = mindspore.value_and_grad(lambda ids: port(ids).sum(), None, [table])(tokens)
    assert not found.asnumpy()[0].any() and found.asnumpy()[1].any()
