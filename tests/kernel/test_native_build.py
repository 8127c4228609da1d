from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from trueline.kernel import native

COMPILE = Path(__file__).resolve().parents[2] / "native" / "compile.py"
BUILD = runpy.run_path(str(COMPILE))


@pytest.fixture(autouse=True)
def kernel_backend() -> None:
    """These tests are about the building itself, or choose in a child process."""


def in_child(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def test_where_there_is_a_compiler_the_native_code_was_built() -> None:
    assert native.is_loaded() == (BUILD["find_compiler"]() is not None)


def test_the_native_code_compiles_without_a_warning(tmp_path: Path) -> None:
    if BUILD["find_compiler"]() is None:
        assert not native.is_loaded()
        return
    assert BUILD["compile_native"](target=tmp_path / "kernel.so", extra="-Werror") is None
    assert (tmp_path / "kernel.so").exists()


def test_without_a_compiler_the_build_says_so_and_leaves_no_stale_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "/nonexistent/cc")
    stale = tmp_path / "kernel.so"
    stale.write_bytes(b"old")
    assert "/nonexistent/cc" in BUILD["compile_native"](target=stale)
    assert not stale.exists()


def test_the_environment_turns_the_native_code_off() -> None:
    code = "from trueline import kernel; print(kernel.native_available(), kernel.fingerprint([1.5, 2.5]))"
    off, on = in_child(code, TRUELINE_KERNEL="numpy").split(), in_child(code, TRUELINE_KERNEL="").split()
    assert off[0] == "False"
    assert on[0] == str(native.is_loaded())
    assert off[1] == on[1]


def test_files_are_read_without_loading_numpy() -> None:
    assert in_child("import sys, trueline.data.manifest.taking; print('numpy' in sys.modules)") == "False"


@pytest.mark.parametrize("choice", ["", "numpy"])
def test_a_strided_array_is_measured_without_copying_it_whole(choice: str) -> None:
    code = """
import resource, numpy as np
from trueline import kernel
x = np.broadcast_to(np.float32(1.5), (1 << 25,))
kernel.summarise(x[:5000]), kernel.distance(x[:5000], x[:5000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
assert kernel.summarise(x).maximum == 1.5
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""
    megabytes = int(in_child(code, TRUELINE_KERNEL=choice))
    assert megabytes < 64
