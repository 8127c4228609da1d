"""All benchmarks, or those named, one after the other; ``--write`` puts what they printed into the documents."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "benchmarks.md"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
SCRIPTS = (
    "kernel.py",
    "record.py",
    "record_mindspore.py",
    "watch.py",
    "watch_mindspore.py",
    "keep_state.py",
    "run_folder.py",
    "cli.py",
    "align.py",
    "noise.py",
    "compare.py",
    "convert.py",
    "pair.py",
    "data_describe.py",
    "data_manifest.py",
    "check_static.py",
    "scan.py",
    "check_run.py",
)
PART = re.compile(r"`python benchmarks/(\S+)`\n\n```text\n(.*?)\n```", re.DOTALL)


def write(printed: dict[str, str]) -> None:
    """Replace the parts of the page that were measured anew."""
    text = PAGE.read_text("utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    parts = dict(PART.findall(text.partition(BEGIN)[2].partition(END)[0])) | printed
    shown = [f"`python benchmarks/{name}`\n\n```text\n{parts[name]}\n```\n" for name in SCRIPTS if name in parts]
    PAGE.write_text(f"{before}{BEGIN}\n\n" + "\n".join(shown) + f"\n{END}{after}", "utf-8")


def main() -> int:
    """Run them; 1 when one has missed a limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SCRIPTS)}")
    parser.add_argument("--write", action="store_true", help="put the output into docs/benchmarks.md")
    options = parser.parse_args()
    missed = []
    for name in options.names or SCRIPTS:
        print(f"== benchmarks/{name}", flush=True)
        done = subprocess.run([sys.executable, HERE / name], stdout=subprocess.PIPE, text=True, check=False)
        print(done.stdout, flush=True)
        if done.returncode:
            missed.append(name)
        if options.write:
            write({name: done.stdout.strip()})
    if missed:
        print("missed a limit or failed:", ", ".join(missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
