"""Scanning installed packages for the APIs they use, beside a plain ``ast.parse`` of them; lines a second."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import sys
import time
import warnings
from pathlib import Path

from measure import interleave

LIMIT = 5.0
# Lines a second, of wall time and of one core.
WALL, CORE = 50_000, 30_000


def main() -> int:
    """Print the ratio and the speed; 1 where one is beyond its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("packages", nargs="*", default=["torch/nn", "torch/distributed", "mindspore/nn"])
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    folders = [_folder(name) for name in given.packages]
    from trueline.script.uses.many import list_files, read_many

    files = list_files(folders)
    lines = sum(path.read_bytes().count(b"\n") for path in files)

    def one_core() -> None:
        from trueline.script.project import Project
        from trueline.script.uses.found import read_uses
        from trueline.script.uses.imports import Imports

        imports = Imports(Project(folders, []))
        for file in files:
            read_uses(file, str(file), imports)

    def plain() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for file in files:
                ast.parse(file.read_text("utf-8"))

    taken = interleave({"scan": one_core, "parse": plain}, repeat=given.rounds)
    medians = {name: sample.median for name, sample in taken.items()}
    began = time.perf_counter()
    uses = sum(len(found.uses) for found in read_many(files, folders))
    wall = lines / (time.perf_counter() - began)
    core = lines / medians["scan"]
    ratio = medians["scan"] / medians["parse"]
    print(f"{len(files)} files, {lines:,} lines, {uses:,} uses")
    print(f"{'scan / ast.parse, CPU time of one core':<44} {ratio:6.2f}  (limit {LIMIT})")
    print(f"{'lines a second, CPU time of one core':<44} {core:10,.0f}  (at least {CORE:,})")
    print(f"{'lines a second, wall time, all cores':<44} {wall:10,.0f}  (at least {WALL:,})")
    return int(ratio > LIMIT or core < CORE or wall < WALL)


def _folder(name: str) -> Path:
    """A folder, or one within an installed package."""
    if Path(name).is_dir():
        return Path(name)
    package, _, rest = name.partition("/")
    found = importlib.util.find_spec(package)
    assert found is not None and found.origin is not None, name
    return Path(found.origin).parent / rest


if __name__ == "__main__":
    sys.exit(main())
