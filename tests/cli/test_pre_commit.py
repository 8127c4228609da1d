"""The hook for pre-commit: what it runs takes the changed files and fails where something is found."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from cli.calling import call

ROOT = Path(__file__).resolve().parent.parent.parent
BAD = (
    "import torch\nnet = torch.nn.Linear(2, 2)\noptimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
    "data = torch.utils.data.TensorDataset(torch.randn(8, 2))\n"
    "for (x,) in torch.utils.data.DataLoader(data, 2, shuffle=True):\n"
    "    net(x).sum().backward()\n    optimizer.step()\n"
)


def test_it_runs_the_checklist_on_the_changed_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
    program, *entry = hook["entry"].split()
    assert (program, hook["language"], hook["types"], hook["id"]) == (
        "trueline",
        "python",
        ["python"],
        "trueline-check",
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.py").write_text(BAD.replace("    net(x)", "    optimizer.zero_grad()\n    net(x)"), "utf-8")
    (tmp_path / "other.py").write_text("print(1)\n", "utf-8")
    assert call(*entry, "good.py", "other.py").exit_code == 0
    (tmp_path / "bad.py").write_text(BAD, "utf-8")
    ended = call(*entry, "bad.py", "other.py")
    assert ended.exit_code == 1 and "tr.01" in ended.stdout and "bad.py:6" in ended.stdout
