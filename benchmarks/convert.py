"""``trueline convert`` beside shutil.copyfile and beside the frameworks' own load and save: CPU seconds and memory."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from children import cpu, peak_anonymous

HERE = Path(__file__).resolve().parent
LOOPS = HERE / "convert_loops"
ROUNDS = 5
MEMORY_LIMIT = 300.0
# Archives demand a checksum of every member.
LIMITS = {"ckpt": 2.0, "safetensors": 2.0, "pth": 3.0, "npz": 3.0}
PAIRS = (
    ("pth", "ckpt"),
    ("ckpt", "pth"),
    ("pth", "safetensors"),
    ("safetensors", "ckpt"),
    ("ckpt", "safetensors"),
    ("safetensors", "npz"),
    ("npz", "pth"),
)
missed: list[str] = []


def convert(source: Path, output: Path) -> list[str]:
    """The command line to measure."""
    return ["-m", "trueline", "convert", str(source), str(output), "--force"]


def told(script: str, source: Path, output: Path) -> float:
    """The CPU seconds a script tells of itself."""
    output.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, LOOPS / script, source, output], capture_output=True, text=True, check=True)
    return float(done.stdout.split()[-1])


def main(folder: Path) -> None:
    """A gigabyte of weights through every kind of pair."""
    pth, ckpt = folder / "a.pth", folder / "a.ckpt"
    made = [sys.executable, HERE / "compare_loops" / "make_weights.py", pth, ckpt]
    subprocess.run(made, check=True, capture_output=True)
    for ending in ("safetensors", "npz"):
        subprocess.run([sys.executable, *convert(pth, folder / f"a.{ending}")], check=True, capture_output=True)
    small = folder / "small.npz"
    subprocess.run([sys.executable, "-c", f"import numpy; numpy.savez({str(small)!r}, a=[1.0])"], check=True)
    idle = convert(small, folder / "small.ckpt")
    print(f"{pth.stat().st_size / 1e9:.2f} GB of weights, CPU seconds above the idle start, median of {ROUNDS} rounds")
    print(f"  {'':22} {'copyfile':>9} {'convert':>9} {'ratio':>7} {'limit':>6}")
    for source_ending, ending in PAIRS:
        source, output = folder / f"a.{source_ending}", folder / f"out.{ending}"
        copies, ours = [], []
        # The first round brings the file into memory, and is not counted.
        for _ in range(ROUNDS + 1):
            # Pages that nobody has touched lately cost several times more: of two copies the cheaper one counts.
            copies.append(min(told("copy_file.py", source, folder / "copy") for _ in range(2)))
            (folder / "copy").unlink()
            start = cpu(idle)
            output.unlink(missing_ok=True)
            ours.append(cpu(convert(source, output)) - start)
        output.unlink()
        copies, ours = copies[1:], ours[1:]
        ratio = statistics.median(mine / copy for mine, copy in zip(ours, copies, strict=True))
        name = f"{source_ending} to {ending}"
        medians = f"{statistics.median(copies):9.3f} {statistics.median(ours):9.3f}"
        print(f"  {name:22} {medians} {ratio:7.2f} {LIMITS[ending]:6.1f}", flush=True)
        if ratio > LIMITS[ending]:
            missed.append(f"{name}: {ratio:.2f} > {LIMITS[ending]}")
    memory(folder, idle)
    beside_frameworks(pth, ckpt, folder)


def memory(folder: Path, idle: list[str]) -> None:
    """Anonymous memory above the idle process."""
    base = peak_anonymous(idle)
    for source, output in (("a.pth", "out.ckpt"), ("a.ckpt", "out.pth"), ("a.npz", "out.safetensors")):
        most = peak_anonymous(convert(folder / source, folder / output)) - base
        print(
            f"  anonymous memory above the idle process, {source} to {output}: {most:.0f} MB (limit {MEMORY_LIMIT:.0f})"
        )
        if most > MEMORY_LIMIT:
            missed.append(f"memory {source} to {output}: {most:.0f} MB")
        (folder / output).unlink()


def beside_frameworks(pth: Path, ckpt: Path, folder: Path) -> None:
    """What people do without it: both frameworks in one process."""
    print("  the frameworks' own load and save, without their imports:")
    for source, output in ((pth, folder / "out.ckpt"), (ckpt, folder / "out.pth")):
        seconds = told("frameworks.py", source, output)
        output.unlink()
        most = peak_anonymous([str(LOOPS / "frameworks.py"), str(source), str(output)])
        output.unlink()
        print(f"    {source.suffix} to {output.suffix}: {seconds:.3f} s, {most:.0f} MB of anonymous memory")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="trueline-bench-") as made:
        main(Path(made))
    for one in missed:
        print(f"missed: {one}")
    sys.exit(1 if missed else 0)
