"""A folder with several trainings in it: each is a program of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

from checks.fixtures import all_fixtures

from trueline.checks.engine.checklist import fill_in
from trueline.checks.engine.listing import all_checks
from trueline.script.script import read_script

_TRAINING = """
import torch
from torch.utils.data import DataLoader, TensorDataset
from net import Net

data = TensorDataset(torch.randn(64, 4), torch.randint(0, 2, (64,)))
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in DataLoader(data, batch_size=8, shuffle={shuffle}):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
"""
_NET = """
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x):
        return self.fc(x)
"""


def _found(folder: Path) -> set[tuple[str, str, int | None]]:
    checklist = fill_in(all_checks(), {"script": read_script([folder])})
    assert not [one for one in checklist.findings if one.error is not None]
    return {(one.code, Path(str(one.where.file)).name, one.where.line) for one in checklist.problems}


def test_good_scripts_stay_silent_when_they_share_a_folder(tmp_path: Path) -> None:
    good = [one for one in all_fixtures() if one.path.name.startswith("good_torch_") and not one.expected][::6]
    for number, one in enumerate(good):
        shutil.copy(one.path, tmp_path / f"train_{number}.py")
    assert len(good) > 10
    assert _found(tmp_path) == set()


def test_each_training_is_read_by_itself_with_the_files_they_share(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(_NET)
    (tmp_path / "train_in_order.py").write_text(_TRAINING.format(shuffle=False))
    (tmp_path / "train_shuffled.py").write_text(_TRAINING.format(shuffle=True))
    script = read_script([tmp_path])
    assert [[one.path.name for one in program.entries] for program in script.programs] == [
        ["train_in_order.py"],
        ["train_shuffled.py"],
    ]
    assert _found(tmp_path) == {("dp.03", "train_in_order.py", 10)}


def test_a_training_that_another_file_starts_is_no_second_one(tmp_path: Path) -> None:
    body = "\n".join(f"    {line}" for line in _TRAINING.format(shuffle=True).splitlines())
    (tmp_path / "net.py").write_text(_NET)
    (tmp_path / "train.py").write_text(f"def main():\n{body}\n\nif __name__ == '__main__':\n    main()\n")
    (tmp_path / "sweep.py").write_text("import train\n\nfor _ in range(3):\n    train.main()\n")
    script = read_script([tmp_path])
    assert script.programs == [script]
