"""Compiles the native kernel beside its wrapper: used by the build hook, and by hand in a checkout."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path("src/trueline/kernel/_native.so")
# Fused multiply-add would round differently from CPU to CPU, so contraction is off.
FLAGS = "-std=c11 -O3 -fPIC -shared -fvisibility=hidden -fno-math-errno -ffp-contract=off -Wall -Wextra -pthread"


def find_compiler() -> list[str] | None:
    """The command of $CC, or of the first of the usual compilers."""
    asked = shlex.split(os.environ.get("CC", ""))
    if asked:
        return asked if shutil.which(asked[0]) else None
    return next(([name] for name in ("cc", "gcc", "clang") if shutil.which(name)), None)


def compile_native(root: Path = ROOT, target: Path | None = None, extra: str = "") -> str | None:
    """Compile the library; what went wrong, or None. A library that could not be renewed is removed."""
    target = target or root / TARGET
    compiler = find_compiler()
    if compiler is None:
        target.unlink(missing_ok=True)
        return f"no C compiler found ({os.environ.get('CC') or 'cc, gcc, clang'})"
    sources = [str(source) for source in sorted((root / "native").glob("*.c"))]
    fresh = target.with_suffix(f".{os.getpid()}.tmp")
    command = [*compiler, *FLAGS.split(), *extra.split(), "-o", str(fresh), *sources, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        fresh.unlink(missing_ok=True)
        target.unlink(missing_ok=True)
        said = [line for line in done.stderr.splitlines() if "error" in line]
        return said[0].strip() if said else f"{compiler[0]} failed with {done.returncode}"
    fresh.replace(target)
    return None


if __name__ == "__main__":
    raise SystemExit(compile_native())
