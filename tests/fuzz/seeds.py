"""Good cases: made by the product's own writers, and where asked for by the libraries that own a format."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from fuzz.case import Files, Target, read_case

_LARGEST = 64 << 10


@cache
def _real_folder() -> Path | None:
    """What the libraries write, once for all formats, in a process of its own: none of them is to be loaded here."""
    kept = os.environ.get("TRUELINE_FUZZ_SEEDS")
    if kept and (Path(kept) / "done").exists():
        return Path(kept)
    folder = Path(kept or tempfile.mkdtemp(prefix="trueline-fuzz-seeds-"))
    folder.mkdir(parents=True, exist_ok=True)
    child = Path(__file__).with_name("real_seeds.py")
    done = subprocess.run([sys.executable, str(child), str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"fuzz: the libraries' own files cannot be made:\n{done.stderr[-2000:]}")
    (folder / "done").touch()
    # Workers are forked from this process, and find the folder.
    os.environ["TRUELINE_FUZZ_SEEDS"] = str(folder)
    return folder


def make_real() -> None:
    """Have them made before workers are forked."""
    _real_folder()


@cache
def _seeds(target_name: str, real: bool) -> tuple[Files, ...]:
    from fuzz.targets.all import TARGETS

    target = TARGETS[target_name]
    folder = Path(tempfile.mkdtemp(prefix="trueline-fuzz-made-"))
    try:
        target.seeds(folder)
        found = [read_case(one) for one in sorted(folder.iterdir())]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    written = _real_folder() if real and target.real else None
    if written is not None:
        found += [read_case(one) for name in target.real for one in sorted((written / name).iterdir())]
    return tuple(one for one in found if one)


def seeds_of(target: Target, *, real: bool | None = None) -> list[Files]:
    """The good cases of a format; ``real`` as the first who asked wanted it."""
    if real is None:
        real = bool(os.environ.get("TRUELINE_FUZZ_SEEDS"))
    return list(_seeds(target.name, real))
