"""What is handed on in pieces: batches by stars, parts by slices, lists that are made longer, callbacks."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from trueline.script.script import Script, read_script
from trueline.script.values import Const, Derived, Item, Seq, Unknown, Value, ancestry, constant


def read(folder: Path, text: str) -> Script:
    (folder / "train.py").write_text(dedent(text), "utf-8")
    return read_script([folder / "train.py"])


def given(script: Script, name: str) -> tuple[Value, ...]:
    (event,) = script.trace.named(name)
    return event.args


def test_a_batch_that_is_passed_by_stars_reaches_each_parameter(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        import torch
        def by_place(x, y):
            torch.add(x, y)
        def by_name(words, mask=None):
            torch.mul(words, mask)
        for batch in torch.utils.data.DataLoader([]):
            by_place(*batch)
            by_name(**batch)
        """,
    )
    first, second = given(script, "torch.add")
    assert isinstance(first, Item) and isinstance(second, Item)
    assert (constant(first.index), constant(second.index)) == (0, 1)
    assert first.of is second.of
    words, mask = given(script, "torch.mul")
    assert isinstance(words, Item) and isinstance(mask, Item)
    assert (constant(words.index), constant(mask.index)) == ("words", "mask")


def test_slices_know_both_of_their_ends(tmp_path: Path) -> None:
    script = read(tmp_path, "import torch\nx = torch.randn(9)\ntorch.add(x[:4], x[4:])\n")
    ends = []
    for one in given(script, "torch.add"):
        assert isinstance(one, Item)
        assert isinstance(one.index, Derived)
        ends.append([constant(part) for part in one.index.of])
    assert ends == [[None, 4, None], [4, None, None]]


def test_what_fills_a_list_up_stays_to_be_seen(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        import torch
        def pad(rows, width):
            return torch.tensor([row + [7] * (width - len(row)) for row in rows])
        torch.add(pad([[1, *a] for a in torch.load("rows")], 9), 0)
        """,
    )
    filled = [one for one in ancestry(given(script, "torch.add")[0]) if isinstance(one, Derived) and one.op == "Add"]
    (last,) = [one.of[-1] for one in filled]
    assert isinstance(last, Seq)
    assert [constant(one) for one in last.items] == [7]


def test_a_list_that_a_loop_makes_longer_has_no_known_length(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        import torch
        names = [0]
        for k in torch.load("names"):
            names += [k, k]
        torch.add(len(names), 1)
        """,
    )
    assert not isinstance(given(script, "torch.add")[0], Const)


def test_the_environment_says_which_variable(tmp_path: Path) -> None:
    script = read(tmp_path, 'import os, torch\ntorch.add(os.environ["RANK"], 1)\n')
    value = given(script, "torch.add")[0]
    assert isinstance(value, Unknown)
    assert [constant(one) for one in value.of] == ["RANK"]


def test_callbacks_of_the_project_are_called(tmp_path: Path) -> None:
    script = read(
        tmp_path,
        """
        import mindspore as ms
        from mindspore import nn
        from mindspore.train import Callback, Model
        class After(Callback):
            def __init__(self, model, data):
                self.model, self.data = model, data
            def on_train_epoch_end(self, run_context):
                self.model.eval(self.data)
        net = nn.Dense(2, 2)
        model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
        train = ms.dataset.NumpySlicesDataset([[0.0]], ["x"])
        test = ms.dataset.NumpySlicesDataset([[1.0]], ["x"])
        model.train(2, train, callbacks=[After(model, test)])
        """,
    )
    (event,) = script.trace.named("mindspore.train.Model.eval")
    assert [one.kind for one in event.scopes].count("loop") == 1
