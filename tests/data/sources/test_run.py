"""Recorded runs as datasets: what was fed to the network, whole or by its statistics, in its order."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from data.sources.digits import digits, joined
from launching import IN_ORDER, script, trueline

from trueline.data.sources.opening import open_source
from trueline.formats.run_folder.batches import WholeBatch
from trueline.formats.run_folder.reader import open_run
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.trouble import BadFile

TORCH = """
import numpy as np, torch
from torch.utils.data import DataLoader, TensorDataset
data = np.load("digits.npz")
images, labels = torch.from_numpy(data["x"][:96]), torch.from_numpy(data["y"][:96])
torch.manual_seed(3)
train = DataLoader(TensorDataset(images, labels), batch_size=16, shuffle=True)
test = DataLoader(TensorDataset(images, labels), batch_size=32)
network = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(64, 10))
optimizer = torch.optim.SGD(network.parameters(), 0.1)
for epoch in range(2):
    for x, y in train:
        optimizer.zero_grad()
        x_in = (x.float() - 127.5) / 127.5
        torch.nn.functional.cross_entropy(network(x_in), y).backward()
        optimizer.step()
        x.zero_()
with torch.no_grad():
    for x, y in test:
        network.eval()(x.float())
"""

MINDSPORE = """
import numpy as np, mindspore as ms
from mindspore import nn
data = np.load("digits.npz")
x, y = data["x"][:48].astype(np.float32) / 255, data["y"][:48].astype(np.int32)
loader = ms.dataset.NumpySlicesDataset({"image": x, "label": y}, shuffle=True).batch(16)
network = nn.SequentialCell(nn.Flatten(), nn.Dense(64, 10))
optimizer = nn.SGD(network.trainable_params(), 0.1)
loss = nn.CrossEntropyLoss()
step = ms.value_and_grad(lambda a, b: loss(network(a), b), None, optimizer.parameters)
for batch in loader.create_dict_iterator():
    _, gradients = step(batch["image"], batch["label"])
    optimizer(gradients)
"""


def record(folder: Path, text: str, *options: str, **env: str) -> Path:
    images, labels = digits()
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / "digits.npz", x=images, y=labels)
    framework = "torch" if "torch" in text else "mindspore"
    ran = trueline("run", *options, "-o", "fed", script(folder, text), cwd=folder, env=env, forked=framework)
    assert ran.returncode == 0, ran.stderr
    return folder / "fed"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(tmp_path_factory.mktemp("torch"), TORCH, "--batches", "3", "--keep-state", "2")


def test_whole_batches_are_what_the_loader_handed_out_and_what_the_network_got(run: Path) -> None:
    images, labels = digits()
    source = open_source(str(run))
    assert (source.kind, source.length, source.label) == ("run", 48, "1")
    assert source.fields == ["index", "0", "1", "network.0", "step"]
    (chunk,) = source.chunks()
    order = chunk.columns["index"]
    assert np.array_equal(chunk.columns["0"], images[order])
    assert np.array_equal(chunk.columns["1"], labels[order])
    assert np.allclose(chunk.columns["network.0"], (images[order].astype(np.float32) - 127.5) / 127.5)
    assert list(chunk.columns["step"]) == [0] * 16 + [1] * 16 + [2] * 16
    assert source.skipped.total == 0


def test_samples_of_a_run_are_taken_by_the_order_in_which_they_were_fed(run: Path) -> None:
    source = open_source(str(run))
    order = joined(source, "index")
    taken = source.take([40, 3])
    assert [one["index"] for one in taken] == [order[40], order[3]]
    assert np.array_equal(taken[0]["0"], digits()[0][order[40]])
    assert [one["step"] for one in taken] == [2, 0]


def test_evaluation_is_a_part_of_its_own(run: Path) -> None:
    source = open_source(str(run / "eval"))
    assert source.length == 96
    assert np.array_equal(joined(source, "0"), digits()[0][:96])
    assert np.array_equal(joined(source, "1"), digits()[1][:96])


def test_of_all_other_batches_the_statistics_of_every_sample(run: Path) -> None:
    images, labels = digits()
    source = open_source(str(run / "train-statistics"))
    assert source.length == 192
    assert source.fields == ["index", "0.mean", "0.std", "0.min", "0.max", "1", "step"]
    assert source.label == "1"
    order = joined(source, "index")
    assert sorted(order[:96]) == sorted(order[96:]) == list(range(96))
    assert np.array_equal(joined(source, "1"), labels[order])
    assert np.allclose(joined(source, "0.mean"), images[order].mean((1, 2)))
    assert source.take([100])[0]["1"] == labels[order[100]]


def test_without_kept_batches_those_of_kept_states_are_whole(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "fed")
    shutil.rmtree(tmp_path / "fed/rank-00000/batches")
    source = open_source(str(tmp_path / "fed"))
    assert source.fields == ["index", "0", "1", "step"]
    assert sorted(set(joined(source, "step").tolist())) == [10, 11]
    assert np.array_equal(joined(source, "0"), digits()[0][joined(source, "index")])
    shutil.rmtree(tmp_path / "fed/rank-00000/state")
    assert open_source(str(tmp_path / "fed")).length == 192


def test_a_damaged_batch_is_stepped_over(run: Path, tmp_path: Path) -> None:
    shutil.copytree(run, tmp_path / "fed")
    path = tmp_path / "fed/rank-00000/batches/1.safetensors"
    path.write_bytes(path.read_bytes()[:-100])
    source = open_source(str(tmp_path / "fed"))
    assert source.length == 32
    assert source.skipped.counts == {"bad_batch": 1}
    assert len(list(source.chunks())) == 1
    assert source.skipped.counts == {"bad_batch": 1}


def test_a_mindspore_run(tmp_path: Path) -> None:
    images, labels = digits()
    run = record(tmp_path, MINDSPORE, "--batches", "2", **IN_ORDER)
    source = open_source(str(run))
    assert (source.length, source.label) == (32, "label")
    wanted = {image.tobytes(): label for image, label in zip(images, labels, strict=True)}
    for image, label in zip(joined(source, "image"), joined(source, "label"), strict=True):
        assert wanted[np.rint(image * 255).astype(np.uint8).tobytes()] == label
    assert open_source(str(run / "train-statistics")).length == 48


def test_a_run_that_was_fed_nothing_is_said_in_one_line(tmp_path: Path) -> None:
    RankWriter(tmp_path / "fed").finish_step(0, "train", [{"event": "end", "t": 0.5}])
    with pytest.raises(BadFile, match="no batch of phase train"):
        open_source(str(tmp_path / "fed"))


def test_batches_with_texts_and_several_of_a_step_are_written_and_read(tmp_path: Path) -> None:
    batches = [
        WholeBatch({"a/b": np.arange(6).reshape(3, 2)}, {"text": ["x", "é", "中"]}),
        WholeBatch({}, {}),
        WholeBatch({"a": np.array([True])}, {}),
    ]
    RankWriter(tmp_path).finish_step(7, "eval", [{"event": "end", "t": 0.5}], batches=batches)
    folder = open_run(tmp_path).rank()
    assert folder.batch_steps("eval") == [7]
    assert folder.batch_steps() == []
    found = folder.batches(7, "eval")
    assert [dict(one.texts) for one in found] == [{"text": ["x", "é", "中"]}, {}, {}]
    assert [sorted(one.arrays) for one in found] == [["a/b"], [], ["a"]]
    assert np.array_equal(found[0].arrays["a/b"], np.arange(6).reshape(3, 2))
