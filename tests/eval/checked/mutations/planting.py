"""What a planted fault is, and the register of the mutations that plant one.

A module of this folder named FRAMEWORK_FAMILY.py holds mutations; the folder is on sys.path when they are imported:

    from editing import Edit, Source, sources
    from planting import Planted, Project, mutation

    @mutation("dp.03", "torch", "shuffle-false")
    def shuffle_false(project: Project) -> Iterator[Planted]: ...
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Project:
    """A healthy training project as text."""

    name: str
    framework: str
    entry: str | list[str]  # "train.py", or the arguments of python: ["-m", "pkg.train"]
    files: dict[str, str]  # relative name -> text


@dataclass(frozen=True)
class Planted:
    """A project with one fault in it."""

    files: dict[str, str]  # changed files only
    code: str
    places: tuple[tuple[str, int], ...]  # (file, line) in the changed text where the fault may be said to be
    field: str | None = None  # data faults: position (or key) in a sample of the field at fault: "0" inputs, "1" labels
    samples: tuple[int, ...] = ()  # data faults: indexes in the training set, each of which is a right answer
    shows_in: tuple[str, ...] = ("script",)  # of "script", "run", "data"
    because: tuple[str, ...] = ()  # codes that are a natural consequence of this fault


Plant = Callable[[Project], Iterator[Planted]]


@dataclass(frozen=True)
class Mutation:
    """A named way to plant a fault: yields one Planted per place where it fits, best first."""

    code: str
    framework: str
    name: str
    plant: Plant

    def __call__(self, project: Project) -> Iterator[Planted]:
        return self.plant(project)


MUTATIONS: list[Mutation] = []


def mutation(code: str, framework: str, name: str) -> Callable[[Plant], Plant]:
    """Register a function as the mutation CODE/NAME of a framework."""

    def register(plant: Plant) -> Plant:
        if any((m.framework, m.code, m.name) == (framework, code, name) for m in MUTATIONS):
            raise ValueError(f"{framework} {code} {name} is registered twice")
        MUTATIONS.append(Mutation(code, framework, name, plant))
        return plant

    return register


def all_mutations(*frameworks: str) -> list[Mutation]:
    """Import the FRAMEWORK_*.py of this folder (of all frameworks, if none is named), return what they registered."""
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    for framework in frameworks or ("torch", "mindspore"):
        for path in sorted(HERE.glob(f"{framework}_*.py")):
            importlib.import_module(path.stem)
    # The modules register with "planting" by that name, whatever this module was imported as.
    registered: list[Mutation] = importlib.import_module("planting").MUTATIONS
    return sorted(registered, key=lambda m: (m.framework, m.code, m.name))


def read_project(folder: Path) -> Project:
    """Read the Python files of a project folder (its data files stay where they are)."""
    about = json.loads((folder / "project.json").read_text(encoding="utf-8"))
    files = {
        str(path.relative_to(folder)): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in (".py", ".json", ".yaml", ".yml") and path.name != "project.json"
    }
    return Project(folder.name, about["framework"], about["entry"], files)


def read_projects(folder: Path, framework: str) -> list[Project]:
    """Read every project of a framework below the folder `projects`."""
    return [read_project(path.parent) for path in sorted((folder / framework).glob("*/project.json"))]
