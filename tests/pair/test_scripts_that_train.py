"""Scripts without a guard, as tutorials have them: their networks are built and nothing else is done."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest
from cli.calling import call
from pair.sides import side_of

import trueline
from trueline.adapters.guest.trouble import SideTrouble

TORCH = """
    import argparse
    import torch
    from torch import nn
    import no_such_logger
    from layers import *

    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    open("started", "w").write("x")


    class Net(nn.Module):
        width = WIDTH // 2

        def __init__(self):
            super().__init__()
            self.first = nn.Linear(6, self.width)
            self.second = Twice(self.width)

        def forward(self, x):
            return self.second(torch.relu(self.first(x)))


    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for epoch in range(10**9):
        model(torch.ones(2, 6)).sum().backward()
        optimizer.step()
    """
LAYERS = """
    from torch import nn
    WIDTH = 8
    open("layers started", "w").write("x")

    class Twice(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.fc = nn.Linear(size, size)

        def forward(self, x):
            return self.fc(x) * 2
    """
MINDSPORE = """
    import mindspore as ms
    from mindspore import nn, ops
    import mindspore.dataset as ds
    from no_such_download import download

    get_ipython().run_line_magic("matplotlib", "inline")
    download("http://nowhere")
    ms.set_seed(1)
    WIDTH = 4
    train_dataset = ds.MnistDataset("nowhere")


    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.first = nn.Dense(6, WIDTH)
            self.second = nn.Dense(WIDTH, WIDTH)

        def construct(self, x):
            return self.second(ops.relu(self.first(x))) * 2


    model = Net()
    optimizer = nn.SGD(model.trainable_params(), 0.1)
    grad_fn = ms.value_and_grad(lambda x: model(x).sum(), None, optimizer.parameters)
    for data, label in train_dataset.create_tuple_iterator():
        loss, grads = grad_fn(data)
        optimizer(grads)
    ms.save_checkpoint(model, "model.ckpt")
    """


def _write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")


def test_networks_are_compared_across_frameworks_and_nothing_else_is_run(tmp_path: Path) -> None:
    _write(tmp_path, train_torch=TORCH, layers=LAYERS, train_ms=MINDSPORE)
    before = {one.name for one in tmp_path.iterdir()}
    found = trueline.pair("train_torch:Net", "train_ms.py:model", "3x6", folder=tmp_path, steps=0)
    assert found.blames == []
    assert {one.name for one in tmp_path.iterdir()} - before <= {"__pycache__"}
    said = [note.text() for note in found.notes]
    assert [one.partition(" does")[0] for one in said] == ["train_torch.py", "layers.py", "train_ms.py"]
    assert "backward" in said[0] and "open" in said[1]
    assert "(line 27: grad_fn)" in said[2] and "24-29" in said[2]


def test_a_name_that_only_training_sets_is_named_with_its_line(tmp_path: Path) -> None:
    code = """
        from torch import nn
        def train():
            loss().backward()
            return 3.0
        best = train()
        class Net(nn.Linear):
            def __init__(self): super().__init__(2, 2)
            def forward(self, x): return super().forward(x) * best
        class Early(nn.Linear):
            def __init__(self): super().__init__(2, int(best))
        """
    _write(tmp_path, script=code)
    with side_of("script:Early", tmp_path) as side, pytest.raises(SideTrouble) as caught:
        side.ready()
    assert caught.value.message.id == "side.left_out_name"
    assert "`best`" in str(caught.value) and "script.py:5" in str(caught.value)
    with side_of("script.py:best", tmp_path) as side, pytest.raises(SideTrouble, match=r"script\.py:5"):
        side.ready()
    with pytest.raises(SideTrouble, match=r"`best`, which script\.py:5"):
        trueline.pair("script:Net", "script:Net", "2x2", folder=tmp_path, steps=0)


def test_the_command_says_so_on_stderr_and_in_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(tmp_path, script="from torch import nn\nmodel = nn.Linear(2, 2)\nmodel(1).backward()\n")
    monkeypatch.chdir(tmp_path)
    ended = call("pair", "--bench", "script:model", "--port", "script:model", "--json", "--steps", "0")
    assert ended.exit_code == 0
    (note,) = json.loads(ended.stdout)["notes"]
    assert note in ended.stderr
    assert "script.py" in note and "not run: line 3" in note
