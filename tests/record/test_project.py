"""Which of the imported files are the user's own, wherever links lead."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from trueline.record.project import Project


def _found(project: Path, monkeypatch: pytest.MonkeyPatch, *files: Path) -> dict[str, Path]:
    for number, file in enumerate(files):
        module = ModuleType(f"made_{number}")
        module.__file__ = str(file)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    return dict(Project(project).sources())


def test_files_and_folders_that_are_links_are_what_they_lead_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, elsewhere = (tmp_path.resolve() / name for name in ("project", "elsewhere"))
    for folder in (project / "nets", elsewhere):
        folder.mkdir(parents=True)
        (folder / "net.py").touch()
    (project / "theirs.py").symlink_to(elsewhere / "net.py")
    (elsewhere / "mine.py").symlink_to(project / "nets" / "net.py")
    (elsewhere / "linked").symlink_to(project / "nets")
    mine = {"nets/net.py": project / "nets" / "net.py"}
    for file in (project / "nets" / "net.py", elsewhere / "mine.py", elsewhere / "linked" / "net.py"):
        assert _found(project, monkeypatch, file) == mine
    assert _found(project, monkeypatch, project / "theirs.py", elsewhere / "net.py") == {}


def test_installed_files_are_not_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A virtual environment stands inside the project more often than not.
    assert _found(Path(sys.prefix), monkeypatch, Path(pytest.__file__)) == {}
    assert "made.py" not in _found(tmp_path, monkeypatch, tmp_path / "made.py"), "what is gone cannot be kept"
